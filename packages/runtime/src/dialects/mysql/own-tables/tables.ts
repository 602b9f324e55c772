import { createScript, type OwnSql, requireRow } from '../../../database/own-statements.ts';
import type { SystemPlace } from '../../../system/place.ts';
import { exactCollation, inputText } from '../texts.ts';

/** The platform's tables on MySQL or MariaDB, and other parts of statements about them. */
export type MysqlTables = ReturnType<typeof mysqlTables>;

/** Makes a transaction wait for others that named the same thing: by a row that exists, or by a parameter. */
export function mysqlTurn({ table }: MysqlTables, name = '$1'): OwnSql {
  return createScript(requireRow(`SELECT name FROM ${table('platform_locks')} WHERE name = ${name} FOR UPDATE`));
}

/**
 * The same by a row that is written. Nodes of a cluster know their own locks alone, but refuse the second of two transactions
 * that have written one row, and that runs again.
 */
export function mysqlWrittenTurn(tables: MysqlTables, name = '$1'): OwnSql {
  return createScript(raiseCounter(tables, 'turn', `UNHEX(SHA2(${name}, 256))`));
}

/** Raises a counter among those of attempts, which never ends. */
export function raiseCounter({ table }: MysqlTables, purpose: string, subject: string): string {
  return `INSERT INTO ${table('platform_auth_attempts')} (purpose, subject, attempts, expires_at)
VALUES ('${purpose}', ${subject}, 1, '9999-12-31') ON DUPLICATE KEY UPDATE attempts = attempts % 1000000000 + 1`;
}

export function mysqlTables({ schema, dialect }: SystemPlace) {
  const server = dialect === 'mariadb' ? 'mariadb' : 'mysql';
  return {
    table: (name: string): string => (schema === '' ? name : `${schema}.${name}`),
    /** A value of another table or list, to be compared with a text of these by its characters. */
    exactly: (expression: string): string => `${expression} COLLATE ${exactCollation(server)}`,
    /** A type of texts for a column of JSON_TABLE. */
    text: (type: string): string => inputText(server, type),
    /** The elements of a list parameter (`$1[]`) as a table of the columns `n`, from 1, and `v`, texts. */
    list: (parameter: string, alias: string): string =>
      `JSON_TABLE(${parameter}, '$[*]' COLUMNS (n FOR ORDINALITY, v ${inputText(server, 'VARCHAR(512)')} PATH '$')) AS ${alias}`,
    // MySQL would lock the list, too, and does not; MariaDB knows no names there.
    /** Clause that locks the rows of a table that is joined to a list, with a leading space. */
    lock: (alias: string): string => (dialect === 'mariadb' ? ' FOR UPDATE' : ` FOR UPDATE OF ${alias}`),
  };
}

/** An instant, now unless it is named, and so many milliseconds more, as PostgreSQL writes an interval of them. */
export function mysqlAfter(parameter: string, instant = 'NOW(6)'): string {
  return `TIMESTAMPADD(MICROSECOND, SUBSTRING_INDEX(${parameter}, ' ', 1) * 1000, ${instant})`;
}
