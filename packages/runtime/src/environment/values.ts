/** Readers of environment values: the value, or a sentence with the variable's rule. Source: section 16. */
import { isUuid } from '../language/types/uuid.ts';

/** A value, or why the text is none. */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

export type Reader<T> = (text: string) => Reading<T>;

/** Reads a variable by its name, or returns the value for an absent one; errors are collected elsewhere. */
export type Read = <T>(variable: string, reader: Reader<T>, absent: T) => T;

/** The same for a variable that must be there; one that is not is complained of, and `absent` fills its place. */
export type Need = Read;

const durationUnits: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

const sizeUnits: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['kb', 1024],
  ['mb', 1024 ** 2],
  ['gb', 1024 ** 3],
]);

/** The longest delay a timer of the platform can keep, in milliseconds (24.8 days). */
const longestTimer = 2_147_483_647;

/** Reads `15m`, `7d` or `500` (milliseconds), above zero and at most 24.8 days, as milliseconds. */
export function readDuration(text: string): Reading<number> {
  const value = readQuantity(text, durationUnits, 'ms');
  return value === null || value < 1 || value > longestTimer
    ? { problem: 'must be a duration such as "500" (milliseconds), "30s", "15m" or "7d", at most 24d.' }
    : { value };
}

/** The longest time that is worth a number, in milliseconds: ten years. */
const longestTime = 315_360_000_000;

/** Reads a duration that no timer has to keep, at most ten years, as milliseconds. */
export function readLongDuration(text: string): Reading<number> {
  const value = readQuantity(text, durationUnits, 'ms');
  return value === null || value < 1 || value > longestTime
    ? { problem: 'must be a duration such as "15m", "7d" or "90d", at most 3650d.' }
    : { value };
}

/** Reads `1mb`, `512kb` or `1000` (bytes), above zero and at most 1 GB, as bytes. */
export function readSize(text: string): Reading<number> {
  const value = readQuantity(text, sizeUnits, 'b');
  return value === null || value < 1 || value > 1024 ** 3
    ? { problem: 'must be a size such as "1000" (bytes), "512kb" or "1mb", at most 1gb.' }
    : { value };
}

/** Makes a reader of whole numbers between two bounds, both included. */
export function readInteger(least: number, max: number = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${max}`;
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= max ? { value } : { problem: `must be a whole number ${range}.` };
  };
}

export function readBoolean(text: string): Reading<boolean> {
  return text === 'true' || text === 'false' ? { value: text === 'true' } : { problem: 'must be "true" or "false".' };
}

export function readChoice<const T extends string>(choices: readonly T[]): Reader<T> {
  return (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `must be one of ${choices.join(', ')}.` } : { value };
  };
}

/** Elements of a comma-separated list, without spaces around them; empty ones are dropped. */
export function elementsIn(text: string): readonly string[] {
  const elements = text.split(',').map((element) => element.trim());
  return elements.filter((element) => element !== '');
}

/** Makes a reader of lists. `problem` tells what an element is not; no password of an address is repeated. */
export function readListOf(fits: (element: string) => boolean, problem: string): Reader<readonly string[]> {
  return (text) => {
    const value = elementsIn(text);
    const wrong = value.find((element) => !fits(element))?.replace(/\/\/[^/]*@/, '//…@');
    return wrong === undefined ? { value } : { problem: `has "${wrong}", which is ${problem}.` };
  };
}

/** Advice for variables that hold a secret. */
export const secretAdvice = '`openssl rand -hex 32` prints one.';

export function readText(text: string): Reading<string> {
  return { value: text };
}

/** Makes a reader of texts that a pattern matches; `problem` is the rule for others. */
export function readMatching(pattern: RegExp, problem: string): Reader<string> {
  return (text) => (pattern.test(text) ? { value: text } : { problem });
}

export function readRoleKey(text: string): Reading<string> {
  const problem = 'must be the key of a role, a uuid: `GET /roles?fields=id,name` tells those of all roles.';
  return isUuid(text) ? { value: text.toLowerCase() } : { problem };
}

/** Makes a reader of lists whose elements are all names as HTTP header fields and methods have them. */
export function readNames(what: string): Reader<readonly string[]> {
  return (text) => {
    const names = text.split(',').map((name) => name.trim());
    return names.every((name) => /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
      ? { value: names }
      : { problem: `must be a comma-separated list of ${what}.` };
  };
}

/** Reads origins as browsers send them (`https://app.example.com`), or `*`. */
export const readOrigins = readListOf(
  (origin) => origin === '*' || originOf(origin) === origin,
  'not an origin such as "https://app.example.com", or "*"',
);

/** Reads an absolute http or https address without query, fragment and user; a trailing slash is dropped. */
export function readAddress(text: string): Reading<string> {
  const url = URL.parse(text);
  const usable =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '' &&
    url.password === '';
  return usable
    ? { value: url.href.replace(/\/+$/, '') }
    : { problem: 'must be an http or https address without user, query and fragment.' };
}

export function readHost(text: string): Reading<string> {
  return /^[A-Za-z0-9._:%-]+$/.test(text)
    ? { value: text }
    : { problem: 'must be a host name or an address without brackets, such as "127.0.0.1" or "::".' };
}

function readQuantity(text: string, units: ReadonlyMap<string, number>, unit: string): number | null {
  const parts = /^(\d{1,15})([a-z]*)$/.exec(text.toLowerCase());
  const factor = parts === null ? undefined : units.get(parts[2] === '' ? unit : (parts[2] ?? unit));
  return parts === null || factor === undefined ? null : Number(parts[1]) * factor;
}

function originOf(text: string): string | null {
  const url = URL.parse(text);
  return url === null || url.origin === 'null' ? null : url.origin;
}

/** One variable whose value cannot be used. */
export interface EnvironmentProblem {
  readonly variable: string;
  /** A whole sentence that starts with the variable and never repeats a secret value. */
  readonly message: string;
}

/** Thrown by `serve` when environment variables cannot be used; its message has one line per variable. */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
  readonly problems: readonly EnvironmentProblem[];

  constructor(problems: readonly EnvironmentProblem[]) {
    super(problems.map(({ message }) => message).join('\n'));
    this.problems = problems;
  }
}

export const readUrls = readListOf(isPlainUrl, 'no http or https address without user, query and fragment');

function isPlainUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:\/\//i.test(text) || text.includes('\\')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Characters of the longest address of a user. Source: API specification, section 10.13. */
export const longestEmail = 128;

/** True if a text is an e-mail address: one at sign, something on either side, nothing that breaks a mail's header. */
export function isEmail(text: string): boolean {
  return /^[^\s@"(),:;<>[\\\]\p{Cc}\p{Cf}]+@[^\s@"(),:;<>[\\\]\p{Cc}\p{Cf}]+$/u.test(text);
}

export function readDurationOrZero(text: string): Reading<number> {
  return text === '0' ? { value: 0 } : readDuration(text);
}
