/** How PostgreSQL would run a statement, and where no index could help it. */
import type { Table } from '@platform/introspect/schema';
import type { Source } from '../source.ts';

/** A table whose rows are looked through one by one, because no index begins with a column that is asked about. */
export interface MissingIndex {
  /** `public.comments` */
  readonly table: string;
  /** What is asked, in PostgreSQL's words. */
  readonly condition: string;
  /** Columns of the table that the condition names, as a place to start. */
  readonly columns: readonly string[];
}

/** What a plan is compared with: tables by `schema.name`. */
export type TablesByName = ReadonlyMap<string, Table>;

/** The plan as EXPLAIN prints it; with `analyze` the statement runs. */
export async function explainStatement(
  source: Source,
  statement: string,
  parameters: readonly (string | null)[],
  { analyze }: { readonly analyze: boolean },
): Promise<readonly string[]> {
  const options = analyze ? 'ANALYZE, BUFFERS' : 'COSTS';
  const rows = await source.run(`EXPLAIN (${options}) ${statement}`, parameters);
  return rows.map(([line]) => line ?? '');
}

/** Asks for a plan that avoids reading tables as a whole, and for what is still read so looks for an index in vain. */
export async function missingIndexes(
  source: Source,
  statement: string,
  parameters: readonly (string | null)[],
  tables: TablesByName,
): Promise<readonly MissingIndex[]> {
  await source.run('SET enable_seqscan = off', []);
  try {
    const rows = await source.run(`EXPLAIN (FORMAT JSON, VERBOSE) ${statement}`, parameters);
    const plan: unknown = JSON.parse(rows.map(([text]) => text ?? '').join('\n'));
    const found = scansIn(plan, tables);
    return [...new Map(found.map((one) => [`${one.table} ${one.condition}`, one])).values()];
  } finally {
    await source.run('RESET enable_seqscan', []);
  }
}

function scansIn(value: unknown, tables: TablesByName): readonly MissingIndex[] {
  if (Array.isArray(value)) return value.flatMap((one) => scansIn(one, tables));
  if (typeof value !== 'object' || value === null) return [];
  return [...scanOf({ ...value }, tables), ...Object.values(value).flatMap((one) => scansIn(one, tables))];
}

function scanOf(node: Readonly<Record<string, unknown>>, tables: TablesByName): readonly MissingIndex[] {
  const { Filter: condition, 'Index Cond': served, 'Relation Name': name, Schema: schema, Alias: alias } = node;
  if (typeof condition !== 'string' || served !== undefined) return [];
  const table = tables.get(`${schema}.${name}`);
  if (table === undefined) return [];
  const columns = table.columns
    .map((column) => column.name)
    .filter((column) => mentions(condition, `${alias}`, column));
  const leading = [table.primaryKey, ...table.uniques, ...table.indexes].map((index) => index?.columns[0]);
  return columns.some((column) => leading.includes(column)) ? [] : [{ table: table.id, condition, columns }];
}

/** In verbose plans every column stands behind the alias of its table. */
function mentions(condition: string, alias: string, column: string): boolean {
  const quoted = [alias, column].map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`(?<![\\w"])"?${quoted[0]}"?\\."?${quoted[1]}"?(?![\\w"])`).test(condition);
}
