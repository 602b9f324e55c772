/** Facts of images, audio and video, read by libraries that projects may do without. A file that takes too long has none. */
import { createMediaWorkers, type MediaFacts } from './workers.ts';

/** Media types of images that can be made into others. */
export const rasterTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
]);

const none: MediaFacts = { width: null, height: null, duration: null, metadata: null };

/** Maximum size of metadata, in bytes of JSON; larger ones are of no use. */
const maxBytes = 32_768;

const workers = createMediaWorkers({ atOnce: 2, waiting: 256, longestMs: 3_000 });

/** Facts of a client's file: none for other types and broken files. Rejects with SERVICE_UNAVAILABLE when too many wait. */
export async function readDetails(path: string, type: string, client: string): Promise<MediaFacts> {
  const isImage = rasterTypes.has(type);
  if (!isImage && !isMedia(type)) return none;
  const result = await workers.run(client, async () => ({ kind: isImage ? 'image' : 'media', path }));
  if (result === null || !('facts' in result)) return none;
  const { facts } = result;
  return JSON.stringify(facts.metadata).length > maxBytes ? { ...facts, metadata: null } : facts;
}

function isMedia(type: string): boolean {
  return /^(?:audio|video)\//.test(type) || type === 'application/ogg';
}
