/** How PostgreSQL would run a statement of the server, whatever its values. */
import { withClient } from './database.ts';

/** The generic plan of a statement with parameters, one line per step; tables are only read whole where nothing else helps. */
export async function explain(databaseUrl: string, statement: string): Promise<readonly string[]> {
  const numbers = [...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number));
  const values = Array.from({ length: Math.max(0, ...numbers) }, () => 'NULL').join(', ');
  return withClient(databaseUrl, async (client) => {
    await client.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE explained AS ${statement}`);
    const { rows } = await client.query(`EXPLAIN (COSTS OFF) EXECUTE explained${values && ` (${values})`}`);
    return rows.map((row) => String(Object.values(row)[0]).trim());
  });
}
