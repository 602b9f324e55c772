/** Facts about a change that only its author has: the changes accepted in a file, and renames answered at a prompt. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Rename, visible } from '@tablewright/compiler';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/**
 * The names in a file, one a line; text after a `#` is for people. Names can contain such a sign themselves: among the
 * possible readings of a line, the one that is the name of a change is taken. A missing file names nothing.
 */
export async function readAcknowledged(
  path: string | undefined,
  changes: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (path === undefined) return new Set();
  const text = await readFile(resolve(path), 'utf8').catch(() => '');
  const names = text.split('\n').map((line) => nameIn(line, changes));
  return new Set(names.filter((name) => name !== ''));
}

function nameIn(line: string, changes: ReadonlySet<string>): string {
  const whole = line.replace(/^\ufeff?\s*[-*] /, '').trim();
  const signs = [...whole.matchAll(/(?:^|\s)#/g)].map(({ index }) => index);
  const readings = [whole.length, ...signs.reverse()].map((end) => whole.slice(0, end).trim());
  return readings.find((reading) => changes.has(reading)) ?? readings.at(-1) ?? '';
}

/**
 * Asks, on the terminal unless told otherwise, which guesses are right, and resolves to those. Rejects if the questions
 * are left unanswered: an unconfirmed guess must not become a verdict.
 */
export async function promptRenames(
  guesses: readonly Rename[],
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<readonly Rename[]> {
  const terminal = createInterface({ input, output });
  // Lines that are typed ahead are kept.
  const lines = terminal[Symbol.asyncIterator]();
  let isOpen = true;
  terminal.once('close', () => {
    isOpen = false;
  });
  const agreed: Rename[] = [];
  try {
    for (const guess of guesses) {
      terminal.setPrompt(`Was ${visible(guess.from)} renamed to ${visible(guess.to)}? [Y/n] `);
      // The last line can be here when the input has ended already.
      if (isOpen) terminal.prompt();
      const { value, done } = await lines.next();
      if (done === true) throw unanswered();
      if (!/^\s*n/i.test(value)) agreed.push(guess);
    }
  } finally {
    terminal.close();
  }
  return agreed;
}

function unanswered(): CommandError {
  return new CommandError(
    exitCodes.usage,
    'The question was not answered.',
    'Add --no-guess where nothing was renamed.',
  );
}
