/** Transforms images, each once: the result is kept beside its original. */
import { hash, randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { TransformEnvironment } from '../../environment/files.ts';
import { invalidQuery, PlatformError } from '../../errors.ts';
import { describeCause, type Log } from '../../operate/log.ts';
import { createMediaWorkers, type Task, type TaskResult } from '../media/workers.ts';
import { type ReadableContent, readContent, renditionsOf, type Storage } from '../storage.ts';
import type { ImageFormat, Transformation } from './transformation.ts';

/** A content that is an image. */
interface Original {
  readonly storage: Storage;
  readonly name: string;
  readonly type: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** An image that is made of another one. */
interface Rendition {
  readonly type: string;
  /** Distinguishes it from every other rendition. */
  readonly id: string;
}

/** Makes images. */
export interface Renderer {
  /** Type and identity of the result. */
  describe(original: Original, transformation: Transformation): Rendition;
  /**
   * Makes it, or returns the stored result; null when the original is gone. `isThere` tells if the original still
   * exists, so that no rendition of a removed one is kept. Clients take turns. Rejects with INVALID_QUERY for images that are
   * too large or unreadable, and on timeout; with SERVICE_UNAVAILABLE when too many images are waiting.
   */
  render(
    original: Original,
    transformation: Transformation,
    client: string,
    isThere: () => Promise<boolean>,
  ): Promise<ReadableContent | null>;
}

/** Waits in the queue of a client, and makes an image unless `begin` is false by then. */
type CreateImage = (begin: () => boolean) => Promise<Buffer | null>;

/** Clients whose turns are taken for one image: with each of them, one page that many ask for would fill all places. */
const maxQueues = 2;

/** An image under way. Some clients wait for it in their own queues; the first that gets through makes it for all. */
class SharedImage {
  readonly #made = Promise.withResolvers<Buffer | null>();
  readonly #waiting = new Map<string, Promise<Buffer | null>>();
  #hasBegun = false;
  isKept = false;
  /** Requests that wait for it. */
  requests = 0;

  wait(client: string, create: CreateImage): Promise<Buffer | null> {
    const { promise } = this.#made;
    if (this.#hasBegun) return promise;
    if (!this.#waiting.has(client) && this.#waiting.size < maxQueues)
      this.#waiting.set(client, this.#queue(client, create));
    return Promise.race([promise, this.#waiting.get(client) ?? this.#others()]);
  }

  /** The turn of any other client; rejects as the last of them does. */
  #others(): Promise<Buffer | null> {
    return Promise.any(this.#waiting.values()).catch(({ errors }: AggregateError) => Promise.reject(errors.at(-1)));
  }

  async #queue(client: string, create: CreateImage): Promise<Buffer | null> {
    let isFirst = false;
    const begin = (): boolean => {
      isFirst = !this.#hasBegun;
      this.#hasBegun = true;
      return isFirst;
    };
    try {
      const bytes = await create(begin);
      if (isFirst) this.#made.resolve(bytes);
    } catch (error) {
      if (isFirst) this.#made.reject(error);
      else if (!this.#hasBegun) {
        this.#waiting.delete(client);
        if (this.#waiting.size === 0) throw error;
        return this.#others();
      }
    }
    return this.#made.promise;
  }
}

/** Images under way, by the names under which they are kept. */
class ImagesUnderWay {
  readonly #images = new Map<string, SharedImage>();

  /** Waits for an image, which others may do, too. */
  async wait(kept: string, client: string, create: CreateImage) {
    const shared = this.#images.get(kept) ?? new SharedImage();
    this.#images.set(kept, shared);
    shared.requests++;
    try {
      return { shared, bytes: await shared.wait(client, create) };
    } finally {
      shared.requests--;
      if (shared.requests === 0) this.#images.delete(kept);
    }
  }
}

/** Images that are kept of one original: visitors choose the parameters, and must not fill a disk with them. */
const maxKept = 250;

/** Images that are waited for, for each that is made. */
const waitingForEach = 8;

const mediaTypes: Readonly<Record<ImageFormat, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
};

export function createRenderer(limits: TransformEnvironment, log: Pick<Log, 'warn'>): Renderer {
  const { maxConcurrent, maxDimension, timeout } = limits;
  // More images at once than there are processors would only make each of them take longer.
  const atOnce = Math.min(maxConcurrent, availableParallelism());
  const workers = createMediaWorkers({ atOnce, waiting: maxConcurrent * waitingForEach, longestMs: timeout });
  const underWay = new ImagesUnderWay();

  function describe({ name, type }: Original, transformation: Transformation) {
    const format = formatOf(type, transformation);
    const id = hash('sha256', JSON.stringify([name, format, Object.entries(transformation).sort()])).slice(0, 40);
    return { id, type: mediaTypes[format] };
  }

  async function create(
    original: Original,
    transformation: Transformation,
    client: string,
    begin: () => boolean,
  ): Promise<Buffer | null> {
    if (largestSide(original, transformation) > maxDimension) {
      throw invalidQuery(`An image must have at most ${maxDimension} pixels along each side.`);
    }
    const result = await workers.run(client, async () => (begin() ? taskOf(original, transformation, limits) : null));
    return result === null ? null : bytesOf(result);
  }

  /** Keeps a result, where there are many in place of one that chance chooses: what others need is kept in the end. */
  async function keep({ storage, name }: Original, kept: string, bytes: Buffer, type: string): Promise<void> {
    try {
      const others = await storage.renditions(name);
      const other = others.length < maxKept ? undefined : others[randomInt(others.length)];
      if (other !== undefined) await storage.remove(other);
      await storage.putBytes(kept, bytes, type);
    } catch (error) {
      log.warn({ name, cause: describeCause(error) }, 'An image is made anew next time, because it cannot be kept.');
    }
  }

  return {
    describe,
    async render(original, transformation, client, isThere) {
      const { storage, name } = original;
      const { id, type } = describe(original, transformation);
      const kept = `${renditionsOf(name)}${id}.${formatOf(original.type, transformation)}`;
      const size = await storage.size(kept);
      if (size !== null) return { size, held: null, read: (range) => storage.open(kept, range) };
      const createImage: CreateImage = (begin) => create(original, transformation, client, begin);
      const { shared, bytes } = await underWay.wait(kept, client, createImage);
      if (bytes === null) return null;
      if (!shared.isKept) {
        shared.isKept = true;
        await keep(original, kept, bytes, type);
        // A request that removes the content meanwhile may have looked before this was there.
        if (!(await isThere())) await storage.remove(name);
      }
      return { size: bytes.length, held: bytes };
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

/** The work of a process that makes an image; null when the original is gone. */
async function taskOf(
  { storage, name, type }: Original,
  transformation: Transformation,
  { maxDimension, timeout }: TransformEnvironment,
): Promise<Task | null> {
  const bytes = await readContent(storage, name);
  if (bytes === null) return null;
  const format = formatOf(type, transformation);
  const drawn = { transformation, maxPixels: maxDimension ** 2, timeoutMs: timeout };
  return {
    kind: 'draw',
    drawing: { bytes, format: format === 'jpg' ? 'jpeg' : format, ...drawn },
  };
}

function bytesOf(result: TaskResult): Buffer {
  if ('bytes' in result) return Buffer.from(result.bytes);
  if ('missing' in result) {
    throw invalidQuery(`This server cannot transform images: the package "${result.missing}" is not installed.`);
  }
  const cause = new Error('failure' in result ? result.failure : 'There is no image.');
  throw new PlatformError('INVALID_QUERY', 'The image cannot be transformed like this.', {}, { cause });
}
