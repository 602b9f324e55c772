/** The routes of the user who asks. Source: API specification, section 3.1. */
import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { type OwnSql, script } from '../database/script.ts';
import { PlatformError } from '../errors.ts';
import { isObject } from '../language/filter-syntax.ts';
import type { CompiledApi, JsonValue } from '../language/index.ts';
import { byFamily, type SystemPlace } from '../system/place.ts';
import { firstRow } from '../write/own-rows.ts';
import { transactionNumber } from '../write/statement.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import type { ItemHandlers, ItemRequest } from './items.ts';

/** Handlers of `/users/me` and below. They reject with the error that answers the request. */
export interface OwnUserHandlers {
  read(request: ItemRequest): Promise<void>;
  update(request: ItemRequest, body: JsonValue | undefined): Promise<void>;
  trackPage(exchange: Exchange, caller: Caller, body: JsonValue | undefined): Promise<void>;
}

/** Options of the handlers. */
export interface OwnUserOptions {
  readonly api: CompiledApi;
  readonly place: SystemPlace;
  readonly items: ItemHandlers;
  readonly database: Pick<Database, 'transaction'>;
  readonly answerer: Answerer;
}

/** Characters of a page's path. */
const longestPage = 255;

/** Makes the handlers. */
export function createOwnUserHandlers(options: OwnUserOptions): OwnUserHandlers {
  const { api, place: systemPlace, items, database, answerer } = options;
  const readers = new Set(api.access.filter(readsUsers).map(({ name }) => name));
  const trackSql = byFamily<OwnSql>(systemPlace, {
    postgres: (schema) =>
      `UPDATE ${schema}.platform_users SET last_page = $2::text WHERE id = $1::uuid RETURNING ${transactionNumber}`,
    mysql: ({ table }) => script(`UPDATE ${table('platform_users')} SET last_page = $2 WHERE id = $1`),
  });
  return {
    async read(request) {
      const id = userOf(request.caller);
      if (readers.has(request.caller.accessClass)) return items.read(request, id);
      const body = Buffer.from(JSON.stringify({ data: { id } }));
      answerer.send(request.exchange, { status: 200, type: mediaTypes.json, body });
    },
    async update(request, body) {
      await items.updateOne(request, userOf(request.caller), body);
    },
    async trackPage(exchange, caller, body) {
      const id = userOf(caller);
      const page = pageOf(body);
      await database.transaction(async (transaction) => {
        const row = await firstRow(transaction, trackSql, [id, page]);
        if (row?.[0]) transaction.identify(row[0]);
        return { value: undefined };
      });
      answerer.send(exchange, { status: 204 });
    },
  };
}

function readsUsers({ collections }: CompiledApi['access'][number]): boolean {
  return collections.some(({ collection, read }) => collection === 'platform_users' && (read?.length ?? 0) > 0);
}

function userOf({ user }: Caller): string {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return user;
}

function pageOf(body: JsonValue | undefined): string | null {
  if (body === undefined || !isObject(body)) throw refused();
  const { last_page: page, ...rest } = body;
  if (page === undefined || Object.keys(rest).length > 0) throw refused();
  if (page !== null && (typeof page !== 'string' || page.includes('\0') || !page.isWellFormed())) throw refused();
  if (page !== null && [...page].length > longestPage) throw refused();
  return page;
}

function refused(): PlatformError {
  return new PlatformError(
    'INVALID_PAYLOAD',
    `"last_page" must be there, a text of at most ${longestPage} characters.`,
  );
}
