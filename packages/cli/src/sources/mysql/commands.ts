import type { Parameter, Statement } from '@tablewright/runtime';
import { mysqlEncryption } from '@tablewright/runtime/mysql';
import { printTable } from '../../terminal/format.ts';
import { type ConnectionFacts, type FamilyCommands, isLocalHost } from '../commands.ts';
import { type MissingIndex, nodesOf, type Scan, type TablesByName, withoutIndex } from '../missing-index.ts';
import type { Source } from '../source.ts';
import { mysqlExaminations } from './examine.ts';
import { applyMysqlMigration, waitForChanges } from './migrations.ts';

/** Asks for the limits of connections of the server and of the user; 0 is none. */
const mysqlLimitsSql = 'SELECT @@global.max_connections, @@session.max_user_connections';

/** Columns of MariaDB's EXPLAIN, and of its ANALYZE, which runs the statement. */
const headings = {
  explain: ['id', 'select_type', 'table', 'type', 'possible_keys', 'key', 'key_len', 'ref', 'rows', 'Extra'],
  analyze: [
    ...['id', 'select_type', 'table', 'type', 'possible_keys', 'key', 'key_len', 'ref'],
    ...['rows', 'r_rows', 'filtered', 'r_filtered', 'Extra'],
  ],
};

/** The commands on MySQL and MariaDB. */
export const mysqlCommands: FamilyCommands = {
  examinations: mysqlExaminations,
  connection: mysqlConnection,
  limitsSql: mysqlLimitsSql,
  explain: explainMysql,
  missingIndexes: missingInMysql,
  hearTables: 'MySQL and MariaDB have no event triggers',
  waitForChanges,
  applyMigration: applyMysqlMigration,
};

/** Reads an address as the driver does. A certificate of another host proves nothing. */
function mysqlConnection(url: string): ConnectionFacts {
  const ssl = mysqlEncryption(url);
  return {
    isLocal: isLocalHost(new URL(url).hostname),
    encryption: ssl === undefined ? 'none' : ssl.verifyIdentity === true ? 'checked' : 'unchecked',
    checking: 'ssl-mode=verify_identity',
  };
}

/** The plan as the server prints it: MariaDB a table, MySQL a tree. With `analyze` the statement, a read, runs. */
function explainMysql(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  analyze: boolean,
): Promise<readonly string[]> {
  return asWriter(source, statement, () => printPlan(source, statement, parameters, analyze));
}

/** Runs a function that asks for plans. In a session that only reads, the servers refuse to plan a write. */
async function asWriter<T>({ run }: Source, { text }: Statement, work: () => Promise<T>): Promise<T> {
  if (/^SELECT\b/.test(text) && !/\bFOR UPDATE\b/.test(text)) return work();
  await run('START TRANSACTION READ WRITE', []);
  return work().finally(() => run('ROLLBACK', []));
}

async function printPlan(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  analyze: boolean,
): Promise<readonly string[]> {
  if (source.dialect === 'mysql') {
    const rows = await source.read(statement, parameters, analyze ? 'EXPLAIN ANALYZE ' : 'EXPLAIN FORMAT=TREE ');
    return rows.flatMap(([tree]) => (tree ?? '').trimEnd().split('\n'));
  }
  const rows = await source.read(statement, parameters, analyze ? 'ANALYZE ' : 'EXPLAIN ');
  const cells = rows.map((row) => row.map((cell) => cell ?? ''));
  return printTable(analyze ? headings.analyze : headings.explain, cells).split('\n');
}

/**
 * Finds tables that the plan reads as a whole, with or without an index, and filters by a condition whose columns begin
 * no index.
 */
async function missingInMysql(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  tables: TablesByName,
): Promise<readonly MissingIndex[]> {
  // Later servers would tell the plan in other words; earlier ones know no others.
  await source.run('SET SESSION explain_json_format_version = 1', []).catch(() => []);
  const rows = await asWriter(source, statement, () => source.read(statement, parameters, 'EXPLAIN FORMAT=JSON '));
  const plan: unknown = JSON.parse(quoted(rows.map(([text]) => text ?? '').join('\n')));
  const aliases = aliasesOf(statement.text);
  return withoutIndex(nodesOf(plan).flatMap((node) => scanOf(node, aliases, tables)));
}

/** MariaDB leaves double quotes within the texts of its JSON as they are. */
function quoted(json: string): string {
  return json.replaceAll(
    /^(\s*"\w+": ")(.*)("[,]?)$/gm,
    (_, before: string, text: string, after: string) => before + text.replaceAll(/(?<!\\)"/g, '\\"') + after,
  );
}

function scanOf(
  node: Readonly<Record<string, unknown>>,
  aliases: ReadonlyMap<string, string>,
  tables: TablesByName,
): readonly Scan[] {
  const { table_name: alias, access_type: access, attached_condition: condition } = node;
  if (typeof alias !== 'string' || typeof condition !== 'string' || (access !== 'ALL' && access !== 'index')) return [];
  return [{ table: tables.get(aliases.get(alias) ?? ''), alias, condition }];
}

/** The tables of a statement by their aliases, as `schema.name`; the database of the connection is `public`. */
function aliasesOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/(?:("(?:[^"]|"")*")\.)?("(?:[^"]|"")*") (t\d+)\b/g);
  return new Map(
    [...found].map(([, schema, name = '', alias = '']) => [
      alias,
      `${schema === undefined ? 'public' : unquoted(schema)}.${unquoted(name)}`,
    ]),
  );
}

function unquoted(name: string): string {
  return name.slice(1, -1).replaceAll('""', '"');
}
