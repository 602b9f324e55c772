import { writeFile } from 'node:fs/promises';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';

/** Writes the file that an option names. Rejects with the reason where it cannot be written. */
export async function writeOutput(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.usage, `The file of --output cannot be written: ${reason}.`);
  }
}
