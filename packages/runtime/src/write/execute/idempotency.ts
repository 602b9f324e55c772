/**
 * Requests that may be sent again: the first answer is kept in the transaction of its write, under the key that the client
 * chose. Source: API specification, section 17.
 */

import { hash } from 'node:crypto';
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { allRows, firstRow } from '../../database/own-statements/own-rows.ts';
import {
  createScript,
  type OwnSql,
  proveCommit,
  requireRow,
  returnRows,
} from '../../database/own-statements/script.ts';
import type { TextRow } from '../../database/own-statements/texts.ts';
import { byFamily } from '../../dialects/by-family.ts';
import { type MysqlTables, mysqlAfter } from '../../dialects/mysql/own-tables/tables.ts';
import { PlatformError } from '../../errors.ts';
import { invalidPayload } from '../../json/problems.ts';
import type { JsonValue } from '../../language/index.ts';
import type { SystemPlace } from '../../system/place.ts';

/** A request under a key. */
export interface KeyedRequest {
  /** Hash of who asks: the same key of two callers is two keys. */
  readonly caller: string;
  readonly key: string;
  /** SHA-256 of what is asked, hexadecimal. */
  readonly hash: string;
}

/** An answer as it is sent. */
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
  /** Sends an answer to be stored under a claimed key. If it fails, the transaction fails. */
  keep(transaction: Transaction, request: KeyedRequest, result: KeptAnswer): void;
}

/** How often expired answers are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 60_000;
const maxPurged = 1_000;

/** The statements, each about a caller ($1) and a key ($2). */
interface Statements {
  /**
   * $3 hash of the request, $4 how long its answer is kept. Returns a row unless another request has claimed the key.
   */
  readonly claim: OwnSql;
  readonly look: OwnSql;
  /** $3 status, $4 body, hexadecimal. */
  readonly keep: OwnSql;
  readonly purge: OwnSql;
  /** Tells of the transaction, where its number does not: $3 when the row expires, as `look` tells it after the rest. */
  readonly notify?: OwnSql;
}

/** Makes the keeper; `ttlMs` is how long an answer is kept. */
export function createAnswerKeeper(location: SystemPlace, ttlMs: number): AnswerKeeper {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  let swept = Number.NEGATIVE_INFINITY;
  return {
    async claim(transaction, { caller, key, hash: requested }) {
      const ttl = `${ttlMs} milliseconds`;
      const claiming = firstRow(transaction, texts.claim, [caller, key, requested, ttl]);
      // A claim of several steps may wait for another transaction, and the look must come after that.
      if (typeof texts.claim !== 'string') await claiming;
      const looking = firstRow(transaction, texts.look, [caller, key]);
      if (performance.now() - swept > purgeEveryMs) {
        swept = performance.now();
        firstRow(transaction, texts.purge, []).catch(() => {});
      }
      const [claimed, stored] = await Promise.all([claiming, looking]);
      const [number] = claimed ?? [];
      if (typeof number === 'string') {
        transaction.identify(number);
        if (texts.notify !== undefined) await allRows(transaction, texts.notify, [caller, key, stored?.[3] ?? null]);
        return null;
      }
      return answerOf(stored, requested);
    },
    keep(transaction, { caller, key }, { status, body }) {
      const values = [caller, key, String(status), body === null ? null : body.toString('hex')];
      firstRow(transaction, texts.keep, values).catch(() => {});
    },
  };
}

function mysqlStatements({ table }: MysqlTables): Statements {
  const keys = table('platform_idempotency_keys');
  const named = 'caller = $1 AND "key" = $2';
  return {
    claim: createScript(
      `DELETE FROM ${keys} WHERE ${named} AND expires_at <= NOW(6)`,
      requireRow(`INSERT IGNORE INTO ${keys} (caller, "key", request_hash, expires_at)
VALUES ($1, $2, UNHEX($3), ${mysqlAfter('$4')})`),
    ),
    look: createScript(
      returnRows(`SELECT LOWER(HEX(request_hash)), CAST(status AS CHAR), HEX(body), CAST(expires_at AS CHAR)
FROM ${keys} WHERE ${named}`),
    ),
    // Another request under the key, after this one, would be another row: it expires at another time.
    notify: createScript(proveCommit(`SELECT 1 FROM ${keys} WHERE ${named} AND expires_at = $3`)),
    keep: createScript(`UPDATE ${keys} SET status = $3, content_type = 'application/json; charset=utf-8', body = UNHEX($4)
WHERE ${named}`),
    purge: createScript(`DELETE FROM ${keys} WHERE expires_at <= NOW(6) ORDER BY expires_at LIMIT ${maxPurged}`),
  };
}

function postgresStatements(schema: string): Statements {
  const table = `${schema}.platform_idempotency_keys`;
  return {
    // An expired answer is replaced. A request that waited for another transaction finds the row of that one, or none.
    claim: `INSERT INTO ${table} AS k (caller, key, request_hash, expires_at)
VALUES ($1::text, $2::text, pg_catalog.decode($3::text, 'hex'), pg_catalog.statement_timestamp() + $4::pg_catalog.interval)
ON CONFLICT (caller, key) DO UPDATE SET request_hash = excluded.request_hash, status = NULL, content_type = NULL,
  body = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
WHERE k.expires_at <= pg_catalog.statement_timestamp()
RETURNING pg_catalog.pg_current_xact_id()::pg_catalog.text`,
    look: `SELECT pg_catalog.encode(request_hash, 'hex'), status::pg_catalog.text, pg_catalog.encode(body, 'hex')
FROM ${table} WHERE caller = $1::text AND key = $2::text`,
    keep: `UPDATE ${table} SET status = $3::pg_catalog.int2, content_type = 'application/json; charset=utf-8',
  body = pg_catalog.decode($4::text, 'hex') WHERE caller = $1::text AND key = $2::text`,
    purge: `DELETE FROM ${table} WHERE (caller, key) IN (SELECT caller, key FROM ${table}
WHERE expires_at <= pg_catalog.statement_timestamp() ORDER BY expires_at LIMIT ${maxPurged} FOR UPDATE SKIP LOCKED)`,
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
export function keyRequest(requested: IdempotentRequest, body: JsonValue | undefined): KeyedRequest {
  const { accessClass, user, role } = requested.caller;
  // Anonymous callers are told apart by their IP address.
  const callerFacts = [accessClass, user, role, user === null && role === null ? requested.sender.ip : null];
  // A token that was renewed is no other request.
  const query = requested.query.split('&').filter((part) => !part.startsWith('access_token='));
  const what = [requested.collection, query.join('&'), body === undefined ? null : body];
  return {
    key: requested.key,
    caller: hash('sha256', JSON.stringify(callerFacts), 'base64url'),
    hash: hash('sha256', written(what)),
  };
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
