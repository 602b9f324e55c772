import type { SystemPlace } from '../system/place.ts';
import { type MysqlTables, mysqlTables } from './mysql/own-tables/tables.ts';

/** Chooses between a value for PostgreSQL and one for MySQL and MariaDB: once, when a server starts. */
export function byFamily<T>(
  location: SystemPlace,
  family: { readonly postgres: (schema: string) => T; readonly mysql: (tables: MysqlTables) => T },
): T {
  return location.dialect === 'postgres' ? family.postgres(location.schema) : family.mysql(mysqlTables(location));
}
