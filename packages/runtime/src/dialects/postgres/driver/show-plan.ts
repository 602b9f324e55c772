/** Plans of statements that are not run for them, and into which no value goes. */
import { connectClient } from './client.ts';
import { type PostgresSettings, transactionSql } from './options.ts';

/** Milliseconds that connecting, and every statement, may take, and a lock of a table. */
const timeoutMs = 2_000;
const lockTimeoutMs = 500;

/** The first version that plans a statement without its values. */
const genericPlans = 160_000;

/** Plan of a statement with so many parameters, on a connection of its own. Rejects where there is none in time. */
export async function showPlan(settings: PostgresSettings, text: string, parameters: number): Promise<string> {
  const patient = { ...settings, connectTimeoutMs: timeoutMs };
  const config = { application_name: settings.applicationName, query_timeout: 2 * timeoutMs };
  const { client } = await connectClient(patient, config, async () => {});
  const ask = async (sql: string): Promise<readonly unknown[]> =>
    (await client.query<unknown[]>({ text: sql, rowMode: 'array' })).rows.map(([value]) => value);
  try {
    await ask('BEGIN');
    await ask(transactionSql({ statementTimeoutMs: timeoutMs, readOnly: true }));
    await ask(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    const [version] = await ask('SHOW server_version_num');
    if (Number(version) >= genericPlans) return (await ask(`EXPLAIN (GENERIC_PLAN) ${text}`)).join('\n');
    // A plan that is made before the values are known.
    await ask('SET LOCAL plan_cache_mode = force_generic_plan');
    await ask(`PREPARE platform_plan AS ${text}`);
    const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'NULL').join()})`;
    return (await ask(`EXPLAIN EXECUTE platform_plan${values}`)).join('\n');
  } finally {
    client.connection.stream.destroy();
  }
}
