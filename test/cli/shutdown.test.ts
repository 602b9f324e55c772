/**
 * Ends of servers and commands: requests that run are finished, a database that hangs keeps nothing from ending, and a command
 * tells for which session it waits.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledFor } from '../support/bundled.ts';
import { type ContractDatabase, createSystemDatabase, onServer } from '../support/contract-database.ts';
import { withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { withMysql } from '../support/mariadb.ts';
import { asking, createProject, spawnPlatform, startUnchecked, variablesOf } from '../support/platform.ts';
import { serveProject } from '../support/project.ts';
import { startRelay } from '../support/relay.ts';
import { allServers } from '../support/servers.ts';

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

it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
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

const hasPython = spawnSync('python3', ['--version']).status === 0;

it.runIf(hasPython).each([
  ['one process', []],
  ['two workers', ['--workers', '2']],
])(
  'a terminal that is closed stops %s as SIGTERM does',
  async (_, flags) => {
    const database = await createSystemDatabase(sql);
    const { folder, remove } = await createProject();
    await generateHosted(folder, database.url);
    const args = [...bundledFor(database.url), 'packages/cli/bin/platform.cjs', 'start', '--project', folder, ...flags];
    const terminal = spawn('python3', ['test/support/terminal.py', process.execPath, ...args], {
      env: { ...variablesOf(database.url, {}), LOG_LEVEL: 'info', ACCESS_LOG: 'all' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(terminal, 'exit');
    let printed = '';
    terminal.stdout.on('data', (chunk) => (printed += String(chunk)));
    try {
      await expect.poll(() => printed, { timeout: 20_000 }).toMatch(/Listening on \S+\s/);
      const running = asking(/Listening on (\S+)/.exec(printed)?.[1] ?? '').admin('/items/slow?fields=id,slept');
      await untilRunning(database.url);
      terminal.stdin.end();
      expect((await running).status).toBe(200);
      expect(await ended).toEqual([0, null]);
    } finally {
      terminal.kill();
      await remove();
      await database.drop();
    }
  },
  60_000,
);

/** True of the last message of a client, in either protocol. */
const isGoodbye = (bytes: Buffer): boolean => ['5800000004', '0100000001'].includes(bytes.toString('hex'));

/** True of the first statement on a connection. */
const isFirst = (bytes: Buffer): boolean => /SELECT VERSION|pg_backend_pid/.test(bytes.toString('latin1'));

const two = allServers.filter((server) => server.dialect !== 'mysql');

describe.each(two)('where $name hangs', ({ dialect, missing }) => {
  if (missing) return void it.skip('is not there');

  let database: ContractDatabase;
  let project: Awaited<ReturnType<typeof createProject>>;
  beforeAll(
    () =>
      onServer(dialect, async () => {
        database = await createSystemDatabase(
          'CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1);',
        );
        project = await createProject();
        await generateHosted(project.folder, database.url);
      }),
    120_000,
  );
  afterAll(async () => {
    await project?.remove();
    await database?.drop();
  });

  const usual = ['a process ends', {}, []] as const;
  const forms = [
    usual,
    ['a process with plain connections ends', { DATABASE_DRIVER: 'pg' }, []],
    ['several processes end', {}, ['--workers', '2']],
  ] as const;
  // Each of a server of its own, which waits most of the time.
  it.concurrent.for(dialect === null ? forms : [usual])(
    '%s soon after SHUTDOWN_TIMEOUT',
    { timeout: 120_000 },
    async ([, variables, args], { expect }) => {
      const relay = await startRelay(database.url);
      const settings = { ...variables, SHUTDOWN_TIMEOUT: '1s' };
      const server = await startUnchecked(project.folder, relay.url, settings, args);
      try {
        expect((await server.admin('/items/docs/1')).status).toBe(200);
        relay.hang();
        const running = server.admin('/items/docs?limit=7').catch(() => null);
        // By then the server looks at the tables of the model as well.
        await wait(2_500);
        const begun = performance.now();
        expect(await server.stop()).toBe(0);
        expect(performance.now() - begun).toBeLessThan(8_000);
        expect(await running).toBe(null);
      } finally {
        await relay.close();
        await server.stop();
      }
    },
  );

  it.concurrent('a server starts, although it is let in and gets no answer', { timeout: 120_000 }, async ({
    expect,
  }) => {
    const relay = await startRelay(database.url, { hangsAt: isFirst });
    const server = await startUnchecked(project.folder, relay.url, {}, []);
    try {
      expect((await server.ask('/server/ready')).status).toBe(503);
    } finally {
      await server.stop();
      await relay.close();
    }
  });

  it.concurrent('a command ends, although its goodbye is not heard', { timeout: 120_000 }, async ({ expect }) => {
    const relay = await startRelay(database.url, { hangsAt: isGoodbye });
    const command = spawnPlatform(['check', '--project', project.folder], { DATABASE_URL: relay.url });
    try {
      const ended = once(command, 'exit');
      expect(await Promise.race([ended, wait(40_000, 'it goes on')])).toEqual([0, null]);
    } finally {
      command.kill('SIGKILL');
      await relay.close();
    }
  });

  const commands = [
    ['generate', '--check'],
    ['check'],
    ['diff', 'work', 'database'],
    ['doctor'],
    ['explain', 'GET /items/docs', '--as', 'admin'],
  ];
  it('commands tell once that they wait for a lock, and go on after it', { timeout: 120_000 }, async () => {
    const waiting = await whileLocked(database.url, dialect, async (session) => {
      const started = commands.map((args) => {
        const command = spawnPlatform([...args, '--project', project.folder], { DATABASE_URL: database.url });
        let text = '';
        command.stderr.on('data', (chunk) => (text += String(chunk)));
        return { args, ended: once(command, 'exit'), text: () => text };
      });
      const reason = `The database has not answered for 5 seconds: ${session}`;
      await expect
        .poll(() => started.filter(({ text }) => !text().includes(reason)).map(({ args }) => args), { timeout: 60_000 })
        .toEqual([]);
      return started;
    });
    for (const { args, ended, text } of waiting) {
      expect([args, ...(await ended)]).toEqual([args, 0, null]);
      expect(text().split('has not answered').length).toBe(2);
    }
  });
});

/** Runs `work` while another session holds the table of rules, which commands read; it is given the reason that they tell. */
async function whileLocked<T>(
  url: string,
  dialect: (typeof allServers)[number]['dialect'],
  work: (reason: string) => Promise<T>,
): Promise<T> {
  if (dialect !== null) {
    return withMysql(url, async (connection) => {
      await connection.query('LOCK TABLES platform_permissions WRITE');
      return work('another session may hold a lock');
    });
  }
  return withClient(url, async (client) => {
    await client.query('BEGIN; LOCK TABLE platform.platform_permissions');
    const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
    return work(`it waits for a lock of session ${rows[0].pid} (user `);
  });
}
