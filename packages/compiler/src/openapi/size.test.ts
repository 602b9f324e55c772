import { expect, it } from 'vitest';
import { emitOpenApi } from './index.ts';
import { manyTables, sampleApi } from './testing/sample-api.ts';

/** Length of the document of everything, without spaces. */
function sizeOf(count: number): number {
  return JSON.stringify(emitOpenApi(sampleApi(manyTables(count)), null)).length;
}

/** Most bytes of a table of twelve columns with two references: today's figure, which may fall only. */
const mostOfTable = 16_490;

/** Most bytes of what is there once. */
const mostOfShared = 62_670;

it('stays small, with as many bytes for each table however many there are', () => {
  const [few, some, many] = [sizeOf(20), sizeOf(120), sizeOf(220)];
  expect((some - few) / 100).toBeLessThanOrEqual(mostOfTable);
  expect((many - some) / 100).toBeLessThanOrEqual(mostOfTable);
  expect(few - 20 * mostOfTable).toBeLessThanOrEqual(mostOfShared);
});
