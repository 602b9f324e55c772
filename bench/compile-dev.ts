/** What a change of a table takes under `platform dev`, the reading of the catalog included. */
import { setTimeout } from 'node:timers/promises';
import { type Platform, startUnchecked } from '../test/support/platform.ts';
import { withClient } from '../test/support/postgres.ts';

/** Changes that are made, and milliseconds between them, so that nothing of one is under way when the next is made. */
const changes = 5;
const pause = 1000;

/** Milliseconds, each as it is told: from when a change is noticed until it is served. */
export async function timeDev(folder: string, databaseUrl: string): Promise<readonly number[]> {
  const server = await startUnchecked(folder, databaseUrl, {}, ['--no-types', '--notify'], 'dev');
  try {
    for (let change = 0; change < changes; change += 1) {
      const sql = `COMMENT ON COLUMN table_000.title IS 'Change ${change}.'`;
      await withClient(databaseUrl, (client) => client.query(sql));
      await tells(server, change + 1);
      await setTimeout(pause);
    }
    return told(server);
  } finally {
    await server.stop();
  }
}

/** Rejects where it is not told for a minute. */
async function tells(server: Platform, count: number): Promise<void> {
  for (let waited = 0; told(server).length < count; waited += 20) {
    if (waited > 60_000) throw new Error(`Not told of a change:\n${server.log()}`);
    await setTimeout(20);
  }
}

function told(server: Platform): readonly number[] {
  const lines = server.log().split('\n');
  return lines.flatMap((line) => (line.startsWith('{"event":"rebuilt"') ? [JSON.parse(line).ms] : []));
}
