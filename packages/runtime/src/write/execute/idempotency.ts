/**
 * Requests that may be sent again: the first answer is kept in the transaction of its write, under the key that the client
 * chose. Source: API specification, section 17.
 */
import { hash } from 'node:crypto';
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { allRows, createPurge, firstRow, type TextRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { PlatformError } from '../../errors.ts';
import { invalidPayload } from '../../json/problems.ts';
import type { JsonValue } from '../../language/index.ts';
import type { SystemPlace } from '../../system/place.ts';

export type KeyedRequest = ReturnType<typeof keyRequest>;

export interface KeptAnswer {
  readonly status: number;
  /** Null for an empty one. */
  readonly body: Buffer | null;
}

/** Keeps answers under keys, in the tables of the platform. */
export interface AnswerKeeper {
  /**
   * Takes the key for this transaction and gives null, or the answer that is kept under it. Waits for another transaction
   * that has taken it. Throws UNPROCESSABLE_ENTITY when the key was used for another request.
   */
  claim(transaction: Transaction, request: KeyedRequest): Promise<KeptAnswer | null>;
  /** The answer that is kept under the key; null for none. Throws UNPROCESSABLE_ENTITY as `claim` does. */
  find(transaction: Transaction, request: KeyedRequest): Promise<KeptAnswer | null>;
  /** Sends an answer to be stored under a claimed key. If it fails, the transaction fails. */
  keep(transaction: Transaction, request: KeyedRequest, result: KeptAnswer): void;
}

/** Interval at which expired answers are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 60_000;
const maxPurged = 1_000;

/** Makes the keeper; `ttlMs` is how long an answer is kept. */
export function createAnswerKeeper(location: SystemPlace, ttlMs: number): AnswerKeeper {
  const texts = statements(location);
  const purgeOld = createPurge(texts.purge, purgeEveryMs);
  return {
    async claim(transaction, { caller, key, hash: requested }) {
      const ttl = `${ttlMs} milliseconds`;
      const claiming = firstRow(transaction, texts.take, [caller, key, requested, ttl]);
      // A claim of several steps may wait for another transaction, and the look must come after that.
      if (typeof texts.take !== 'string') await claiming;
      const looking = firstRow(transaction, texts.look, [caller, key]);
      purgeOld(transaction).catch(() => {});
      const [claimed, stored] = await Promise.all([claiming, looking]);
      const [number] = claimed ?? [];
      if (typeof number === 'string') {
        transaction.identify(number);
        const values = [caller, key, stored?.[3] ?? null];
        if (typeof texts.prove !== 'string') await allRows(transaction, texts.prove, values);
        else transaction.proof?.({ statement: { name: '', text: texts.prove }, parameters: values });
        return null;
      }
      return answerOf(stored, requested);
    },
    async find(transaction, { caller, key, hash: requested }) {
      const stored = await firstRow(transaction, texts.find, [caller, key]);
      return stored === undefined ? null : answerOf(stored, requested);
    },
    keep(transaction, { caller, key }, { status, body }) {
      const values = [caller, key, String(status), body === null ? null : body.toString('hex')];
      firstRow(transaction, texts.keep, values).catch(() => {});
    },
  };
}

/** The statements, each about a caller ($1) and a key ($2). */
function statements(location: SystemPlace) {
  const { table, text, hex, unhex, now, ...sql } = ownTables(location);
  const keys = table('platform_idempotency_keys');
  const named = 'k.caller = $1::text AND k.key = $2::text';
  const look = `SELECT ${hex('k.request_hash')}, ${text('k.status')}, ${hex('k.body')}, ${text('k.expires_at')}
FROM ${keys} AS k WHERE ${named}`;
  return {
    take: sql.statements.takeKey,
    prove: sql.statements.proveKey,
    look: sql.rows(look),
    find: sql.rows(`${look} AND k.status IS NOT NULL AND k.expires_at > ${now}`),
    /** $3 status, $4 body, hexadecimal. */
    keep: sql.write(
      sql.update(
        { target: `${keys} AS k`, alias: 'k', where: named },
        { status: '$3::pg_catalog.int2', content_type: "'application/json; charset=utf-8'", body: unhex('$4') },
      ),
    ),
    purge: sql.purge({
      ...{ table: keys, key: 'caller, key', by: 'expires_at', limit: maxPurged },
      where: `expires_at <= ${now}`,
    }),
  };
}

function answerOf(stored: TextRow | undefined, requested: string): KeptAnswer {
  const [hash, status, body] = stored ?? [];
  // It expired and was removed between the two looks; the next try finds the key free.
  if (hash === undefined || status === null) throw new PlatformError('SERVICE_UNAVAILABLE');
  if (hash !== requested) {
    throw new PlatformError('UNPROCESSABLE_ENTITY', 'This Idempotency-Key was used for another request.');
  }
  return { status: Number(status), body: typeof body === 'string' ? Buffer.from(body, 'hex') : null };
}

/** Reads the header. Throws INVALID_PAYLOAD unless it is 1 to 255 visible ASCII characters. */
export function readIdempotencyKey(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw invalidPayload('"Idempotency-Key" must be 1 to 255 visible ASCII characters.');
  }
  return header;
}

/** A request with its key and caller. `query` is the raw text of the address after the question mark. */
export interface IdempotentRequest {
  readonly key: string;
  readonly caller: Caller;
  readonly sender: { readonly ip: string | null };
  readonly collection: string;
  readonly query: string;
}

/** Names a request by its hash. Throws INVALID_PAYLOAD for a body that nests too deep to be compared with another. */
export function keyRequest(requested: IdempotentRequest, body: JsonValue | undefined) {
  const { accessClass, user, role, administrator = false } = requested.caller;
  // Anonymous callers are told apart by their IP address.
  const callerFacts = [accessClass, user, role, user === null && role === null ? requested.sender.ip : null];
  // A token that was renewed is no other request.
  const query = requested.query.split('&').filter((part) => !part.startsWith('access_token='));
  const what = [requested.collection, query.join('&'), body === undefined ? null : body];
  return {
    key: requested.key,
    /** Hash of who asks: the same key of two callers is two keys. */
    caller: hash('sha256', JSON.stringify(callerFacts), 'base64url'),
    /** True if the caller is told names that do not exist. */
    namesMissing: administrator,
    /** SHA-256 of what is asked, hexadecimal. */
    hash: hash('sha256', written(what)),
  } as const;
}

/** JSON is read without recursion, and written with it. */
function written(value: JsonValue): string {
  try {
    return JSON.stringify(value);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw invalidPayload('The body nests too deep.');
    throw thrown;
  }
}
