/** Prints migrations of the platform's own tables for MySQL and MariaDB. */
import type { StepMigration } from '../../../system/ledger.ts';
import { made, type OwnColumn, type OwnMigration, type OwnTable, required } from '../../migrations/table.ts';
import { columnOf, indexesOf, literal, name, ruleOf } from '../../migrations/texts.ts';

const types: Readonly<Partial<Record<OwnColumn['type'], string>>> = {
  uuid: '{uuid}',
  boolean: 'tinyint(1)',
  integer: 'int',
  'json text': 'json',
  timestamp: 'timestamp(6)',
  datetime: 'datetime(6)',
  hash: 'varbinary(32)',
  bytes: 'longblob',
};

/** Longest lines that a rule, or a reference with its action, still stands on. */
const maxLine = { rule: 115, reference: 117 };

/** Parts of tables that are only theirs. */
interface Additions {
  readonly columns?: readonly string[];
  readonly keys?: readonly string[];
  readonly after?: readonly string[];
}

const additions: Readonly<Partial<Record<string, Additions>>> = {
  platform_locks: {
    after: [
      `INSERT IGNORE INTO platform_locks (name) VALUES
  ('platform.first-administrator'), ('platform.last-administrator'), ('platform.folder-moves'), ('platform.model')`,
    ],
  },
  // Addresses are compared by email_key. The servers cannot normalize to NFKC. Code that writes an address outside ASCII
  // also writes its comparison form, and the address that this form belongs to.
  platform_users: {
    columns: [
      'email_normal_of varchar(128)',
      'email_normal varchar(512)',
      `email_key varchar(512) GENERATED ALWAYS AS (
    CASE WHEN email_normal_of = email THEN email_normal ELSE LOWER(email) END
  ) STORED`,
    ],
    keys: ['UNIQUE KEY platform_users_email_key (email_key)'],
  },
};

/** Transactions take turns by locking one of its rows, as on PostgreSQL by advisory locks. */
const locks: OwnTable = { name: 'platform_locks', columns: { name: { type: 'varchar(64)', key: true } } };

/** Tables may refer to each other in any order, because keys are not checked meanwhile. */
export function printMysqlMigration({ name: migration, tables, up }: OwnMigration): StepMigration {
  const printed = migration === 'accounts' ? [locks, ...tables.map(placeFiles)] : tables;
  return {
    up: [...printed.flatMap(printTable), ...(up === undefined ? [] : [up])],
    tables: printed.map((table) => table.name).toReversed(),
  };
}

/** On PostgreSQL a later migration changes the table of files. */
function placeFiles(table: OwnTable): OwnTable {
  if (table.name !== 'platform_files') return table;
  const columns = { ...table.columns, storage: required('varchar(255)', 'local') };
  return { ...table, columns, indexes: [...(table.indexes ?? []), 'filename_disk'] };
}

function printTable(table: OwnTable): readonly string[] {
  const added = additions[table.name];
  const columns = Object.keys(table.columns);
  const lines = [
    ...columns.map((column) => printColumn(table, column)),
    ...(added?.columns ?? []),
    ...(table.key ? [`PRIMARY KEY (${quoted(table.key)})`] : []),
    ...columns.flatMap((column) => (columnOf(table, column).unique ? [uniqueKey(table, [column])] : [])),
    ...(table.unique ? [uniqueKey(table, table.unique)] : []),
    ...(added?.keys ?? []),
    ...indexesOf(table).map((index) => `KEY ${index.name} (${quoted(index.columns)})`),
    ...columns.flatMap((column) => printReference(table, column)),
    ...columns.flatMap((column) => printRule(`${table.name}_${column}`, ruleOf(column, columnOf(table, column)))),
    ...printRule(table.name, table.check),
  ];
  return [`CREATE TABLE IF NOT EXISTS ${table.name} (\n  ${lines.join(',\n  ')}\n) {table}`, ...(added?.after ?? [])];
}

function printColumn(table: OwnTable, column: string): string {
  const { type, key, default: fallback, required: isRequired } = columnOf(table, column);
  // A timestamp without a word about null takes none on some servers.
  const isNullable = isRequired !== true && key !== true;
  return [
    `${quoted([column])} ${types[type] ?? type}`,
    ...(isNullable ? (type === 'timestamp' ? ['NULL'] : []) : ['NOT NULL']),
    ...printDefault(fallback, type, isNullable),
    ...(key ? ['PRIMARY KEY'] : []),
  ].join(' ');
}

function printDefault(fallback: OwnColumn['default'], type: OwnColumn['type'], isNullable: boolean): readonly string[] {
  if (fallback === made.key) return [type === 'uuid' ? 'DEFAULT (UUID())' : 'AUTO_INCREMENT'];
  if (fallback === made.now) return ['DEFAULT CURRENT_TIMESTAMP(6)'];
  if (fallback === undefined) return isNullable && type === 'timestamp' ? ['DEFAULT NULL'] : [];
  // Columns of JSON have no default on all servers: writes name a value.
  if (type === 'json') return [];
  return [`DEFAULT ${typeof fallback === 'boolean' ? Number(fallback) : literal(fallback)}`];
}

function uniqueKey(table: OwnTable, columns: readonly string[]): string {
  return `UNIQUE KEY ${[table.name, ...columns, 'key'].join('_')} (${quoted(columns)})`;
}

function printReference(table: OwnTable, column: string): readonly string[] {
  const { references } = columnOf(table, column);
  if (references === undefined) return [];
  const constraint = `CONSTRAINT ${table.name}_${column}_fkey FOREIGN KEY (${name(column)})`;
  const target = `REFERENCES ${references.table} (${references.column})`;
  const { action = '' } = references;
  if (`  ${constraint} ${target}`.length > maxLine.reference) return [`${constraint}\n    ${target} ${action}`.trim()];
  const isLong = `  ${constraint} ${target} ${action}`.length > maxLine.reference;
  return [`${constraint} ${target}${isLong ? '\n    ' : ' '}${action}`.trim()];
}

function printRule(owner: string, rule: string | undefined): readonly string[] {
  if (rule === undefined) return [];
  const constraint = `CONSTRAINT ${owner}_check`;
  const isLong = `  ${constraint} CHECK (${rule})`.length > maxLine.rule;
  return [`${constraint}${isLong ? '\n    ' : ' '}CHECK (${rule})`];
}

/** `key` is a word of SQL there, too. */
function quoted(columns: readonly string[]): string {
  return columns.map((column) => (column === 'key' ? '"key"' : name(column))).join(', ');
}
