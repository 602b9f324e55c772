import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { promptRenames } from '../commands/diff.ts';

const guesses = ['articles', 'articles.title'].map((from) => ({ from, to: `${from}_x`, certain: false }));

test.each([
  ['n\ny\n', ['articles.title']],
  ['\n NO\n', ['articles']],
])('answers are taken one by one, also those typed ahead: %j', async (answers, agreed) => {
  const found = await promptRenames(guesses, Readable.from([answers]), new PassThrough());
  expect(found.map(({ from }) => from)).toEqual(agreed);
});

test('a question that is not answered is no answer', async () => {
  const questions = promptRenames(guesses, Readable.from(['y\n']), new PassThrough());
  await expect(questions).rejects.toThrow('The question was not answered.');
});

test('names reach the terminal without what it would obey', async () => {
  const output = new PassThrough();
  const name = { from: 'a\u001b[2Jb', to: 'c', certain: false };
  await promptRenames([name], Readable.from(['y\n']), output);
  output.end();
  expect(await text(output)).toContain('Was a\\u{1b}[2Jb renamed to c? [Y/n]');
});
