/**
 * The server that contract tests of accounts run on: PostgreSQL, or another one where `CONTRACT_DATABASE=mariadb` or
 * `CONTRACT_DATABASE=mysql` says so.
 */
import type { SystemPlace } from '@tablewright/runtime/tools';
import type mysql from 'mysql2/promise';
import { createDatabase, createFilledDatabase, type TestDatabase, withClient } from './database.ts';
import { emptyingQuickly } from './empty-tables.ts';
import { isOfSession, keepConnections } from './kept.ts';
import { connectMysql, createMysqlDatabase, type MysqlServer, type TableNames, withMysql } from './mariadb.ts';
import type { CountingProxy } from './proxy.ts';
import { servers } from './servers.ts';
import { installMysqlSystem, installSystem } from './system.ts';

/** A server of MySQL's family. */
type FamilyServer = (typeof servers)[number];

/** The server that they run on at this moment; undefined for PostgreSQL. */
function currentServer(): FamilyServer | undefined {
  return servers.find(({ dialect }) => dialect === process.env.CONTRACT_DATABASE);
}

/** What stands behind the name of a test that is left out on MySQL and MariaDB; nothing on PostgreSQL. */
export function skippedFor(why: string): string {
  return isOnMariadb() ? ` (skipped: ${why})` : '';
}

/** Whether they run on MariaDB or MySQL at this moment. */
export function isOnMariadb(): boolean {
  return currentServer() !== undefined;
}

/** How a server and its databases are set up. */
export interface FamilyDefaults {
  readonly names: TableNames;
  /** Of databases, unless something else is said. */
  readonly characterSet: 'latin1' | 'utf8mb3' | 'utf8mb4';
}

const usualDefaults: FamilyDefaults = { names: 'as written', characterSet: 'utf8mb4' };
let defaults = usualDefaults;

/** Runs what follows on MariaDB or MySQL, until the function is called that it returns. */
export function onMariadb(dialect: FamilyServer['dialect'] = 'mariadb', wanted = usualDefaults): () => void {
  const before = process.env.CONTRACT_DATABASE;
  process.env.CONTRACT_DATABASE = dialect;
  defaults = wanted;
  return () => {
    defaults = usualDefaults;
    if (before === undefined) delete process.env.CONTRACT_DATABASE;
    else process.env.CONTRACT_DATABASE = before;
  };
}

/** Runs a function whose projects lie on a server of that family; null: on that of the run. */
export async function onServer(dialect: FamilyServer['dialect'] | null, run: () => Promise<void>): Promise<void> {
  const back = dialect === null ? () => {} : onMariadb(dialect);
  try {
    await run();
  } finally {
    back();
  }
}

/** Where the platform's tables lie in the databases of this run. */
export function placeOfTests(): SystemPlace {
  const server = currentServer();
  return server === undefined ? { schema: '"platform"', dialect: 'postgres' } : { schema: '', dialect: server.dialect };
}

/** A database on the server of this run, that can be asked. */
export interface ContractDatabase extends TestDatabase {
  /** Runs statements, written for PostgreSQL, and gives the rows of the last one. */
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** The same, each row as the values of its columns. */
  cells(sql: string): Promise<readonly (readonly unknown[])[]>;
}

/** Makes a database and runs `sql` in it, written for PostgreSQL. */
export async function createContractDatabase(sql: string): Promise<ContractDatabase> {
  const server = currentServer();
  if (server === undefined) return withRows(await createDatabase(sql));
  const database = await createFamilyDatabase(server);
  await runMysql(database.url, sql, server);
  return withMysqlRows(database);
}

/** The same with the platform's own tables. */
export async function createSystemDatabase(sql: string): Promise<ContractDatabase> {
  const server = currentServer();
  if (server !== undefined) {
    const database = await createFamilyDatabase(server);
    await installMysqlSystem(database.url);
    await runMysql(database.url, sql, server);
    return withMysqlRows(database);
  }
  const database = await createFilledDatabase('system', (url) => installSystem(url));
  await withClient(database.url, (client) => client.query(sql));
  return withRows(database);
}

