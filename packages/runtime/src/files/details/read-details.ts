/**
 * Metadata of audio, video and photographs, read by libraries for their formats. Reading takes a bounded time of one
 * thread: a file that needs more has no metadata.
 */
import { Worker } from 'node:worker_threads';
import { PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import { createWorkQueue } from '../../limits/work-queue.ts';

export interface MediaDetails {
  /** In whole seconds; null for files without a duration. */
  readonly duration: number | null;
  /** Null when there is nothing to tell. */
  readonly metadata: JsonValue;
}

/** Request to a thread: an audio or video file by its path, or the EXIF block of an image. */
export type Question =
  | { readonly kind: 'media'; readonly path: string }
  | { readonly kind: 'exif'; readonly bytes: Uint8Array };

/** Message of a thread: that it begins to read, or its result. */
export type WorkerMessage = 'loaded' | MediaDetails;

const none: MediaDetails = { duration: null, metadata: null };

/** How long a file may take, in milliseconds, and the memory of its thread in MB. */
const longestMs = 3_000;
/**
 * Milliseconds that a thread may take to load the libraries: a file must not lose its details because the machine is
 * busy.
 */
const longestStartMs = 30_000;
const maxOldGenerationSizeMb = 96;

/** Maximum size of details, in bytes of JSON; larger ones are of no use. */
const maxBytes = 32_768;

const queue = createWorkQueue({ atOnce: 2, waiting: 64 });

export function isMedia(type: string): boolean {
  return /^(?:audio|video)\//.test(type) || type === 'application/ogg';
}

/** Reads it. Returns nothing for broken files; rejects with SERVICE_UNAVAILABLE when too many files wait for it. */
export async function readDetails(question: Question): Promise<MediaDetails> {
  const details = await queue
    .acquire(() => ask(question))
    .catch((error: unknown) => {
      if (error instanceof PlatformError) throw error;
      return none;
    });
  return JSON.stringify(details.metadata).length > maxBytes ? { ...details, metadata: null } : details;
}

/** Rejects for unreadable files, and on timeout. */
async function ask(workerData: Question): Promise<MediaDetails> {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js';
  const worker = new Worker(new URL(name, import.meta.url), { workerData, resourceLimits: { maxOldGenerationSizeMb } });
  const { promise, resolve, reject } = Promise.withResolvers<MediaDetails>();
  const endIn = (ms: number) => setTimeout(() => reject(new Error('It takes too long.')), ms);
  let timer = endIn(longestStartMs);
  worker.on('message', (message: WorkerMessage) => {
    if (message !== 'loaded') return resolve(message);
    clearTimeout(timer);
    timer = endIn(longestMs);
  });
  worker.on('error', reject);
  worker.on('exit', () => reject(new Error('It was not read.')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
