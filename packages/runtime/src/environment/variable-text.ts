/** The text of one variable, which may lie in a file: `SECRET_FILE=/run/secrets/secret` stands for `SECRET`. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Reading } from './values.ts';

/** Variables by name, as `process.env` holds them. An empty text counts as absent. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Bytes of a file that a variable names. */
const maxBytes = 64 * 1024;

/**
 * Reads a variable, or the file that `<name>_FILE` names without one line break at its end. An absent one is empty.
 * The problem is a whole sentence that names the variable and never its content.
 *
 * ```ts
 * variableText(process.env, 'DATABASE_URL');
 * ```
 */
export function variableText(variables: Variables, name: string): Reading<string> {
  const value = ownText(variables, name);
  const file = `${name}_FILE`;
  const path = ownText(variables, file);
  if (path === '') return { value };
  if (value !== '') return { problem: `${name} and ${file} are both set: remove one of them.` };
  const reading = readText(path);
  return 'value' in reading ? reading : { problem: `${file} names a file that ${reading.problem}.` };
}

function ownText(variables: Variables, name: string): string {
  return (Object.hasOwn(variables, name) ? variables[name]?.trim() : undefined) ?? '';
}

function readText(path: string): Reading<string> {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    if (fstatSync(file).isDirectory()) return { problem: 'is a folder' };
    const bytes = readBytes(file);
    if (bytes.length > maxBytes) return { problem: 'is larger than 64 kB' };
    const text = bytes.toString('utf8').replace(/\r?\n$/, '');
    return text === '' ? { problem: 'is empty' } : { value: text };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    return { problem: code === 'ENOENT' || code === 'ENOTDIR' ? 'does not exist' : `cannot be read (${code})` };
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Reads one byte more than there may be, at most. Pipes and devices state no size. */
function readBytes(file: number): Buffer {
  const bytes = Buffer.alloc(maxBytes + 1);
  let length = 0;
  for (let read = 1; read > 0; length += read) read = readSync(file, bytes, length, bytes.length - length, null);
  return bytes.subarray(0, length);
}
