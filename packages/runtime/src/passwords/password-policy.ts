/** Policy for new passwords. Source: API specification, section 3.2. */
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { PlatformError } from '../errors.ts';
import type { FieldProblem } from '../json/problems.ts';
import { WorkQueue } from '../limits/work-queue.ts';

export const longestPassword = 1024;

/** The rules for new passwords. */
export interface PasswordPolicy {
  /** PASSWORD_MIN_LENGTH: characters, as people count them in Unicode's code points. */
  readonly minLength: number;
  /** `auth_password_policy` of the settings: the text of a regular expression; null for none. */
  readonly pattern: string | null;
}

/** Returns the problem that a password has apart from the pattern; undefined if it has none. Never hashes. */
export function passwordProblem(password: string, minLength: number): FieldProblem | undefined {
  if (Buffer.byteLength(password) > longestPassword) {
    return { type: 'max_length', message: `must have at most ${longestPassword} bytes` };
  }
  if (isShorter(password, minLength)) {
    return { type: 'min_length', message: `must have at least ${minLength} characters` };
  }
  if (isCommonPassword(password)) {
    return { type: 'password', message: 'must not be one of the passwords that everybody tries first' };
  }
  return undefined;
}

/**
 * Returns the problem of the first password that has one, as FAILED_VALIDATION of the field `password`. Clients take turns
 * with the pattern.
 */
export async function refusePasswords(
  passwords: readonly string[],
  { minLength, pattern }: PasswordPolicy,
  client?: string,
): Promise<PlatformError | undefined> {
  const problem =
    passwords.map((password) => passwordProblem(password, minLength)).find((found) => found !== undefined) ??
    (pattern === null || passwords.length === 0 ? undefined : await patternProblem({ pattern, passwords }, client));
  if (problem === undefined) return undefined;
  const extensions = { collection: 'platform_users', field: 'password', type: problem.type };
  return new PlatformError('FAILED_VALIDATION', `"password" ${problem.message}.`, extensions);
}

let commonPasswords: ReadonlySet<string> | undefined;

/** True if a password is in the list; upper and lower case are the same. */
export function isCommonPassword(password: string): boolean {
  commonPasswords ??= new Set(readFileSync(commonWords, 'utf8').trim().split(/\s/));
  return commonPasswords.has(password.toLowerCase());
}

/** 3,000 passwords of any length and 3,000 of at least 8 characters, from leaked lists. Some of the words are offensive. */
export const commonWords = new URL('../../data/common-passwords.txt', import.meta.url);

function isShorter(text: string, least: number): boolean {
  let characters = 0;
  for (const _ of text) if (++characters >= least) return false;
  return characters < least;
}

/** A pattern, and the passwords that must meet it. */
interface Match {
  readonly pattern: string;
  readonly passwords: readonly string[];
}

const matchQueue = new WorkQueue({ atOnce: 1, waiting: 64 });

async function patternProblem(match: Match, client?: string): Promise<FieldProblem | undefined> {
  const isMet = await matchQueue.acquire(() => matchApart(match), client);
  if (isMet === true) return undefined;
  const message =
    isMet === null ? 'takes too long to compare with the password policy' : 'does not meet the password policy';
  return { type: 'password', message };
}

/** Milliseconds that a pattern may take, once its thread runs. */
const longestMatchMs = 1_000;

const matcher = `import { parentPort, workerData } from 'node:worker_threads';
const pattern = new RegExp(workerData.pattern, 'u');
parentPort.postMessage(workerData.passwords.every((password) => pattern.test(password)));`;

/**
 * True if all passwords meet a pattern, null if that takes too long. A thread looks, as nothing else stops a pattern that goes
 * back without end. One that is no pattern, which nothing writes but the owner of the database, is met by no password.
 */
function matchApart(match: Match): Promise<boolean | null> {
  return new Promise((resolve) => {
    const code = new URL(`data:text/javascript,${encodeURIComponent(matcher)}`);
    const thread = new Worker(code, { workerData: match, env: {}, execArgv: [] });
    let timer: NodeJS.Timeout | undefined;
    thread.once('online', () => {
      timer = setTimeout(() => void thread.terminate(), longestMatchMs);
    });
    thread.once('message', resolve);
    thread.once('error', () => resolve(false));
    thread.once('exit', () => {
      clearTimeout(timer);
      resolve(null);
    });
  });
}
