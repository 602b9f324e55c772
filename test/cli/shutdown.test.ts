import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { serveProject } from '../support/project.ts';

/** Rows that take a second to read. */
const sql = 'CREATE VIEW slow AS SELECT 1 AS id, pg_catalog.pg_sleep(1)::text AS slept';

/** Until the request's statement runs in the database, so that the signal surely meets it. */
async function untilRunning(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (;;) {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%slow%' AND pid <> pg_backend_pid()",
      );
      if (rows.length > 0) return;
      await wait(10);
    }
  });
}

it.each(['SIGTERM', 'SIGINT'] as const)(
  '%s finishes running requests, takes no new ones and exits 0',
  async (signal) => {
    const project = await serveProject({ sql, alone: true });
    try {
      const running = project.admin('/items/slow?fields=id,slept');
      await untilRunning(project.database.url);
      const code = project.stop(signal);
      // npm passes on what a terminal, or systemd, sends to the server as well.
      void project.stop(signal);
      expect(await running).toMatchObject({ status: 200, json: { data: [{ id: 1 }] } });
      expect(await code).toBe(0);
      await expect(project.ask('/server/ping')).rejects.toThrow('fetch failed');
    } finally {
      await project.close();
    }
  },
);