/** A database of PostgreSQL that can be asked. */
export function withRows(database: TestDatabase): ContractDatabase {
  const send: ContractDatabase['rows'] = (text, values) =>
    withClient(database.url, async (client) => {
      const results = [await client.query(values === undefined ? emptyingQuickly(text) : text, values && [...values])];
      return results.flat().at(-1)?.rows ?? [];
    });
  // A server that has just started looks at the tables that are emptied; nothing stays of what loses against it.
  const rows: ContractDatabase['rows'] = (text, values) =>
    send(text, values).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === '40P01') return send(text, values);
      throw error;
    });
  const cells: ContractDatabase['cells'] = (text) =>
    withClient(database.url, async (client) => (await client.query({ text, rowMode: 'array' })).rows);
  return { ...database, rows, cells };
}

function withMysqlRows(database: TestDatabase): ContractDatabase {
  return {
    ...database,
    rows: (text, values = []) => mysqlRows<Record<string, unknown>>(database.url, text, values, false),
    cells: (text) => mysqlRows<readonly unknown[]>(database.url, text, [], true),
  };
}

function runMysql(url: string, sql: string, { uuid }: FamilyServer): Promise<unknown> {
  // As the platform's tables have them, so that keys lead there.
  const identifier = uuid === 'uuid' ? uuid : `${uuid} CHARACTER SET ascii COLLATE ascii_bin`;
  return withMysql(url, async (connection) => {
    // What is no escape for PostgreSQL is none here.
    const modes = 'ANSI_QUOTES,STRICT_TRANS_TABLES,NO_BACKSLASH_ESCAPES';
    await connection.query(`SET SESSION sql_mode = '${modes}', time_zone = '+00:00'`);
    await connection.query(mysqlOf(withEnums(sql)).replaceAll(/\buuid\b(?!\()/gi, identifier));
  });
}

/** Enums, which have no names elsewhere, in the places of their names. */
function withEnums(sql: string): string {
  const types = [...sql.matchAll(/CREATE TYPE (\w+) AS ENUM (\([^)]*\));/g)];
  return types.reduce(
    (text, [whole, name = '', labels = '']) =>
      text.replace(whole, '').replaceAll(new RegExp(`\\b(\\w+) ${name}\\b(?=[ ,])`, 'g'), `$1 ENUM ${labels}`),
    sql,
  );
}

const started = new Map<string, Promise<MysqlServer>>();

/** Makes a database of a test's own on a server that all files of a worker share; it ends with the worker. */
async function createFamilyDatabase({ dialect, start, startFolding, exact }: FamilyServer): Promise<TestDatabase> {
  const { names, characterSet } = defaults;
  const server = started.get(dialect + names) ?? (names === 'lower case' ? startFolding() : start());
  started.set(dialect + names, server);
  const collation = characterSet === 'utf8mb4' ? exact : undefined;
  const url = await createMysqlDatabase(await server, 'SELECT 1', collation, characterSet);
  const name = new URL(url).pathname.slice(1);
  return {
    url,
    name,
    async drop() {
      await kept.close(url);
      await withMysql(url, (connection) => connection.query(`DROP DATABASE \`${name}\``));
    },
  };
}

/** What tests say to PostgreSQL, as MariaDB and MySQL take it: types, casts, and the schema of the platform's tables. */
export function mysqlOf(sql: string): string {
  return replacements.reduce((text, [pattern, by]) => text.replaceAll(pattern, by), sql);
}

