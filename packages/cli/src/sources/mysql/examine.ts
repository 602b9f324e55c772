/** Findings about a MySQL or MariaDB server: rights, replicas, clock, engines, and settings that writes need. */
import type { Schema, Table } from '@tablewright/introspect/schema';
import { printTable } from '@tablewright/runtime/language';
import { reasonOf } from '../../errors/failures.ts';
import { compareClock, type Examination, type Finding } from '../finding.ts';
import { quotedName, quotedTable, type Source } from '../source.ts';

/** Bytes of the largest value below which lists within items may not fit; both servers have as much by default. */
const usualPacket = 16 * 1024 * 1024;

/** Examinations of MySQL and MariaDB. */
export function mysqlExaminations(schema: Schema): readonly Examination[] {
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
  ];
}

async function replica({ run }: Source): Promise<readonly Finding[]> {
  const [row] = await run('SELECT @@global.read_only', []);
  if (['0', 'OFF'].includes(row?.[0] ?? '0')) return [];
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
      message: `${printTable('mysql', table.id)} is a table of ${engine}, which knows no transactions: what is written before an error stays.`,
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

interface Failure {
  readonly isDenied: boolean;
  readonly reason: string;
}

function failureOf(error: unknown): Failure {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return { isDenied: /^ER_(?:TABLE|COLUMN|DB)?ACCESS_DENIED_ERROR$/.test(code), reason: reasonOf(error) };
}

function unreadable(table: Table, { isDenied, reason }: Failure): Finding {
  const name = printTable('mysql', table.id);
  return {
    check: isDenied ? 'no-right' : 'unreadable',
    severity: 'problem',
    message: isDenied ? `The user of DATABASE_URL may not read ${name}.` : `${name} cannot be read: ${reason}.`,
    advice: isDenied
      ? `GRANT SELECT ON ${quotedTable('mysql', table)} to it, or leave the table out of the configuration.`
      : 'Repair it, or leave it out of the configuration.',
  };
}
