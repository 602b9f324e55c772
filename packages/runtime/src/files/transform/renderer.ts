/** Transforms images, each once: the result is kept beside its original. */
import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { TransformEnvironment } from '../../environment/files.ts';
import { invalidQuery, PlatformError } from '../../errors.ts';
import { createWorkQueue } from '../../limits/work-queue.ts';
import { loadSharp } from '../images.ts';
import { renditionsOf, type Storage } from '../storage.ts';
import { applyOperation, type ImageFormat, type Transformation } from './transformation.ts';

/** A content that is an image. */
interface Original {
  readonly storage: Storage;
  readonly name: string;
  readonly type: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** An image that was made. */
interface Rendition {
  readonly bytes: Buffer;
  readonly type: string;
  /** Distinguishes it from every other rendition. */
  readonly id: string;
}

/** Makes images. */
export interface Renderer {
  /** Type and identity of the result. */
  describe(original: Original, transformation: Transformation): Omit<Rendition, 'bytes'>;
  /**
   * Makes it, or returns the stored result; null when the original is gone. `isThere` tells if the original still
   * exists, so that no rendition of a removed one is kept. Rejects with INVALID_QUERY for images that are too large or
   * unreadable, and on timeout; with SERVICE_UNAVAILABLE when too many images are waiting.
   */
  render(
    original: Original,
    transformation: Transformation,
    isThere: () => Promise<boolean>,
  ): Promise<Rendition | null>;
}

/** Images that are waited for, for each that is made. */
const waitingForEach = 8;

const mediaTypes: Readonly<Record<ImageFormat, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
};

/** Makes the renderer of a server. */
export function createRenderer(limits: TransformEnvironment): Renderer {
  const queue = createWorkQueue({ atOnce: limits.maxConcurrent, waiting: limits.maxConcurrent * waitingForEach });
  const underWay = new Map<string, Promise<Buffer | null>>();

  function describe({ name, type }: Original, transformation: Transformation) {
    const format = formatOf(type, transformation);
    const id = hash('sha256', JSON.stringify([name, format, Object.entries(transformation).sort()])).slice(0, 40);
    return { id, type: mediaTypes[format] };
  }

  async function create(original: Original, transformation: Transformation): Promise<Buffer | null> {
    const { storage, name } = original;
    if (largestSide(original, transformation) > limits.maxDimension) {
      throw invalidQuery(`An image must have at most ${limits.maxDimension} pixels along each side.`);
    }
    const source = await storage.open(name);
    return source === null ? null : draw(source, original, transformation, limits);
  }

  return {
    describe,
    async render(original, transformation, isThere) {
      const { storage, name } = original;
      const { id, type } = describe(original, transformation);
      const kept = `${renditionsOf(name)}${id}.${formatOf(original.type, transformation)}`;
      const stored = await storage.open(kept);
      if (stored !== null) return { bytes: await buffer(stored), type, id };
      const making =
        underWay.get(kept) ??
        queue
          .acquire(() => create(original, transformation))
          .finally(() => {
            underWay.delete(kept);
          });
      const first = !underWay.has(kept);
      underWay.set(kept, making);
      const bytes = await making;
      if (bytes === null) return null;
      if (first) {
        await storage.putBytes(kept, bytes, type);
        // A request that removes the content meanwhile may have looked before this was there.
        if (!(await isThere())) await storage.remove(name);
      }
      return { bytes, type, id };
    },
  };
}

/** The format of the original if none is requested; a lossless one for formats that cannot be written. */
function formatOf(type: string, { format }: Transformation): ImageFormat {
  if (format !== undefined) return format;
  if (type === 'image/jpeg') return 'jpg';
  if (type === 'image/webp') return 'webp';
  return type === 'image/avif' ? 'avif' : 'png';
}

/** The longest side of an image, and of its result: if one side is requested, the other may become far longer. */
function largestSide({ width, height }: Original, requested: Transformation): number {
  if (width === null || height === null) throw invalidQuery('The image cannot be read.');
  const scales = [(requested.width ?? 0) / width, (requested.height ?? 0) / height];
  const isOpen = requested.fit === 'outside' || requested.width === undefined || requested.height === undefined;
  const scale = isOpen ? Math.max(...scales) : 0;
  return Math.max(width, height, width * scale, height * scale);
}

async function draw(
  source: Readable,
  { type }: Original,
  transformation: Transformation,
  { maxDimension, timeout }: TransformEnvironment,
): Promise<Buffer> {
  const sharp = await loadSharp();
  if (sharp === null) {
    source.destroy();
    throw invalidQuery('This server cannot transform images: the package "sharp" is not installed.');
  }
  const { width, height, fit, withoutEnlargement, quality, transforms = [] } = transformation;
  try {
    const bytes = await buffer(source);
    let image = sharp(bytes, { failOn: 'error', limitInputPixels: maxDimension ** 2, autoOrient: true }).timeout({
      seconds: Math.ceil(timeout / 1000),
    });
    if (width !== undefined || height !== undefined) {
      const size = { ...(width !== undefined && { width }), ...(height !== undefined && { height }) };
      const background = { r: 0, g: 0, b: 0, alpha: 0 };
      image = image.resize({
        ...size,
        fit: fit ?? 'cover',
        withoutEnlargement: withoutEnlargement ?? false,
        background,
      });
    }
    for (const operation of transforms) image = applyOperation(image, operation);
    const format = formatOf(type, transformation);
    const made = await image
      .toFormat(format === 'jpg' ? 'jpeg' : format, quality === undefined ? {} : { quality })
      .toBuffer();
    return made;
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw new PlatformError('INVALID_QUERY', 'The image cannot be transformed like this.', {}, { cause: error });
  }
}
