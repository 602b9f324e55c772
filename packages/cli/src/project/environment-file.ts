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

/** Variables that count beside another one only, whose value is named where it is a switch. */
const companions: Readonly<Record<string, string>> = {
  CORS_ORIGIN: 'CORS_ENABLED=true',
  CORS_ENABLED: 'CORS_ORIGIN',
  RATE_LIMITER_POINTS: 'RATE_LIMITER_ENABLED=true',
  RATE_LIMITER_DURATION: 'RATE_LIMITER_ENABLED=true',
  RATE_LIMITER_GLOBAL_POINTS: 'RATE_LIMITER_GLOBAL_ENABLED=true',
  RATE_LIMITER_GLOBAL_DURATION: 'RATE_LIMITER_GLOBAL_ENABLED=true',
  METRICS_HOST: 'METRICS_PORT',
  EMAIL_SMTP_PORT: 'EMAIL_SMTP_HOST',
  EMAIL_SMTP_SECURE: 'EMAIL_SMTP_HOST',
  EMAIL_SMTP_USER: 'EMAIL_SMTP_HOST',
  EMAIL_SMTP_PASSWORD: 'EMAIL_SMTP_USER',
};

/** Variables with a name in the middle that a list has to name, and what the list has where it is not set. */
const lists = [
  { pattern: /^AUTH_(\w+)_DRIVER$/, list: 'AUTH_PROVIDERS', absent: '' },
  { pattern: /^STORAGE_(\w+)_DRIVER$/, list: 'STORAGE_LOCATIONS', absent: 'local' },
] as const;

/** Variables without effect, a sentence each: the one beside which they count was forgotten, or they are left over. */
export function idleVariables(variables: NodeJS.ProcessEnv): readonly string[] {
  const alone = Object.entries(companions).flatMap(([variable, needed]) => {
    const [companion = ''] = needed.split('=');
    // A switch that is off needs nothing.
    const isOn = hasText(variables, variable) && variables[variable] !== 'false';
    return isOn && !hasText(variables, companion) ? [`${variable} has no effect without ${needed}.`] : [];
  });
  const unlisted = lists.flatMap(({ pattern, list, absent }) => {
    if (hasText(variables, `${list}_FILE`)) return [];
    const listed = (variables[list] || absent).split(',').map((name) => name.trim().toUpperCase());
    return Object.keys(variables).flatMap((variable) => {
      const name = pattern.exec(variable)?.[1];
      if (name === undefined || !hasText(variables, variable) || listed.includes(name.toUpperCase())) return [];
      return [`${variable} has no effect unless ${list} names ${name.toLowerCase()}.`];
    });
  });
  return [...alone, ...unlisted];
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
