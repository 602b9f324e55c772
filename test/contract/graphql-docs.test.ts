/** Every document and request of docs/graphql.md is answered without an error. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readExamples } from '../support/examples.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

const page = readFileSync(fileURLToPath(new URL('../../docs/graphql.md', import.meta.url)), 'utf8');
const documents = [...page.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, text = '']) => text);

it.each(documents)('%s', async (query) => {
  const { status, json } = await magazine.admin('/graphql', { method: 'POST', body: { query } });
  expect([status, json.errors, Object.keys(json.data ?? {}).length]).toEqual([200, undefined, expect.any(Number)]);
});

it.each(readExamples(page))('$request', async ({ method, path, headers, body }) => {
  const { status, json } = await magazine.admin(path, { method, headers, body });
  expect([status, json]).toEqual([200, { data: { articles_by_id: { title: expect.any(String) } } }]);
});

it('has documents', () => expect(documents.length).toBeGreaterThan(1));
