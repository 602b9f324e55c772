/** The statements by which a server watches over the tables that its API is compiled of. */
import { modelRowsSql, permissionRowsSql, roleRowsSql } from '../contract/index.ts';
import type { ModelRows } from './recompile.ts';

/** Takes the lock of a name until the end of the transaction. */
export const lockSql =
  'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text';

/** Channel on which a process tells the others that it has changed the model. */
export const modelChannel = 'platform_model';

/** Tells it. */
export const tellSql = "SELECT pg_catalog.pg_notify($1::pg_catalog.text, '')::pg_catalog.text";

/** What there is to be watched. */
export interface WatchedTables {
  /** Quoted. */
  readonly schema: string;
  /** Whether roles and rules are compiled from the tables. */
  readonly permissions: boolean;
  /** Whether the tables of the model can be read, and the ledger of migrations. */
  readonly model: boolean;
  readonly ledger: boolean;
}

/** Reads everything of which the API is compiled. */
export async function readModelRows(
  tables: WatchedTables,
  run: (text: string) => Promise<ModelRows['model']>,
): Promise<ModelRows> {
  const sql = statementsOf(tables);
  return {
    roles: sql.roles === null ? [] : await run(sql.roles),
    rules: sql.rules === null ? [] : await run(sql.rules),
    model: sql.model === null ? [] : await run(sql.model),
  };
}

/** Prints the statement that gives one text, which is another one whenever one of the rows is. */
export function markSql(tables: WatchedTables): string {
  const statements = Object.values(statementsOf(tables)).filter((one) => one !== null);
  const parts = statements.map(
    (text) => `(SELECT pg_catalog.md5(pg_catalog.string_agg(one::pg_catalog.text, E'\\n')) FROM (${text}) AS one)`,
  );
  return `SELECT pg_catalog.concat_ws(' ', ${["'mark'", ...parts].join(', ')})`;
}

function statementsOf({ schema, permissions, model, ledger }: WatchedTables) {
  return {
    roles: permissions ? roleRowsSql(schema) : null,
    rules: permissions ? permissionRowsSql(schema) : null,
    model: model ? modelRowsSql(schema, ledger) : null,
  };
}
