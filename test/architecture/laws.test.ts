import { afterAll, expect, test } from 'vitest';
import { parseSource } from './files.ts';
import { circlesIn } from './laws/circles.ts';
import { laws } from './laws/laws.ts';
import { longSentences, obscureComments } from './laws/sentences.ts';
import { readSources, type Source } from './laws/sources.ts';
import { obscureTexts } from './laws/texts.ts';
import { bareVariables, privateNames } from './laws/words.ts';

const sources = readSources();
const table: string[] = [];
afterAll(() => console.log(['law: figure (bound)', ...table].join('\n')));

test.each(laws)('$name: never worse', ({ name, today, bound, measure }) => {
  const { figure, places } = measure(sources);
  table.push(`${name}: ${figure} (${bound})`);
  expect(
    figure,
    `${name} rose from ${today} to ${figure}; first places: ${places.slice(0, 5).join(', ')}`,
  ).toBeLessThanOrEqual(today);
  expect(today - figure, `${name} fell to ${figure}: write that into laws.ts`).toBe(0);
});

test('the laws themselves find what they look for', () => {
  const text =
    '/** It is. What it is. */\nexport function judge(of: string): string { const { one } = of; return one; }\ninterface A { askedItems: 1 }\n';
  const source: Source = { path: 'file.ts', text, lines: 2, tree: parseSource('file.ts', text) };
  const found = 'const a = "No item. What it is"; const b = "What is it?"; const c = "a key that nobody has";';
  const texts: Source = { path: 'file.ts', text: found, lines: 1, tree: parseSource('file.ts', found) };
  expect(privateNames([source])).toEqual(['file.ts:2 judge', 'file.ts:3 askedItems']);
  expect(bareVariables([source])).toEqual(['file.ts:2 of', 'file.ts:2 one']);
  expect(obscureComments([source])).toEqual(['file.ts:1 What it is.']);
  const long = `/** ${'It is '.repeat(13)}so. It \`is\`. */\n`;
  expect(longSentences([{ ...source, text: long }])).toEqual([expect.stringMatching(/^file.ts:1 It is It is/)]);
  expect(obscureTexts([texts])).toEqual(['file.ts:1 . What it is', 'file.ts:1 nobody has']);
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c', 'a'])],
    ['c', new Set(['d'])],
    ['d', new Set<string>()],
  ]);
  expect(circlesIn(graph)).toEqual([['a', 'b']]);
});
