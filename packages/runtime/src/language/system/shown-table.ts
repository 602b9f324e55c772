import type { Dialect } from '../descriptors/wire.ts';

/** Schema name for the database of a connection to MySQL or MariaDB, which has no such name there. */
const ownSchema = 'public.';

/** A table as people know it, by its id or `schema.name`: `public.articles` of PostgreSQL, `articles` of MySQL and MariaDB. */
export function printTable(dialect: Dialect, id: string): string {
  return dialect !== 'postgres' && id.startsWith(ownSchema) ? id.slice(ownSchema.length) : id;
}
