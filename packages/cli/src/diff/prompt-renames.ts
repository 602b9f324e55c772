import { createInterface } from 'node:readline';
import { type Rename, visible } from '@tablewright/compiler';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

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
