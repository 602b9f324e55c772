import { need, type OwnSql, script } from '../database/script.ts';
import { exactCollation, inputText } from '../dialects/mysql/texts.ts';
import type { CompiledApi, Dialect } from '../language/index.ts';
import { systemSchemaOf } from './schema.ts';

/** Where the platform's own tables lie, and whose SQL is spoken there. */
export interface SystemPlace {
  /** Quoted, as `systemSchemaOf` gives it. */
  readonly schema: string;
  readonly dialect: Dialect;
}

/** The location of the tables of an API; null where they were not installed when it was compiled. */
export function systemPlaceOf(api: Pick<CompiledApi, 'collections' | 'dialect'>): SystemPlace | null {
  const schema = systemSchemaOf(api);
  return schema === null ? null : { schema, dialect: api.dialect };
}

/** The same where the tables are there that writes leave something in. */
export function logPlaceOf(api: Pick<CompiledApi, 'collections' | 'dialect'>): SystemPlace | null {
  const names = new Set(api.collections.flatMap(({ system, name }) => (system ? [name] : [])));
  return names.has('platform_activity') && names.has('platform_revisions') ? systemPlaceOf(api) : null;
}

/** Chooses between a value for PostgreSQL and one for MySQL and MariaDB: once, when a server starts. */
export function byFamily<T>(
  location: SystemPlace,
  family: { readonly postgres: (schema: string) => T; readonly mysql: (tables: MysqlTables) => T },
): T {
  return location.dialect === 'postgres' ? family.postgres(location.schema) : family.mysql(mysqlTables(location));
}

/** The platform's tables on MySQL or MariaDB, and other parts of statements about them. */
export interface MysqlTables {
  /** A table as SQL names it. */
  table(name: string): string;
  /** A value of another table or list, to be compared with a text of these by its characters. */
  exactly(expression: string): string;
  /** A type of texts for a column of JSON_TABLE. */
  text(type: string): string;
  /** The elements of a list parameter (`$1[]`) as a table of the columns `n`, from 1, and `v`, texts. */
  list(parameter: string, alias: string): string;
  /** Clause that locks the rows of a table that is joined to a list, with a leading space. */
  lock(alias: string): string;
}

/** PostgreSQL's statement by which transactions take turns that name the same thing ($1). */
export const transactionLock =
  'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text';

/**
 * Makes a transaction wait until all others that named the same thing have ended: by a row on MySQL and MariaDB. The
 * name is one of the rows that the first migration writes, or the parameter that holds it.
 */
export function mysqlTurn({ table }: MysqlTables, name = '$1'): OwnSql {
  return script(need(`SELECT name FROM ${table('platform_locks')} WHERE name = ${name} FOR UPDATE`));
}

function mysqlTables({ schema, dialect }: SystemPlace): MysqlTables {
  const server = dialect === 'mariadb' ? 'mariadb' : 'mysql';
  return {
    table: (name) => (schema === '' ? name : `${schema}.${name}`),
    exactly: (expression) => `${expression} COLLATE ${exactCollation(server)}`,
    text: (type) => inputText(server, type),
    list: (parameter, alias) =>
      `JSON_TABLE(${parameter}, '$[*]' COLUMNS (n FOR ORDINALITY, v ${inputText(server, 'VARCHAR(512)')} PATH '$')) AS ${alias}`,
    // MySQL would lock the list, too, and does not; MariaDB knows no names there.
    lock: (alias) => (dialect === 'mariadb' ? ' FOR UPDATE' : ` FOR UPDATE OF ${alias}`),
  };
}

/** An instant, now unless it is named, and so many milliseconds more, as PostgreSQL writes an interval of them. */
export function mysqlAfter(parameter: string, instant = 'NOW(6)'): string {
  return `TIMESTAMPADD(MICROSECOND, SUBSTRING_INDEX(${parameter}, ' ', 1) * 1000, ${instant})`;
}
