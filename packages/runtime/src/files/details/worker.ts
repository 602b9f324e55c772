/** Takes one file apart in a thread of its own, which is ended when it takes too long. */
import { parentPort, workerData } from 'node:worker_threads';
import { plain } from './plain.ts';
import type { MediaDetails, Question, WorkerMessage } from './read-details.ts';

function report(message: WorkerMessage): void {
  parentPort?.postMessage(message);
}

async function readMedia(path: string): Promise<MediaDetails> {
  const { parseFile } = await import('music-metadata');
  report('loaded');
  const { format, common } = await parseFile(path, { duration: true, skipCovers: true });
  const { container, codec, bitrate, sampleRate, numberOfChannels, bitsPerSample, lossless } = format;
  const { title, artist, album, albumartist, composer, genre, year, date, track, comment } = common;
  const properties = { container, codec, bitrate, sampleRate, channels: numberOfChannels, bitsPerSample, lossless };
  const tags = { title, artist, album, albumartist, composer, genre, year, date, track: track.no, comment };
  return {
    duration: format.duration === undefined || !Number.isFinite(format.duration) ? null : Math.round(format.duration),
    metadata: plain({ ...properties, ...tags, comment: comment?.map((entry) => entry.text) }) ?? null,
  };
}

async function readExif(bytes: Uint8Array): Promise<MediaDetails> {
  const { default: read } = await import('exif-reader');
  report('loaded');
  const { Image, Photo, GPSInfo } = read(Buffer.from(bytes));
  return { duration: null, metadata: plain({ Image, Photo, GPSInfo }) ?? null };
}

const question: Question = workerData;
const details = question.kind === 'exif' ? readExif(question.bytes) : readMedia(question.path);
report(await details);
