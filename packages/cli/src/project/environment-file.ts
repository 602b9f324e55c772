import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';

/** Name of the file of a project's variables. It contains secrets, so it belongs to one machine. */
export const environmentName = '.env';

/**
 * Sets the variables of the `.env` of a project's folder that are not set, also by `<NAME>_FILE`: the environment wins.
 * Returns the names whose lines are hidden by an empty variable, which may be an accident.
 */
export function readEnvironment(folder: string): readonly string[] {
  const path = join(folder, environmentName);
  if (!existsSync(path)) return [];
  const lines = Object.entries(parseEnv(decodeText(path, bytesOf(path))));
  const isSet = (name: string): boolean => process.env[name] !== undefined || process.env[`${name}_FILE`] !== undefined;
  const hidden = lines.filter(([name, value]) => isSet(name) && !hasText(process.env, name) && value !== '');
  for (const [name, value] of lines) if (!isSet(name)) process.env[name] = value;
  return hidden.map(([name]) => name);
}

/** Variable for pages of other origins that has no effect, as a sentence; null where there is none. */
export function corsProblem(variables: NodeJS.ProcessEnv): string | null {
  const hasOrigin = hasText(variables, 'CORS_ORIGIN');
  if (hasOrigin && !hasText(variables, 'CORS_ENABLED')) return 'CORS_ORIGIN has no effect without CORS_ENABLED=true.';
  return variables.CORS_ENABLED === 'true' && !hasOrigin ? 'CORS_ENABLED has no effect without CORS_ORIGIN.' : null;
}

/** True if a variable, or the file that names its text, is set and not empty. */
function hasText(variables: NodeJS.ProcessEnv, name: string): boolean {
  return [name, `${name}_FILE`].some((variable) => (variables[variable] ?? '') !== '');
}

/**
 * Text of a file that people write: editors and shells of Windows begin it with a mark, and write it as UTF-16. Bytes
 * that are neither would become question marks, in rows of the database as well.
 */
export function decodeText(path: string, bytes: Uint8Array, fatal = true): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal }).decode(bytes);
  } catch {
    const hint = 'Save it in UTF-8, and run the command again.';
    throw new CommandError(exitCodes.invalid, `The file "${path}" is no text in UTF-8.`, hint);
  }
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    const hint = 'Give the user of this command the right to read it, or remove it.';
    throw new CommandError(exitCodes.usage, `The file "${path}" cannot be read: ${reasonOf(error)}.`, hint);
  }
}
