/** Parts of a content that requests ask for. Source: RFC 9110, section 14; API specification, section 11.3. */
import { PlatformError } from '../../errors.ts';
import type { ByteRange } from '../../files/storage.ts';

/**
 * Reads a `Range` for a content of a size. Null for no range, several ranges, units other than bytes and invalid texts:
 * the whole content is sent then. Throws RANGE_NOT_SATISFIABLE for a range that lies outside.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null {
  const [, first = '', last = ''] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    if (length === 0) throw outside(size);
    return { start: size - length, end: size - 1 };
  }
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)];
  if (last !== '' && Number(last) < start) return null;
  if (start >= size) throw outside(size);
  return { start, end };
}

function outside(size: number): PlatformError {
  return new PlatformError('RANGE_NOT_SATISFIABLE', undefined, {}, { headers: { 'Content-Range': `bytes */${size}` } });
}
