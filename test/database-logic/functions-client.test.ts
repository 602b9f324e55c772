/** Calls of functions by the typed client of a class: types, and the requests that they become. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Atlas, clerk, startAtlas } from '../support/atlas.ts';
import { typeCheck } from '../support/type-check.ts';

let atlas: Atlas;
beforeAll(async () => {
  atlas = await startAtlas();
});
afterAll(() => atlas?.close());

const code = `
import { createClient } from '../generated/client/clerk/index.js';

export async function use(url: string, staticToken: string): Promise<unknown> {
  const client = createClient(url, { auth: { staticToken } });
  const place = { lng: 3.2, lat: 51.2 };
  const shops = await client.call('nearest_shops', place, { fields: ['name', 'region.name'], sort: ['-name'], limit: 1 });
  const region: string | undefined = shops[0]?.region?.name;
  // @ts-expect-error: it was not selected
  shops[0]?.rating;
  const best = await client.call('best_shop', { region: 2 });
  const rating: string | null | undefined = best?.rating;
  const totals = await client.call('region_totals', {}, { limit: 1 });
  const count: string | null | undefined = totals[0]?.shops;
  const order = await client.call('place_order', { lines: [1] });
  const nothing: undefined = await client.call('reopen');
  const closed = await client.call('close_region', { region: 9 }, { fields: ['name'] });
  const names: string[] = closed.map(({ name }) => name);
  const none = await client.call('region_totals', { smallest: null });
  // Longer than an address may be.
  const far = await client.call('nearest_shops', place, { filter: { name: { _in: ['x'.repeat(20_000)] } } });
  return [region, rating, count, order, nothing === undefined, names, none, far];
}

export function refused(client: ReturnType<typeof createClient>): void {
  // @ts-expect-error: the server sets it
  void client.call('place_order', { lines: [1], customer: 'me' });
  // @ts-expect-error: it is no function of the class
  void client.call('titles', { status: 'published' });
  // @ts-expect-error: an argument is missing
  void client.call('extent');
  // @ts-expect-error: the column is hidden
  void client.call('nearest_shops', { lng: 1, lat: 1 }, { fields: ['supplier_note'] });
}
`;

it('types arguments and results, and asks what they say', async () => {
  const folder = join(atlas.folder, 'extensions');
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'use.ts');
  await writeFile(path, code);
  expect(await typeCheck(atlas.folder)).toBe('');
  const { use }: { use: (url: string, token: string) => Promise<unknown> } = await import(pathToFileURL(path).href);
  expect(await use(atlas.url, atlas.tokens.clerk)).toEqual([
    'Ghent',
    '4.8',
    '2',
    { order: expect.any(Number), customer: clerk },
    true,
    [],
    [],
    [],
  ]);
});