const replacements: readonly (readonly [RegExp, string])[] = [
  [/\bplatform\.(?=platform_)/g, ''],
  [/\binteger GENERATED (?:BY DEFAULT|ALWAYS) AS IDENTITY/gi, 'int AUTO_INCREMENT'],
  [/\bbigint GENERATED (?:BY DEFAULT|ALWAYS) AS IDENTITY/gi, 'bigint AUTO_INCREMENT'],
  [/\bserial\b/gi, 'int AUTO_INCREMENT'],
  [/\bbigserial\b/gi, 'bigint AUTO_INCREMENT'],
  [/\bREFERENCES ((?:platform\.)?\w+)\b(?!\s*\()/g, 'REFERENCES $1 (id)'],
  [/\bgen_random_uuid\(\)/gi, '(uuid())'],
  // MySQL takes no plain constant for a text.
  [/\b(text(?: NOT NULL)?) DEFAULT ('(?:[^']|'')*')/gi, '$1 DEFAULT ($2)'],
  [/([\w."]+)::text\b(?!\[)/g, 'CAST($1 AS CHAR)'],
  [/::(?:pg_catalog\.)?[a-z_]+(?:\[\])?/gi, ''],
  [/\bjsonb\b/gi, 'json'],
  [/\btimestamptz\b/gi, 'timestamp(6)'],
  [/\bbool(?:ean)?\b/gi, 'tinyint(1)'],
  [/\binterval '(\d+) (\w+?)s?'/gi, 'interval $1 $2'],
  [/\bnow\(\)/gi, 'now(6)'],
  [/= ANY \(\$\d+(?:::\w+\[\])?\)/g, 'IN (?)'],
  [/([\w.]+)->>'(\w+)'/g, "JSON_VALUE($1, '$.$2')"],
  [/\bSELECT FROM\b/g, 'SELECT 1 FROM'],
  [/\bbool_and\(/g, 'min('],
  [/\bbool_or\(/g, 'max('],
  [/\bcount\((\*|[\w.]+)\)::int\b/g, 'count($1)'],
  [/\$\d+/g, '?'],
];

async function openSession(url: string): Promise<mysql.Connection> {
  const connection = await connectMysql(url);
  connection.on('error', () => {});
  await connection.query("SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES', time_zone = '+00:00'");
  await connection.query('/*!80000 SET SESSION information_schema_stats_expiry = 0 */');
  return connection;
}

async function withSession<T>(url: string, use: (connection: mysql.Connection) => Promise<T>): Promise<T> {
  const connection = await openSession(url);
  return use(connection).finally(() => connection.end());
}

const kept = keepConnections<mysql.Connection>({
  open: openSession,
  close: (connection) => connection.end(),
  wasLost: (_, error) => error instanceof Error && 'fatal' in error && error.fatal === true,
});

/** Runs one statement of a test and gives its rows, with the values that PostgreSQL's driver gives. */
function mysqlRows<Row>(
  url: string,
  sql: string,
  values: readonly unknown[],
  rowsAsArray: boolean,
): Promise<readonly Row[]> {
  const order = [...sql.matchAll(/\$(\d+)/g)].map(([, place]) => values[Number(place) - 1]);
  return (isOfSession(sql) ? withSession : kept.use)(url, async (connection) => {
    let rows: readonly unknown[] = [];
    for (const statements of scriptsOf(sql)) {
      const [, tables] = truncation.exec(statements[0] ?? '') ?? [];
      rows =
        tables === undefined
          ? await rowsOf(connection, statements, order, rowsAsArray)
          : await empty(connection, url, tables);
    }
    // The shape of a row is what the test asks for.
    return rows as readonly Row[];
  });
}

const truncation = /^\s*TRUNCATE\s+([\w.,\s]+?)(?:\s+RESTART IDENTITY)?(?:\s+CASCADE)?;?\s*$/;

/** Statements that the server runs one after the other by itself; each TRUNCATE is alone. */
function scriptsOf(sql: string): readonly (readonly string[])[] {
  const scripts: string[][] = [];
  for (const statement of sql.split(/;\s*(?=\S)/)) {
    const last = scripts.at(-1);
    if (last === undefined || [statement, last[0] ?? ''].some((one) => truncation.test(one))) scripts.push([statement]);
    else last.push(statement);
  }
  return scripts;
}

async function rowsOf(
  connection: mysql.Connection,
  statements: readonly string[],
  values: readonly unknown[],
  rowsAsArray: boolean,
): Promise<readonly unknown[]> {
  const [results] = await connection.query<mysql.RowDataPacket[] | mysql.ResultSetHeader>({
    sql: mysqlOf(statements.join('; ')),
    values: [...values],
    rowsAsArray,
    typeCast: (field, next) => {
      if (isFlag(field)) return asFlag(field.string());
      if ('extendedFormat' in field && field.extendedFormat === 'json') return parsed(field.string());
      // PostgreSQL's driver gives those of columns as texts.
      return field.type === 'LONGLONG' && field.table !== '' ? field.string() : next();
    },
  });
  const rows: unknown = statements.length > 1 && Array.isArray(results) ? results.at(-1) : results;
  return Array.isArray(rows) ? rows : [];
}

/** How tables are emptied: statements in an order that their foreign keys allow, and those whose keys are counted. */
interface Emptying {
  readonly deletes: string;
  readonly counted: readonly string[];
}

/** By the address of the database and the names of the tables. */
const emptyings = new Map<string, Emptying>();

/** Empties tables that refer to each other; their keys begin at 1 again. */
async function empty(connection: mysql.Connection, url: string, names: string): Promise<readonly []> {
  const key = `${url} ${names}`;
  const known = emptyings.get(key);
  // Rows that were not there before may refer to others.
  const isEmptied = known !== undefined && (await connection.query(known.deletes).then(Boolean, () => false));
  const emptying = known !== undefined && isEmptied ? known : await findEmptying(connection, names);
  emptyings.set(key, emptying);
  if (emptying.counted.length === 0) return [];
  const [counted] = await connection.query<mysql.RowDataPacket[]>(emptying.counted.map(countedSql).join(' UNION ALL '));
  // Changes of a definition are slow, above all in a cluster.
  const begun = counted.map(({ name }) => `ALTER TABLE "${name}" AUTO_INCREMENT = 1`);
  if (begun.length > 0) await connection.query(begun.join('; '));
  return [];
}

const unwritable = 'does not comply with the requirements by an external plugin';
const [unbound, bound] = [0, 1].map((value) => `SET SESSION foreign_key_checks = ${value}`);

/** Empties the tables in an order that it finds. */
async function findEmptying(connection: mysql.Connection, names: string): Promise<Emptying> {
  const tables = mysqlOf(names)
    .split(',')
    .map((name) => name.trim());
  const deletes: (string | undefined)[] = [];
  // A script that failed may have left them unbound.
  await connection.query(bound ?? '');
  let left = tables;
  for (let round = 0; left.length > 0; round++) {
    const failed: string[] = [];
    // What is left refers to itself, or to each other in a circle.
    if (round === 4) {
      await connection.query(unbound ?? '');
      deletes.push(unbound);
    }
    for (const name of left) {
      const sql = `DELETE FROM ${name}`;
      await connection.query(sql).then(
        () => deletes.push(sql),
        (error: unknown) => {
          // A group takes no writes of a table without a primary key, so that it stays empty.
          if (String(error).includes(unwritable)) return;
          if (round > 5) throw error;
          failed.push(name);
        },
      );
    }
    left = failed;
  }
  await connection.query(bound ?? '');
  const [counted] = await connection.query<mysql.RowDataPacket[]>(
    "SELECT TABLE_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND EXTRA LIKE '%auto_increment%'",
  );
  const isEmptied = (name: string) => tables.some((table) => table.replaceAll('"', '').toLowerCase() === name);
  return {
    deletes: [...deletes, bound].join('; '),
    counted: counted.map(({ name }) => String(name)).filter((name) => isEmptied(name.toLowerCase())),
  };
}

/** Each by itself, because the server opens all tables where a condition names several. */
const countedSql = (name: string): string =>
  `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${name}' AND AUTO_INCREMENT > 1`;

/** A column of a flag, or a comparison. */
function isFlag({ type, length }: { readonly type: string; readonly length: number }): boolean {
  return ['TINY', 'LONG', 'LONGLONG'].includes(type) && length === 1;
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function asFlag(text: string | null): boolean | null {
  return text === null ? null : text === '1';
}

/** Stands for the proxy that notes statements, which knows the protocol of PostgreSQL alone. */
export function uncounted(url: string): CountingProxy {
  const refuse = (): never => {
    throw new Error('Statements are noted on PostgreSQL only.');
  };
  return { url, executed: refuse, texts: refuse, ran: refuse, errors: refuse, reset: refuse, close: async () => {} };
}
