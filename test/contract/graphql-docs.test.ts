/** Every document of docs/graphql.md is answered without an error. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('has documents', () => expect(documents.length).toBeGreaterThan(1));
