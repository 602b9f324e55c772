/**
 * The fast path: most requests below `/items`, and those of GraphQL, go from Node's server to their handler without the web
 * framework. Its router, request, body and reply take longer than the work itself, and decide nothing about it.
 *
 * All checks are the same. Token and route are read by the same `CallReader`, bodies by the same `parseBody`. Code that must
 * run before the handler of every request belongs there, not into a hook of the framework.
 */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../errors.ts';
import { createByteCache } from '../../graphql/byte-cache.ts';
import type { Call } from '../../http/call.ts';
import type { CreateShortcut, Handler } from '../../http/endpoints.ts';
import { toAnswerError } from '../../http/failures.ts';
import type { HttpContext } from '../../http/responses/answer.ts';
import { type BodyHeaders, checkBody, checkType, parseBody, parseBodyText } from '../../json/body.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { logFailure } from '../../operate/log.ts';
import { endWithResponse, requestRecord } from '../../operate/request-record.ts';
import { splitTarget } from '../../query/parse/target.ts';

/** True for requests of the fast path: GET below `/items`, POST or PATCH there, POST to GraphQL, of bounded length. */
function isDirect({ method, url = '', headers }: IncomingMessage, maxBytes: number): boolean {
  if (headers['transfer-encoding'] !== undefined) return false;
  const length = headers['content-length'];
  if (!url.startsWith('/items/')) {
    if (method !== 'POST' || !isGraphql(url)) return false;
  } else if (method === 'GET') return length === undefined;
  else if (method !== 'PATCH' && (method !== 'POST' || namesItem(url))) return false;
  return length !== undefined && length !== '0' && Number(length) <= maxBytes;
}

export const createFastPath: CreateShortcut = ({ readCall, endpoints, responder, log, maxBytes }) => {
  const parseKnownBody = createKnownBodyParser();
  const handlers = new Map<string, ReadonlyMap<string, Handler>>(
    endpoints.map((endpoint) => [endpoint.url, endpoint.handlers]),
  );

  function parse(bytes: Buffer, request: IncomingMessage, call: Call): JsonValue | undefined {
    return call.item === null ? parseKnownBody(bytes, request.headers) : parseBody(bytes, request.headers);
  }

  function handlerOf({ url = '', method = '' }: IncomingMessage, { item }: Call): Handler {
    const found =
      item === null
        ? (handlers.get(url) ?? handlers.get(splitTarget(url).path))
        : handlers.get(item.key === null ? '/items/:collection' : '/items/:collection/:key');
    const handler = found?.get(method);
    if (handler === undefined) throw new PlatformError('ROUTE_NOT_FOUND');
    return handler;
  }

  async function respond(httpContext: HttpContext): Promise<void> {
    const { request, response } = httpContext;
    const { [requestRecord]: record } = request;
    if (record !== undefined) record.isHandled = true;
    try {
      const read = readCall(request, true);
      const call = read instanceof Promise ? await read : read;
      if (record !== undefined) record.call = call;
      const handler = handlerOf(request, call);
      let body: JsonValue | undefined;
      if (request.method !== 'GET') {
        // A body that came together with its head is there in a moment, and needs no listener.
        await undefined;
        body = parse(takeWhole(request) ?? (await collect(request)), request, call);
      }
      await handler(httpContext, call, body);
    } catch (thrown) {
      const error = toAnswerError(thrown);
      logFailure(log, request, error);
      responder.fail(httpContext, error);
    }
    endWithResponse(response);
  }

  return { takes: (request) => isDirect(request, maxBytes), respond };
};

/** True if an address is one of GraphQL. */
function isGraphql(url: string): boolean {
  return url === '/graphql' || url === '/graphql/system' || /^\/graphql(?:\/system)?\?/.test(url);
}

/** True if a path below `/items` has more segments than the collection. */
function namesItem(url: string): boolean {
  const slash = url.indexOf('/', '/items/'.length);
  const separator = url.indexOf('?');
  return slash !== -1 && (separator === -1 || slash < separator);
}

/** A body that came together with its head; undefined for another one. */
function takeWhole(request: IncomingMessage): Buffer | undefined {
  // Node marks the request complete only later, so its length has to tell.
  if (request.readableLength !== Number(request.headers['content-length'])) return undefined;
  const whole: unknown = request.read();
  return whole instanceof Buffer ? whole : undefined;
}

/** Reads a body to its end; Node sees to it that it has the stated length. Rejects when the client leaves before. */
function collect(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)),
    );
    request.on('error', reject);
  });
}

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
  readonly readVariables: ReadPlainVariables;
}

/** Documents that are asked for now; comparing the bytes of each costs less than making a text of them. */
const maxPrefixes = 8;

/**
 * Makes the parser of a server, which parses a body as `parseBody` does where numbers are exact.
 *
 * Bodies of GraphQL requests. The part of a body that a client sends with a document, its text above all, is the same
 * in every request. Parsing it again takes longer than all the rest of the body, so that part is cached by its text.
 */
