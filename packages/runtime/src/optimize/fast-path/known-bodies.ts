/**
 * Bodies of GraphQL requests. The part of a body that a client sends with a document, its text above all, is the same
 * in every request. Parsing it again takes longer than all the rest of the body, so that part is cached by its text.
 */
import { createByteCache } from '../../graphql/byte-cache.ts';
import { type BodyHeaders, checkBody, parseBodyText } from '../../json/body.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';

/** Parses the body of a request as `parseBody` does where numbers are exact. */
type ParseKnownBody = (bytes: Buffer, headers: BodyHeaders) => JsonValue | undefined;

/** Members of a body, each with a text: the document, and perhaps the name of its operation. */
type Known = Readonly<Record<string, string>>;

/** A body in two: the members that are the same every time, and an object of the others. Both are JSON if the body is. */
interface Halves {
  readonly known: string;
  readonly rest: string;
  /** True if the known members stand after the others. */
  readonly last: boolean;
}

/** Parts of bodies that are kept, and the longest one. */
const kept = { entries: 500, bytes: 4 * 1024 ** 2 };
const longest = 64 * 1024;

/** Memory of a text and its parsed value, for each character, measured generously. */
const bytesPerCharacter = 4;

/** The bytes that bodies of a document begin with, up to its variables, and the members in them. */
interface DocumentPrefix {
  readonly bytes: Buffer;
  readonly known: Known;
}

/** Documents that are asked for now; comparing the bytes of each costs less than making a text of them. */
const maxPrefixes = 8;

/** Makes the parser of a server. */
export function createKnownBodyParser(): ParseKnownBody {
  const parts = createByteCache<Known>(kept);
  const prefixes: DocumentPrefix[] = [];

  function parseWhole(bytes: Buffer, headers: BodyHeaders): JsonValue {
    const text = checkBody(bytes, headers);
    const halves = halve(text);
    if (halves === null) return parseBodyText(text);
    const cached = parts.get(halves.known);
    if (cached === undefined) return learn(parts, text, halves);
    if (!halves.last) remember(halves.known, cached);
    const rest = parseBodyText(halves.rest);
    // With nothing in front of it, the comma before the document is a fault, and so is a name that stands in both halves.
    if (!isObject(rest) || Object.keys(rest).length === 0 || sharesName(cached, rest)) return parseBodyText(text);
    return halves.last ? { ...rest, ...cached } : { ...cached, ...rest };
  }

  /** The latest comes first. Those that are asked for are found before they get here. */
  function remember(part: string, memberTexts: Known): void {
    const bytes = Buffer.from(part.slice(0, -1) + variablesBehind.slice(1));
    prefixes.unshift({ bytes, known: memberTexts });
    if (prefixes.length > maxPrefixes) prefixes.pop();
  }

  return function parseKnownBody(bytes, headers) {
    if (bytes.length === 0) return undefined;
    const prefix = prefixes.find((prefix) => beginsWith(bytes, prefix.bytes));
    if (prefix === undefined) return parseWhole(bytes, headers);
    const rest = parseBodyText(`{"variables":${checkBody(bytes.subarray(prefix.bytes.length), headers)}`);
    return isObject(rest) && !sharesName(prefix.known, rest)
      ? { ...prefix.known, ...rest }
      : parseWhole(bytes, headers);
  };
}

function sharesName(memberTexts: Known, rest: FilterObject): boolean {
  return Object.keys(rest).some((name) => Object.hasOwn(memberTexts, name));
}

function beginsWith(bytes: Buffer, prefix: Buffer): boolean {
  const { length } = prefix;
  return bytes.length > length && bytes.compare(prefix, 0, length, 0, length) === 0;
}

/** Parses a body whole, and caches its known part if it has the expected form. */
function learn(parts: ReturnType<typeof createByteCache<Known>>, text: string, { known: part }: Halves): JsonValue {
  const body = parseBodyText(text);
  if (part.length <= longest) {
    const memberTexts = textsOf(part);
    if (memberTexts !== null) parts.set(part, memberTexts, part.length * bytesPerCharacter);
  }
  return body;
}

function textsOf(part: string): Known | null {
  try {
    const parsed: unknown = JSON.parse(part);
    if (typeof parsed !== 'object' || parsed === null) return null;
    const members = Object.entries(parsed);
    const texts = members.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : []));
    return texts.length === members.length ? Object.fromEntries(texts) : null;
  } catch {
    return null;
  }
}

const variablesBehind = '","variables":';
const queryBehind = ',"query":"';

/**
 * Cuts a body in front of its variables, or in front of its document where that comes last, as clients print it. Null
 * for any other. In a text of JSON both marks would have backslashes, or the part would be none that parses.
 */
function halve(text: string): Halves | null {
  if (text.startsWith('{"query":"')) {
    const position = text.indexOf(variablesBehind);
    return position === -1
      ? null
      : { known: `${text.slice(0, position + 1)}}`, rest: `{${text.slice(position + 2)}`, last: false };
  }
  const position = text.indexOf(queryBehind);
  return position === -1
    ? null
    : { known: `{${text.slice(position + 1)}`, rest: `${text.slice(0, position)}}`, last: true };
}
