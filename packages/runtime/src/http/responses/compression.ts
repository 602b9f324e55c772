/** Compression of answers, chosen by the client's `Accept-Encoding`. Source: API specification, section 1.2. */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

/** A content coding this server makes. */
export type Encoding = 'br' | 'gzip';

/** Bytes below which compressing costs more than it saves. */
export const smallestCompressed = 1024;

/** Cheap settings: answers are made once and read once. */
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzipBytes = promisify(gzip);
const brotliBytes = promisify(brotliCompress);

/** Picks the coding the client likes best, Brotli among equals; null: the answer is sent as it is. */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  const weights = readWeights(acceptEncoding);
  const brotli = weights.get('br') ?? weights.get('*') ?? 0;
  const zip = weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0;
  if (brotli === 0 && zip === 0) return null;
  return brotli >= zip ? 'br' : 'gzip';
}

/** Compresses a whole body off the main thread. */
export function compress(encoding: Encoding, body: Buffer): Promise<Buffer> {
  return encoding === 'br' ? brotliBytes(body, brotliOptions) : gzipBytes(body, gzipOptions);
}

/** Makes the stream through which a body of unknown length is sent. */
export function createCompressor(encoding: Encoding): Transform {
  return encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
}

function readWeights(acceptEncoding: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  return weights;
}
