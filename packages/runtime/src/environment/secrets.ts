/** Secrets: forms of access tokens, and the one that a project keeps in a file. */
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvironmentError, type Reader, secretAdvice } from './values.ts';

/**
 * The secret in the file `secret` of a folder, made on first use, for servers whose database lies beside it. Rejects with
 * `EnvironmentError` where the file is not whole: everybody can sign tokens by an empty secret.
 */
export async function keptSecret(folder: string): Promise<string> {
  const file = join(folder, 'secret');
  const secret = await firstSecret(file, randomBytes(leastBytes).toString('base64url'));
  if (secret.length >= leastBytes) return secret;
  const message = `SECRET is not set, and ${file} cannot be read or is not whole: remove it, and another is made.`;
  throw new EnvironmentError([{ variable: 'SECRET', message }]);
}

const leastBytes = 32;

/**
 * The text of a file, empty where it cannot be read. Without a file it keeps `made` there, whole or not at all: neither
 * a full disk nor a second process leaves a part of it.
 */
export async function firstSecret(file: string, made: string): Promise<string> {
  if (!existsSync(file)) await keepFirst(file, made);
  return (await readFile(file, 'utf8').catch(() => '')).trim();
}

async function keepFirst(file: string, secret: string): Promise<void> {
  const staged = `${file}.${randomUUID()}.tmp`;
  try {
    await keepSecret(staged, secret);
    await link(staged, file).catch((error) => (isThere(error) ? undefined : keepSecret(file, secret, 'wx')));
  } finally {
    await rm(staged, { force: true });
  }
}

/** True if a faster process has made the file. */
function isThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** Writes a secret into a file that its owner alone can read, and makes the folder for it. */
export async function keepSecret(file: string, secret: string, flag: 'w' | 'wx' = 'w'): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${secret}\n`, { mode: 0o600, flag });
  // The umask may narrow the mode of a new file, but never widens it; this sets it regardless.
  await chmod(file, 0o600);
}

/** Bytes above which no token is looked at. */
export const longestToken = 8192;

/** True if a token is treated as a JSON web token: three base64url parts, the first of them a JSON object. */
export function isJwtShaped(token: string): boolean {
  const head = /^([\w-]+)\.[\w-]*\.[\w-]*$/.exec(token)?.[1];
  if (head === undefined) return false;
  try {
    const value: unknown = JSON.parse(Buffer.from(head, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** True if a token is too long to be read. */
export function isOversized(token: string): boolean {
  return token.length > longestToken;
}

/** Makes a reader of a token that a variable holds. */
export function readStaticToken(minLength: number): Reader<string> {
  return (text) => {
    if (!/^[\x21-\x7e]{1,4096}$/.test(text) || text.length < minLength) {
      return { problem: `must have at least ${minLength} characters, all of them visible ASCII: ${secretAdvice}` };
    }
    return isJwtShaped(text) ? { problem: 'must not have the form of a JSON web token.' } : { value: text };
  };
}
