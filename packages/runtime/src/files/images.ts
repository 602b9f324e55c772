/** Facts of raster images, read by a library that projects may do without. */
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import { plain } from './details/plain.ts';
import { readDetails } from './details/read-details.ts';

/** The library, as its module has it. */
type Sharp = typeof import('sharp').default;

/** Media types of images that can be made into others. */
export const rasterTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
]);

export interface ImageFacts {
  readonly width: number | null;
  readonly height: number | null;
  readonly metadata: JsonValue;
}

const none: ImageFacts = { width: null, height: null, metadata: null };

/** Loads the library; null where it is not installed, or not for this machine. */
export async function loadSharp(): Promise<Sharp | null> {
  try {
    return (await import('sharp')).default;
  } catch {
    return null;
  }
}

/** Reads the metadata of an image, without its pixels. Returns nothing for other files, and for broken images. */
export async function readImageFacts(path: string, type: string): Promise<ImageFacts> {
  if (!rasterTypes.has(type)) return none;
  const sharp = await loadSharp();
  if (sharp === null) return none;
  try {
    const found = await sharp(path, { failOn: 'error', limitInputPixels: false }).metadata();
    const { width, height } = found.autoOrient;
    const { format, space, channels, depth, density, hasAlpha, orientation, pages } = found;
    const properties = { format, space, channels, depth, density, hasAlpha, orientation, pages };
    const exif = found.exif && (await readDetails({ kind: 'exif', bytes: found.exif })).metadata;
    return { width, height, metadata: plain({ ...properties, exif }) ?? null };
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    return none;
  }
}
