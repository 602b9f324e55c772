/** Asks every example of docs/aggregation.md and docs/export.md, and compares the answers with what is printed there. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

const examples = ['aggregation.md', 'export.md'].flatMap((name) => {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const blocks = text.matchAll(/```http\n(GET|SEARCH) (\S+)\n(?:\n([^`]*))?```\n\n```(\w+)\n(.*?)```/gs);
  return [...blocks].map(
    ([, method = '', path = '', body, language = '', answer = '']) =>
      [name, method, path, { language, answer, ...(body !== undefined && { body }) }] as const,
  );
});

it('finds the examples', () => {
  expect(examples.length).toBe(16);
});

it.each(examples)('%s: %s %s', async (_, method, path, { language, answer, body }) => {
  const { status, text } = await magazine.admin(path, { method, ...(body !== undefined && { body }) });
  expect(status).toBe(200);
  if (language === 'json') expect(JSON.parse(text)).toEqual(JSON.parse(answer));
  else expect(text.replaceAll('\r\n', '\n')).toBe(answer);
});
