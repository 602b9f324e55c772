import { PlatformError } from '../errors.ts';
import type { Database } from './database.ts';

/**
 * A database that refuses all writes, even if it would accept them: transactions answer SERVICE_UNAVAILABLE
 * (DATABASE_READ_ONLY).
 */
export function withoutWrites(database: Database): Database {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error('DATABASE_READ_ONLY is set.') }),
    );
  return { ...database, transaction: refuse, briefTransaction: refuse, schemaSession: refuse };
}
