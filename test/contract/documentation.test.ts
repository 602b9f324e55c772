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

const page = ['query', 'filters', 'query-limits']
  .map((name) => readFileSync(fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)), 'utf8'))
  .join('\n');

it.each(readExamples(page))('$request', async ({ method, path, body, answer }) => {
  const { json } = await magazine.ask(path, { method, ...(body !== '' && { body }) });
  expect(json).toEqual(JSON.parse(answer ?? 'An example has no answer.'));
});
