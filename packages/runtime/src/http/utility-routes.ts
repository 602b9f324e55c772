/** The routes below `/utils`. Source: API specification, section 13. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createPasswords } from '../auth/passwords.ts';
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { withNumberTexts } from '../language/exact-numbers.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import type { Planner } from '../query/planner.ts';
import { systemSchemaOf } from '../system/schema.ts';
import { createMover } from '../utilities/move-item.ts';
import { createReverter } from '../utilities/revert.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import { bodyObject, requiredText } from './auth-body.ts';
import type { Endpoint, Handler } from './endpoints.ts';
import { plainParameters } from './plain-parameters.ts';
import { readPathTexts, splitTarget } from './target.ts';

/** Options of the utility routes. */
export interface UtilityEndpointsOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf'>;
  readonly answerer: Answerer;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
  /** Empties the caches of accounts and settings. */
  readonly forget: () => void;
}

/** Bytes of a text that is hashed, and characters of a random text, at most. */
const longestHashed = 1_024;
const longestRandom = 500;
const usualRandom = 32;

const sortPath = '/utils/sort/:collection';
const revertPath = '/utils/revert/:revision';

/** Makes the endpoints. */
export function createUtilityEndpoints(options: UtilityEndpointsOptions): readonly Endpoint[] {
  const { api, answerer, senderOf, forget } = options;
  const administrators = new Set(api.access.filter(({ admin }) => admin).map(({ name }) => name));
  const passwords = createPasswords();
  const moveItem = createMover(options);
  const revert = createReverter({ ...options, schema: systemSchemaOf(api) });

  const isAdmin = ({ accessClass }: Caller): boolean => administrators.has(accessClass);

  function mustBeKnown(caller: Caller): void {
    if (caller.user === null && !isAdmin(caller)) throw new PlatformError('FORBIDDEN');
  }

  function tell(exchange: Exchange, value: JsonValue): void {
    const body = Buffer.from(JSON.stringify({ data: value }));
    answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
  }

  function done(exchange: Exchange, status: 200 | 204): void {
    answerer.send(exchange, { status });
  }

  const randomString: Handler = async (exchange, { query }) => {
    tell(exchange, randomText(lengthOf(plainParameters(query, ['length']).get('length') ?? null)));
  };
  const generateHash: Handler = async (exchange, { caller }, body) => {
    mustBeKnown(caller);
    tell(exchange, await passwords.hash(hashedText(bodyObject(body))));
  };
  const verifyHash: Handler = async (exchange, { caller }, body) => {
    mustBeKnown(caller);
    const payload = bodyObject(body);
    const text = hashedText(payload);
    tell(exchange, await passwords.verify(payableHash(requiredText(payload, 'hash')), text));
  };
  const sort: Handler = async (exchange, { caller }, body) => {
    const payload = bodyObject(body);
    const move = { item: keyText(payload, 'item'), to: keyText(payload, 'to') };
    const collection = pathText(sortPath, exchange, 'collection');
    await moveItem({ caller, collection, sender: senderOf(exchange.request) }, move);
    done(exchange, 200);
  };
  const revertItem: Handler = async (exchange, { caller }) => {
    await revert({ caller, sender: senderOf(exchange.request) }, pathText(revertPath, exchange, 'revision'));
    done(exchange, 204);
  };
  const clearCache: Handler = async (exchange, { caller }) => {
    if (!isAdmin(caller)) throw new PlatformError('FORBIDDEN');
    forget();
    done(exchange, 200);
  };

  return [
    { url: '/utils/random/string', handlers: new Map([['GET', randomString]]) },
    { url: '/utils/hash/generate', handlers: new Map([['POST', generateHash]]) },
    { url: '/utils/hash/verify', handlers: new Map([['POST', verifyHash]]) },
    { url: sortPath, handlers: new Map([['POST', sort]]) },
    { url: revertPath, handlers: new Map([['POST', revertItem]]) },
    { url: '/utils/cache/clear', handlers: new Map([['POST', clearCache]]) },
  ];
}

function pathText(pattern: string, { request }: Exchange, name: string): string {
  return readPathTexts(pattern, splitTarget(request.url ?? '').path)?.get(name)?.[0] ?? '';
}

/** The length of a random text. Throws INVALID_QUERY. */
function lengthOf(text: string | null): number {
  if (text === null) return usualRandom;
  const length = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (length >= 1 && length <= longestRandom) return length;
  throw new PlatformError('INVALID_QUERY', `"length" must be an integer from 1 to ${longestRandom}.`);
}

/** Letters, digits, `-` and `_`, each as likely as any other: 6 bits of randomness a character. */
function randomText(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString('base64url')
    .slice(0, length);
}

function hashedText(body: Readonly<Record<string, JsonValue>>): string {
  const text = requiredText(body, 'string');
  if (Buffer.byteLength(text) > longestHashed) {
    throw new PlatformError('INVALID_PAYLOAD', `"string" must have at most ${longestHashed} bytes.`);
  }
  return text;
}

/** Most memory in KiB, passes and lanes of a hash that a request makes this server compute. */
const limit = { m: 65_536, t: 10, p: 4 } as const;

/**
 * Accepts a hash that a request may cause the cost of. Throws INVALID_PAYLOAD for a costlier one; an invalid hash
 * matches nothing.
 */
function payableHash(hash: string): string {
  const settings = new URLSearchParams(hash.split('$')[3]?.replaceAll(',', '&'));
  const dear = (['m', 't', 'p'] as const).some((name) => Number(settings.get(name) ?? 0) > limit[name]);
  if (dear || hash.length > 512)
    throw new PlatformError('INVALID_PAYLOAD', '"hash" costs more than this server computes.');
  return hash;
}

/** A key as payloads hold it: text in path form, or a number. Throws INVALID_PAYLOAD. */
function keyText(body: Readonly<Record<string, JsonValue>>, name: string): string {
  const value = withNumberTexts(body[name] ?? null);
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw new PlatformError('INVALID_PAYLOAD', `"${name}" must be a key.`);
}
