/**
 * Reads and draws media for a server, as a process of its own. Libraries of foreign formats keep threads busy that nothing
 * else stops, and a harmful file may crash them. The process has no secret of the server, and ends with it.
 */
import { setPriority } from 'node:os';
import { applyOperation } from '../transform/transformation.ts';
import { plain } from './plain.ts';
import type { Drawing, MediaFacts, Task, TaskResult, WorkerMessage } from './workers.ts';

/** The library of images, as its module has it. */
type Sharp = typeof import('sharp').default;

/** Requests are answered first: images are made of the time that is left. */
const niceness = 5;

function report(message: WorkerMessage): void {
  process.send?.(message);
}

/** Loads the library; null where it is not installed, or not for this machine. */
async function loadSharp(): Promise<Sharp | null> {
  try {
    return (await import('sharp')).default;
  } catch {
    return null;
  }
}

async function readMedia(path: string): Promise<MediaFacts> {
  const { parseFile } = await import('music-metadata');
  report('loaded');
  const { format, common } = await parseFile(path, { duration: true, skipCovers: true });
  const { container, codec, bitrate, sampleRate, numberOfChannels, bitsPerSample, lossless } = format;
  const { title, artist, album, albumartist, composer, genre, year, date, track, comment } = common;
  const properties = { container, codec, bitrate, sampleRate, channels: numberOfChannels, bitsPerSample, lossless };
  const tags = { title, artist, album, albumartist, composer, genre, year, date, track: track.no, comment };
  return {
    width: null,
    height: null,
    duration: format.duration === undefined || !Number.isFinite(format.duration) ? null : Math.round(format.duration),
    metadata: plain({ ...properties, ...tags, comment: comment?.map((entry) => entry.text) }) ?? null,
  };
}

/** Reads the metadata of an image, without its pixels. */
async function readImage(path: string): Promise<MediaFacts> {
  const sharp = await loadSharp();
  const { default: readExif } = await import('exif-reader');
  report('loaded');
  if (sharp === null) return { width: null, height: null, duration: null, metadata: null };
  const found = await sharp(path, { failOn: 'error', limitInputPixels: false }).metadata();
  const { width, height } = found.autoOrient;
  const { format, space, channels, depth, density, hasAlpha, orientation, pages } = found;
  const properties = { format, space, channels, depth, density, hasAlpha, orientation, pages };
  const exif = found.exif && exifOf(found.exif, readExif);
  return { width, height, duration: null, metadata: plain({ ...properties, exif }) ?? null };
}

/** The parts of an EXIF block that tell something; undefined for a broken one. */
function exifOf(bytes: Buffer, read: typeof import('exif-reader')) {
  try {
    const { Image, Photo, GPSInfo } = read(bytes);
    return { Image, Photo, GPSInfo };
  } catch {
    return undefined;
  }
}

async function draw({ bytes, format, transformation, maxPixels, timeoutMs }: Drawing): Promise<TaskResult> {
  const sharp = await loadSharp();
  report('loaded');
  if (sharp === null) return { missing: 'sharp' };
  const { width, height, fit, withoutEnlargement, quality, transforms = [] } = transformation;
  let image = sharp(bytes, { failOn: 'error', limitInputPixels: maxPixels, autoOrient: true }).timeout({
    seconds: Math.ceil(timeoutMs / 1000),
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
  return { bytes: await image.toFormat(format, quality === undefined ? {} : { quality }).toBuffer() };
}

async function resultOf(task: Task): Promise<TaskResult> {
  try {
    if (task.kind === 'draw') return await draw(task.drawing);
    return { facts: await (task.kind === 'image' ? readImage(task.path) : readMedia(task.path)) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message.slice(0, 500) : 'Something that is no error was thrown.' };
  }
}

setPriority(niceness);
// A terminal or a service manager tells every process to end; the server decides when this one is of no more use.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// Leaving in order would wait for a thread that is still at work.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.on('message', (task: Task) => void resultOf(task).then(report));
