/** How PostgreSQL would run a statement, and where no index could help it. */
import type { Parameter, Statement } from '@tablewright/runtime';
import { type MissingIndex, nodesOf, type Scan, type TablesByName, withoutIndex } from '../missing-index.ts';
import type { Source } from '../source.ts';

/** The plan as EXPLAIN prints it; with `analyze` the statement runs. */
export async function explainPostgres(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  analyze: boolean,
): Promise<readonly string[]> {
  const options = analyze ? 'ANALYZE, BUFFERS' : 'COSTS';
  const rows = await source.read(statement, parameters, `EXPLAIN (${options}) `);
  return rows.map(([line]) => line ?? '');
}

/** Asks for a plan that avoids reading tables as a whole; a table that it still reads so lacks an index. */
export async function missingInPostgres(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  tables: TablesByName,
): Promise<readonly MissingIndex[]> {
  const rows = await source.read(statement, parameters, 'EXPLAIN (FORMAT JSON, VERBOSE) ', ['enable_seqscan = off']);
  const plan: unknown = JSON.parse(rows.map(([text]) => text ?? '').join('\n'));
  return withoutIndex(nodesOf(plan).flatMap((node) => scanOf(node, tables)));
}

function scanOf(node: Readonly<Record<string, unknown>>, tables: TablesByName): readonly Scan[] {
  const { Filter: condition, 'Index Cond': served, 'Relation Name': name, Schema: schema, Alias: alias } = node;
  if (typeof condition !== 'string' || served !== undefined) return [];
  return [{ table: tables.get(`${schema}.${name}`), alias: `${alias}`, condition }];
}
