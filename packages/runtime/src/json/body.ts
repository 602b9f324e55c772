/** Request bodies: bytes in, checked JSON out. Source: API specification, section 1.3. */
import { isUtf8 } from 'node:buffer';
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import { faultPlace, isList, type ParsedText, parseText } from '../language/values/parse-text.ts';

export interface BodyHeaders {
  readonly 'content-type'?: string | undefined;
  readonly 'content-encoding'?: string | undefined;
}

/**
 * Parses a whole request body; undefined for an empty one, regardless of its headers. Numbers that a double cannot
 * represent exactly become `RawNumber`s.
 *
 * Throws UNSUPPORTED_MEDIA_TYPE for anything but plain JSON in UTF-8. Throws INVALID_PAYLOAD for malformed JSON, a
 * scalar at the top, invalid UTF-8 and a duplicate key. It also does for names that reach a prototype, and text that no
 * database can keep.
 */
export function parseBody(bytes: Buffer, headers: BodyHeaders): JsonValue | undefined {
  return bytes.length === 0 ? undefined : parseBodyText(checkBody(bytes, headers));
}

/** The text of a body that holds something. Throws UNSUPPORTED_MEDIA_TYPE and INVALID_PAYLOAD as `parseBody` does. */
export function checkBody(bytes: Buffer, headers: BodyHeaders): string {
  checkType(headers);
  if (!isUtf8(bytes)) throw new PlatformError('INVALID_PAYLOAD', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

/** Throws UNSUPPORTED_MEDIA_TYPE for anything but plain JSON in UTF-8. */
export function checkType(headers: BodyHeaders): void {
  if (!isJson(headers)) throw new PlatformError('UNSUPPORTED_MEDIA_TYPE');
}

/** Parses the text of a body. Throws INVALID_PAYLOAD as `parseBody` does. */
export function parseBodyText(text: string): JsonValue {
  const { value, repeated } = parseJson(text);
  if (repeated !== null) {
    const { key, path } = repeated;
    throw new PlatformError('INVALID_PAYLOAD', `The body has the key "${key}" twice, at ${path}.`);
  }
  if (typeof value !== 'object' || value === null) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object or an array.');
  }
  // Raw bytes hold neither a lone surrogate nor U+0000, so only an escape or a dangerous name is worth a walk. The end
  // of the longer one is found faster than its beginning.
  if (text.includes('\\u') || text.includes('__proto__') || text.includes('uctor"')) checkContents(value);
  return value;
}

/** The text of a form as browsers send it; null for a body of another kind. Throws INVALID_PAYLOAD for invalid UTF-8. */
export function readForm(bytes: Buffer, headers: BodyHeaders): string | null {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return null;
  if (!isUtf8(bytes)) throw new PlatformError('INVALID_PAYLOAD', 'The body is not valid UTF-8.');
  return bytes.toString('utf8');
}

function isJson(headers: BodyHeaders): boolean {
  // As nearly all clients say it.
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return true;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';');
  const encoding = headers['content-encoding'] ?? 'identity';
  return (
    type.trim().toLowerCase() === 'application/json' &&
    encoding.trim().toLowerCase() === 'identity' &&
    parameters.every(namesNoOtherCharset)
  );
}

function namesNoOtherCharset(parameter: string): boolean {
  const charset = /^\s*charset\s*=\s*"?([^"]*?)"?\s*$/i.exec(parameter)?.[1];
  return charset === undefined || charset.toLowerCase() === 'utf-8';
}

function parseJson(text: string): ParsedText {
  try {
    return parseText(text);
  } catch (error) {
    throw new PlatformError('INVALID_PAYLOAD', `The body is not valid JSON${faultPlace(error)}.`);
  }
}

/** Throws INVALID_PAYLOAD for texts and names that no body may hold. Without recursion: bodies nest deep. */
export function checkContents(root: JsonValue): void {
  const pending: JsonValue[] = [root];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value === 'string') checkText(value);
    if (typeof value !== 'object' || value === null) continue;
    if (isList(value)) {
      for (const element of value) pending.push(element);
      continue;
    }
    for (const [name, member] of Object.entries(value)) {
      checkText(name);
      checkName(name, member);
      pending.push(member);
    }
  }
}

function checkText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed()) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body holds U+0000 or half of a surrogate pair.');
  }
}

function checkName(name: string, member: JsonValue): void {
  const reachesPrototype =
    name === '__proto__' ||
    (name === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'));
  if (reachesPrototype) throw new PlatformError('INVALID_PAYLOAD', 'The body uses a name that is not allowed.');
}
