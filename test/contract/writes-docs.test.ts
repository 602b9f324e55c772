/** Every example of docs/writes.md and docs/refused-writes.md, in the order of the page: later ones build on what earlier ones wrote. */
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

const page = ['writes', 'refused-writes']
  .map((name) => readFileSync(fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)), 'utf8'))
  .join('\n');

it.each(readExamples(page))('$request', async ({ method, path, body, answer }) => {
  const { status, json } = await magazine.admin(path, { method, ...(body !== '' && { body }) });
  if (answer === null) expect(status).toBe(204);
  else expect(json).toEqual(JSON.parse(answer));
});
