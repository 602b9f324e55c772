import type { Schema, Table } from '@tablewright/introspect/schema';
import type { Statement } from '@tablewright/runtime';
import { printTable as tableName } from '@tablewright/runtime/language';
import { mysqlEncryption, parsePlan } from '@tablewright/runtime/mysql';
import { reasonOf } from '../../errors/failures.ts';
import { printTable } from '../../terminal/format.ts';
import { type ConnectionFacts, type FamilyCommands, isLocalHost } from '../commands.ts';
import { compareClock, type Examination, type Finding, privilegesToWrite, type WritePrivilege } from '../finding.ts';
import { nodesOf, type Scan, type TablesByName, withoutIndex } from '../missing-index.ts';
import { quotedName, quotedTable, type Source } from '../source.ts';
import { applyOnMysql, waitForChanges } from './migrations.ts';

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

/** Bytes of the largest value below which lists within items may not fit; both servers have as much by default. */
const usualPacket = 16 * 1024 * 1024;

export const mysqlCommands: FamilyCommands = {
  examinations: mysqlExaminations,
  connection: mysqlConnection,
  limitsSql: mysqlLimitsSql,
  explain: (source, statement, parameters, analyze) =>
    asWriter(source, statement, () => printPlan(source, statement, parameters, analyze)),
  // Tables that the plan reads as a whole, and filters by a condition whose columns begin no index.
  async missingIndexes(source, statement, parameters, tables) {
    // Later servers would tell the plan in other words; earlier ones know no others.
    await source.run('SET SESSION explain_json_format_version = 1', []).catch(() => []);
    const rows = await asWriter(source, statement, () => source.read(statement, parameters, 'EXPLAIN FORMAT=JSON '));
    const plan = parsePlan(rows.map(([text]) => text ?? '').join('\n'));
    const aliases = aliasesOf(statement.text);
    return withoutIndex(nodesOf(plan).flatMap((node) => scanOf(node, aliases, tables)));
  },
  hearTables: 'MySQL and MariaDB have no event triggers',
  waitForChanges,
  applyMigration: applyOnMysql,
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

/** Runs a function that asks for plans. In a session that only reads, the servers refuse to plan a write. */
async function asWriter<T>({ run }: Source, { text }: Statement, work: () => Promise<T>): Promise<T> {
  if (/^SELECT\b/.test(text) && !/\bFOR UPDATE\b/.test(text)) return work();
  await run('START TRANSACTION READ WRITE', []);
  return work().finally(() => run('ROLLBACK', []));
}

/** The plan as the server prints it: MariaDB a table, MySQL a tree. With `analyze` the statement, a read, runs. */
const printPlan: FamilyCommands['explain'] = async (source, statement, parameters, analyze) => {
  if (source.dialect === 'mysql') {
    const rows = await source.read(statement, parameters, analyze ? 'EXPLAIN ANALYZE ' : 'EXPLAIN FORMAT=TREE ');
    return rows.flatMap(([tree]) => (tree ?? '').trimEnd().split('\n'));
  }
  const rows = await source.read(statement, parameters, analyze ? 'ANALYZE ' : 'EXPLAIN ');
  const cells = rows.map((row) => row.map((cell) => cell ?? ''));
  return printTable(analyze ? headings.analyze : headings.explain, cells).split('\n');
};

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

function mysqlExaminations(schema: Schema): readonly Examination[] {
  const used = new Set(schema.collections.map(({ table }) => table));
  const tables = schema.tables.filter(({ id }) => used.has(id));
  return [
    replica,
    superuser,
    (source) => compareClock(source, 'SELECT UNIX_TIMESTAMP(NOW(6))'),
    binaryLog,
    packets,
    (source) => engines(source, tables),
    (source) => privileges(source, tables),
    (source) => writes(source, schema),
  ];
}

async function isReadOnly({ run }: Source): Promise<boolean> {
  const [row] = await run('SELECT @@global.read_only', []);
  return !['0', 'OFF'].includes(row?.[0] ?? '0');
}

async function replica(source: Source): Promise<readonly Finding[]> {
  if (!(await isReadOnly(source))) return [];
  const message = 'The server is read-only, as replicas are: it can be read and not written.';
  return [{ check: 'standby', severity: 'warning', message, advice: 'Let DATABASE_URL lead to the primary.' }];
}

async function superuser({ run }: Source): Promise<readonly Finding[]> {
  const [row] = await run(
    `SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'SUPER' AND GRANTEE =
       CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')`,
    [],
  );
  if (row?.[0] === '0') return [];
  const message = 'The user of DATABASE_URL may do everything on the server.';
  const advice = 'Give the server a user with the rights it needs, on the databases it needs.';
  return [{ check: 'superuser', severity: 'warning', message, advice }];
}

/** Writes run at READ COMMITTED, which the servers refuse to log as statements. */
async function binaryLog({ run }: Source): Promise<readonly Finding[]> {
  const [row] = await run('SELECT @@global.log_bin, @@global.binlog_format', []);
  if (row?.[0] !== '1' || row[1] !== 'STATEMENT') return [];
  const message = 'The server logs statements (binlog_format=STATEMENT), so it refuses to write.';
  return [{ check: 'binary-log', severity: 'problem', message, advice: 'Set binlog_format to ROW or MIXED.' }];
}

async function packets({ run }: Source): Promise<readonly Finding[]> {
  const [row] = await run('SELECT @@global.max_allowed_packet', []);
  const bytes = Number(row?.[0]);
  if (!(bytes < usualPacket)) return [];
  const message = `The related items of one item may have ${Math.floor(bytes / 1024)} kB (max_allowed_packet); more is refused.`;
  return [{ check: 'packet-size', severity: 'note', message, advice: 'Raise max_allowed_packet to 16M.' }];
}

async function engines({ run }: Source, tables: readonly Table[]): Promise<readonly Finding[]> {
  const rows = await run(
    `SELECT IF(t.TABLE_SCHEMA = DATABASE(), 'public', t.TABLE_SCHEMA), t.TABLE_NAME, t.ENGINE
     FROM information_schema.TABLES t JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
     WHERE e.TRANSACTIONS = 'NO' AND t.TABLE_TYPE = 'BASE TABLE' ORDER BY 1, 2`,
    [],
  );
  return rows.flatMap(([schema, name, engine]) => {
    const table = tables.find((candidate) => candidate.schema === schema && candidate.name === name);
    if (table === undefined) return [];
    return {
      check: 'no-transactions',
      severity: 'warning' as const,
      message: `${tableName('mysql', table.id)} is a table of ${engine}, which knows no transactions: what is written before an error stays.`,
      advice: `ALTER TABLE ${quotedTable('mysql', table)} ENGINE = InnoDB;`,
    };
  });
}

/** Tables are only seen by who has some right on them; here each is asked for all of its columns. */
async function privileges({ run }: Source, tables: readonly Table[]): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const table of tables) {
    const columns = table.columns.map(({ name }) => quotedName('mysql', name)).join(', ');
    const failure = await run(`SELECT ${columns} FROM ${quotedTable('mysql', table)} LIMIT 0`, []).then(
      () => null,
      failureOf,
    );
    if (failure !== null) found.push(unreadable(table, failure));
  }
  return found;
}

