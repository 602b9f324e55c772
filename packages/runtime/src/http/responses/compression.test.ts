import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chooseEncoding, compress } from './outgoing.ts';

test.each([
  [undefined, null],
  ['', null],
  ['identity', null],
  ['deflate', null],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip;q=1, br;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=0', null],
  ['*', 'br'],
  ['*;q=0', null],
  ['br;q=0, *', 'gzip'],
  ['gzip;q=nonsense', null],
] as const)('Accept-Encoding %j chooses %j', (header, encoding) => {
  expect(chooseEncoding(header)).toBe(encoding);
});

test('what is compressed can be read again', async () => {
  const body = Buffer.alloc(5000, 'a');
  expect(brotliDecompressSync(await compress('br', body))).toEqual(body);
  expect(gunzipSync(await compress('gzip', body))).toEqual(body);
});
