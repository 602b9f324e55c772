/** Asking for a new password by mail. Source: API specification, section 2.6. */

import type { Database } from '../../database/database.ts';
import { firstRow } from '../../database/own-statements/own-rows.ts';
import { ownTables } from '../../dialects/index.ts';
import type { LinkEnvironment } from '../../environment/mail.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { Attempts } from '../attempts.ts';
import { makeMailedKey } from './mailed-token.ts';

/**
 * Puts a mail down for the user with that address, if there is one who may have it: one statement, whether or not. `url` is
 * where its link leads, null for the page of the platform. Rejects with REQUESTS_EXCEEDED.
 */
export type RequestReset = (email: string, url: URL | null, client: string) => Promise<void>;

/** Options of requesting a reset. */
export interface RequestResetOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly attempts: Pick<Attempts, 'mail'>;
  readonly environment: LinkEnvironment;
}

/** How often tokens of long ago are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

/** Makes it. */
export function createRequestReset({
  database,
  place: location,
  attempts,
  environment,
}: RequestResetOptions): RequestReset {
  const texts = ownTables(location).statements.mailedTokens;
  const ttl = `${environment.ttl} milliseconds`;
  let swept = Number.NEGATIVE_INFINITY;
  return async function requestReset(email, url, client) {
    await attempts.mail('reset', [email], client);
    const values = [email, makeMailedKey(), ttl, url?.href ?? null];
    await database.transaction(async (transaction) => {
      const [number] = (await firstRow(transaction, texts.requestReset, values)) ?? [];
      if (typeof number === 'string') transaction.identify(number);
      if (performance.now() - swept > purgeEveryMs) {
        swept = performance.now();
        await firstRow(transaction, texts.purge, [String(maxPurged)]);
      }
      return { value: undefined };
    });
  };
}