type Failure = ReturnType<typeof failureOf>;

function failureOf(error: unknown) {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return { isDenied: /^ER_(?:TABLE|COLUMN|DB)?ACCESS_DENIED_ERROR$/.test(code), reason: reasonOf(error) };
}

function unreadable(table: Table, { isDenied, reason }: Failure): Finding {
  const name = tableName('mysql', table.id);
  return {
    check: isDenied ? 'no-right' : 'unreadable',
    severity: 'problem',
    message: isDenied ? `The user of DATABASE_URL may not read ${name}.` : `${name} cannot be read: ${reason}.`,
    advice: isDenied
      ? `GRANT SELECT ON ${quotedTable('mysql', table)} to it, or leave the table out of the configuration.`
      : 'Repair it, or leave it out of the configuration.',
  };
}

/** Rights to write are told by plans, which the servers make only for users who have them. */
async function writes(source: Source, schema: Schema): Promise<readonly Finding[]> {
  // There the servers refuse all writes before they look at rights.
  if (await isReadOnly(source)) return [];
  const { run } = source;
  const isDenied = (sql: string): Promise<boolean> =>
    run(`EXPLAIN ${sql}`, []).then(
      () => false,
      (error: unknown) => failureOf(error).isDenied,
    );
  const lacks = async (table: Table, privilege: WritePrivilege): Promise<boolean> => {
    for (const sql of statementsFor(table, privilege)) if (!(await isDenied(sql))) return false;
    return true;
  };
  const lacking = new Map<string, string[]>();
  // In a session that only reads, the servers refuse to plan a write.
  await run('START TRANSACTION READ WRITE', []);
  for (const { table, required } of privilegesToWrite(schema)) {
    const missing: WritePrivilege[] = [];
    for (const privilege of required) if (await lacks(table, privilege)) missing.push(privilege);
    const list = missing.join(', ');
    lacking.set(list, [...(lacking.get(list) ?? []), tableName('mysql', table.id)]);
  }
  await run('ROLLBACK', []);
  lacking.delete('');
  return [...lacking].map(([list, names]) => ({
    check: 'no-right',
    severity: 'warning',
    message: `The user of DATABASE_URL lacks ${list} on ${names.join(', ')}: writes that are allowed are SERVICE_UNAVAILABLE.`,
    advice: `GRANT it ${list} on each of them, or leave out the rules that need it.`,
  }));
}

/** Statements of which one may be planned by a user with a right on a table, or on one of its columns. */
function statementsFor(table: Table, privilege: WritePrivilege): readonly string[] {
  const target = quotedTable('mysql', table);
  const columns = table.columns
    .filter(({ fill }) => fill.kind !== 'generated')
    .map(({ name }) => quotedName('mysql', name));
  if (privilege === 'DELETE') return [`DELETE FROM ${target} WHERE FALSE`];
  if (privilege === 'UPDATE') return columns.map((column) => `UPDATE ${target} SET ${column} = ${column} WHERE FALSE`);
  return columns.map((column) => `INSERT INTO ${target} (${column}) VALUES (DEFAULT)`);
}
