/** The statements by which a server watches over the tables that its API is compiled of. */

import type { OwnSql } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { namesIn } from '../dialects/mysql/ddl/names.ts';
import { type MysqlTables, mysqlTurn } from '../dialects/mysql/own-tables/tables.ts';
import { transactionLock } from '../dialects/postgres/own-tables/transaction-lock.ts';
import {
  modelRowsSql,
  modelTablesSql,
  mysqlModelRowsSql,
  mysqlModelTablesSql,
  mysqlPermissionRowsSql,
  mysqlProjectTables,
  mysqlRoleRowsSql,
  permissionRowsSql,
  projectMigrationsSql,
  roleRowsSql,
} from '../language/index.ts';
import type { WatchedTables } from '../model/model-changer.ts';
import type { ModelRows } from '../model/recompiler.ts';
import type { SystemPlace } from '../system/place.ts';

/** Channel on which a process tells the others that it has changed the model. */
export const modelChannel = 'platform_model';

/**
 * Takes the lock, and gives the transaction the time that compiling takes: PostgreSQL would end it as one that has lost
 * its server, which the session says for all others.
 */
const lockSql = `SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '300000', true)
FROM (${transactionLock}) AS lock`;

const notifySql = "SELECT pg_catalog.pg_notify($1::pg_catalog.text, '')::pg_catalog.text";

/** Statements that hold for as long as a server runs. */
export interface ModelStatements {
  /** Takes the lock of a name until the end of the transaction. */
  readonly lock: OwnSql;
  /** Null where processes can tell each other nothing: then they look. */
  readonly notify: string | null;
  /** Reads name, checksum and text of the migrations of the project. */
  readonly migrations: string;
}

/** Prints them. */
export function modelStatements(location: SystemPlace): ModelStatements {
  return byFamily<ModelStatements>(location, {
    postgres: (schema) => ({ lock: lockSql, notify: notifySql, migrations: projectMigrationsSql(schema) }),
    mysql: (tables) => ({
      lock: mysqlTurn(tables),
      notify: null,
      migrations: mysqlProjectTables(location.schema).migrations,
    }),
  });
}

/** Asks what there is of the three tables and the ledger: `modelTablesSql`, with its parameter. */
export function modelTablesQuestion(location: SystemPlace): readonly [string, readonly (string | null)[]] {
  return byFamily<readonly [string, readonly (string | null)[]]>(location, {
    postgres: (schema) => [modelTablesSql, [schema]],
    mysql: () => [mysqlModelTablesSql, [namesIn(location.schema)[0] ?? null]],
  });
}

/** Reads everything of which the API is compiled. */
export async function readModelRows(
  tables: WatchedTables,
  run: (text: string) => Promise<ModelRows['model']>,
): Promise<ModelRows> {
  const { roles, rules, model } = rowStatements(tables);
  return {
    roles: roles === null ? [] : await run(roles),
    rules: rules === null ? [] : await run(rules),
    model: model === null ? [] : await run(model),
  };
}

/** Prints the statement that gives one text, which is another one whenever one of the rows is. */
export function markSql(tables: WatchedTables): string {
  return byFamily(tables.place, {
    postgres: () => postgresMark(Object.values(rowStatements(tables)).filter((text) => text !== null)),
    mysql: (mysqlTables) => mysqlMark(mysqlTables, tables),
  });
}

function rowStatements({ place: location, permissions, model, ledger }: WatchedTables) {
  const [roles, rules] = byFamily<readonly [string, string]>(location, {
    postgres: (schema) => [roleRowsSql(schema), permissionRowsSql(schema)],
    mysql: ({ table }) => [
      mysqlRoleRowsSql(table('platform_roles')),
      mysqlPermissionRowsSql(table('platform_permissions')),
    ],
  });
  return {
    roles: permissions ? roles : null,
    rules: permissions ? rules : null,
    model: model
      ? byFamily(location, {
          postgres: (schema) => modelRowsSql(schema, ledger),
          mysql: () => mysqlModelRowsSql(location.schema, ledger),
        })
      : null,
  };
}

function postgresMark(statements: readonly string[]): string {
  const parts = statements.map(
    (text) => `(SELECT pg_catalog.md5(pg_catalog.string_agg(one::pg_catalog.text, E'\\n')) FROM (${text}) AS one)`,
  );
  return `SELECT pg_catalog.concat_ws(' ', ${["'mark'", ...parts].join(', ')})`;
}

function mysqlMark({ table }: MysqlTables, { place: location, permissions, model, ledger }: WatchedTables): string {
  const digest = (columns: readonly string[], name: string): string => {
    // A null is told from an empty text, and the length in front tells where one value ends. As bytes, because JSON and
    // texts have collations that do not meet.
    const values = columns.map((column) => {
      const bytes = `CAST(CAST(${column} AS CHAR) AS BINARY)`;
      return `IFNULL(CONCAT(LENGTH(${bytes}), ':', ${bytes}), '~')`;
    });
    return `(SELECT SHA2(GROUP_CONCAT(CONCAT_WS(',', ${values.join(', ')}) ORDER BY id SEPARATOR '\\n'), 256) FROM ${table(name)})`;
  };
  const roleColumns = ['id', 'name', 'description', 'admin_access', 'app_access'];
  const ruleColumns = ['id', 'role', 'collection', 'action', 'permissions', 'validation', 'presets', 'fields'];
  const parts = [
    ...(permissions ? [digest(roleColumns, 'platform_roles'), digest(ruleColumns, 'platform_permissions')] : []),
    ...(model
      ? [
          `(SELECT SHA2(GROUP_CONCAT(CONCAT(kind, row_text) ORDER BY kind, CAST(row_text AS BINARY) SEPARATOR '\\n'), 256)
FROM (${mysqlModelRowsSql(location.schema, ledger)}) AS model_rows)`,
        ]
      : []),
  ];
  return `SELECT CONCAT_WS(' ', ${["'mark'", ...parts].join(', ')})`;
}