export function createKnownBodyParser(): (bytes: Buffer, headers: BodyHeaders) => JsonValue | undefined {
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
    prefixes.unshift({ bytes, known: memberTexts, readVariables: createVariableReader() });
    if (prefixes.length > maxPrefixes) prefixes.pop();
  }

  function parseParts(bytes: Buffer, headers: BodyHeaders): JsonValue {
    const prefix = prefixes.find((prefix) => beginsWith(bytes, prefix.bytes));
    if (prefix === undefined) return parseWhole(bytes, headers);
    const variables = prefix.readVariables(bytes, prefix.bytes.length);
    if (variables !== undefined && !Object.hasOwn(prefix.known, 'variables')) {
      checkType(headers);
      return { ...prefix.known, variables };
    }
    const rest = parseBodyText(`{"variables":${checkBody(bytes.subarray(prefix.bytes.length), headers)}`);
    return isObject(rest) && !sharesName(prefix.known, rest)
      ? { ...prefix.known, ...rest }
      : parseWhole(bytes, headers);
  }

  return function parseKnownBody(bytes, headers) {
    if (bytes.length === 0) return undefined;
    try {
      return parseParts(bytes, headers);
    } catch {
      // A fault has its place in the whole body.
      return parseBody(bytes, headers);
    }
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

/** Reads variables that stand from a position to the end of a body; undefined for others than `PlainVariables` reads. */
type ReadPlainVariables = (bytes: Buffer, start: number) => FilterObject | undefined;

const quote = 34;
const comma = 44;
const minus = 45;
const colon = 58;
const backslash = 92;
const openBrace = 123;
const closeBrace = 125;

/** A double holds every integer of so many digits. */
const safeDigits = 15;

/** Bytes of variables beyond which a parser is as quick; they bound the names that are kept, too. */
const longestPlain = 1_024;

/** Makes the reader of the variables of one document, whose names are mostly those of the request before. */
function createVariableReader(): ReadPlainVariables {
  const names: string[] = [];
  return function readVariables(bytes, start) {
    return bytes.length - start > longestPlain ? undefined : new PlainVariables(bytes, start, names).read();
  };
}

/**
 * Variables as most clients print them: an object of texts without escapes, integers, true, false and null, without
 * spaces and other than ASCII. Reading these few bytes takes a sixth of the time of a parser that is made for any text.
 */
class PlainVariables {
  readonly #bytes: Buffer;
  readonly #names: string[];
  #position: number;

  constructor(bytes: Buffer, start: number, names: string[]) {
    this.#bytes = bytes;
    this.#position = start;
    this.#names = names;
  }

  read(): FilterObject | undefined {
    const variables: Record<string, JsonValue> = {};
    let separator = this.#next();
    if (separator !== openBrace) return undefined;
    for (let index = 0; separator !== closeBrace; index++) {
      const name = this.#name(index);
      if (name === undefined || Object.hasOwn(variables, name)) return undefined;
      const value = this.#value();
      if (value === undefined) return undefined;
      variables[name] = value;
      separator = this.#next();
      if (separator !== comma && separator !== closeBrace) return undefined;
    }
    return this.#next() === closeBrace && this.#position === this.#bytes.length ? variables : undefined;
  }

  #next(): number | undefined {
    return this.#bytes[this.#position++];
  }

  /** A name that no object inherits, and the colon after it. */
  #name(index: number): string | undefined {
    const earlierName = this.#names[index];
    if (earlierName !== undefined && this.#skip(earlierName)) return earlierName;
    if (this.#next() !== quote) return undefined;
    const text = this.#text();
    if (text === undefined || !/^[a-z]\w*$/i.test(text) || this.#next() !== colon) return undefined;
    this.#names[index] = text;
    return text;
  }

  /** Passes a name that stands here with its quotes and its colon; else stays. */
  #skip(name: string): boolean {
    const bytes = this.#bytes;
    const from = this.#position + 1;
    const end = from + name.length;
    if (bytes[from - 1] !== quote || bytes[end] !== quote || bytes[end + 1] !== colon) return false;
    for (let index = 0; index < name.length; index++) if (bytes[from + index] !== name.charCodeAt(index)) return false;
    this.#position = end + 2;
    return true;
  }

  #value(): JsonValue | undefined {
    const first = this.#next();
    if (first === quote) return this.#text();
    if (first === 116) return this.#rest('rue', true);
    if (first === 102) return this.#rest('alse', false);
    if (first === 110) return this.#rest('ull', null);
    this.#position--;
    return this.#integer(first === minus);
  }

  #rest<T extends boolean | null>(text: string, value: T): T | undefined {
    for (let index = 0; index < text.length; index++) if (this.#next() !== text.charCodeAt(index)) return undefined;
    return value;
  }

  /** A text whose opening quote was read. */
  #text(): string | undefined {
    const bytes = this.#bytes;
    const start = this.#position;
    for (let position = start; position < bytes.length; position++) {
      const byte = bytes[position] ?? 0;
      if (byte === quote) {
        this.#position = position + 1;
        return bytes.toString('latin1', start, position);
      }
      if (byte < 32 || byte > 126 || byte === backslash) return undefined;
    }
    return undefined;
  }

  /** An integer other than -0, which a reader of JSON keeps. */
  #integer(isNegative: boolean): number | undefined {
    const bytes = this.#bytes;
    const start = isNegative ? this.#position + 1 : this.#position;
    let value = 0;
    let position = start;
    for (; position - start < safeDigits; position++) {
      const digit = (bytes[position] ?? 0) - 48;
      if (digit < 0 || digit > 9) break;
      value = 10 * value + digit;
    }
    // The byte after it is a comma or a brace, or the whole is read again.
    if (position === start || (bytes[start] === 48 && (isNegative || position > start + 1))) return undefined;
    this.#position = position;
    return isNegative ? -value : value;
  }
}
