/** What tests found out that ask the same of PostgreSQL and of other servers, as a table: kinds of cases by servers. */

/** A test as vitest's JSON report tells it. */
export interface ReportedTest {
  /** The titles of the groups around it, the outermost first. */
  readonly ancestorTitles: readonly string[];
  readonly title?: string;
  readonly status: string;
}

/** A file with its tests. */
export interface ReportedFile {
  /** Its path. */
  readonly name: string;
  readonly assertionResults: readonly ReportedTest[];
}

const accountsKind = 'accounts, users, files: the same tests';
const rulesKind = 'rules, upsert, hooks: the same tests';

/** Kinds of cases, by the files that ask them: each in a group named for the server. */
const kinds: readonly (readonly [file: string, kind: string])[] = [
  ['contract/twins.test.ts', 'reads: the same bytes'],
  ['contract/twins-writes.test.ts', 'writes: the same bytes, the same rows'],
  ['contract/mariadb.test.ts', accountsKind],
  ['contract/mysql.test.ts', accountsKind],
  ['contract/mariadb-writes.test.ts', rulesKind],
  ['contract/mysql-writes.test.ts', rulesKind],
  ['contract/system-resources.test.ts', 'the thirteen system resources'],
  ['contract/model-mysql.test.ts', 'model: the same tests'],
  ['attack/model-faults.test.ts', 'model: broken connections'],
  ['database/mysql-transactions.test.ts', 'transactions'],
  ['attack/faults-mysql.test.ts', 'broken connections'],
  ['system/migrations-mysql.test.ts', 'migrations'],
  ['system/log-mysql.test.ts', 'history'],
];

const servers = ['MariaDB', 'MySQL'] as const;

/** The table, a line per kind; no lines where none of the files ran. */
export function contractTable(files: readonly ReportedFile[]): readonly string[] {
  const rows = [...new Set(kinds.map(([, kind]) => kind))].flatMap((kind) => {
    const asking = kinds.flatMap(([file, of]) => (of === kind ? [`/${file}`] : []));
    const own = files.filter(({ name }) => asking.some((file) => name.endsWith(file)));
    const tests = own.flatMap((one) => one.assertionResults);
    const cells = servers.map((server) => cellOf(tests.filter((test) => isOn(test, server))));
    return tests.length === 0 ? [] : [[kind, ...cells]];
  });
  if (rows.length === 0) return [];
  return aligned([['Cases that are as on PostgreSQL', ...servers], ...rows]);
}

/** Lines of a table with columns side by side. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function isOn({ ancestorTitles: [title = ''] }: ReportedTest, server: string): boolean {
  return new RegExp(`^(?:PostgreSQL and |on )?${server}\\b`).test(title);
}

/** `152 of 152`; a group that was skipped has no case that ran. */
export function cellOf(tests: readonly ReportedTest[]): string {
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  if (ran.length === 0) return 'not run';
  return `${ran.filter(({ status }) => status === 'passed').length} of ${ran.length}`;
}
