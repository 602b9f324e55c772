/** How PostgreSQL would run a statement of the server, whatever its values. */
import { sessionSql } from '../../packages/runtime/src/dialects/postgres/driver/options.ts';
import { withClient } from './database.ts';

/** The generic plan of a statement with parameters, one line per step; tables are only read whole where nothing else helps. */
export async function explain(databaseUrl: string, statement: string): Promise<readonly string[]> {
  const values = nullsOf(statement);
  return withClient(databaseUrl, async (client) => {
    await client.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE explained AS ${statement}`);
    const { rows } = await client.query(`EXPLAIN (COSTS OFF) EXECUTE explained${values && ` (${values})`}`);
    return rows.map((row) => String(Object.values(row)[0]).trim());
  });
}

/** A step of a plan, as PostgreSQL describes it in JSON. */
export interface PlanStep {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Parent Relationship'?: string;
  readonly Plans?: readonly PlanStep[];
}

/** The generic plan of a statement in a session of the server's own settings. */
export async function planOf(databaseUrl: string, statement: string): Promise<PlanStep> {
  const values = nullsOf(statement);
  return withClient(databaseUrl, async (client) => {
    await client.query(sessionSql({ statementTimeoutMs: 10_000, applicationName: 'test', readOnly: true }));
    await client.query(`PREPARE planned AS ${statement}`);
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE planned${values && ` (${values})`}`);
    return rows[0]['QUERY PLAN'][0].Plan;
  });
}

/** One null for each parameter. */
function nullsOf(statement: string): string {
  const numbers = [...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  return Array.from({ length: Math.max(0, ...numbers) }, () => 'NULL').join(', ');
}
