import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** A request of the documentation, and the answer that is written behind it. */
interface Example {
  readonly request: string;
  readonly answer: string;
}

/** Requests are blocks of `http`; the next block of `json` is the answer of all of them since the last one. */
function readExamples(page: string): readonly Example[] {
  const examples: Example[] = [];
  let requests: string[] = [];
  for (const [, language, text = ''] of page.matchAll(/^```(http|json)\n([\s\S]*?)^```$/gm)) {
    if (language === 'http') requests.push(text);
    else {
      examples.push(...requests.map((request) => ({ request, answer: text })));
      requests = [];
    }
  }
  if (requests.length > 0) throw new Error(`An example has no answer: ${requests[0]}`);
  return examples;
}

const page = readFileSync(fileURLToPath(new URL('../../docs/query.md', import.meta.url)), 'utf8');

it.each(readExamples(page))('$request', async ({ request, answer }) => {
  const [head = '', ...body] = request.split('\n\n');
  const [method = '', path = ''] = head.trim().split(' ', 2);
  const text = body.join('\n\n');
  const { json } = await magazine.ask(path, { method, ...(text === '' ? {} : { body: text }) });
  expect(json).toEqual(JSON.parse(answer));
});
