/** What a server says of itself, and does with writes, on members of a MySQL group. Source: scale-out notes, sections 2 and 3. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerGroup } from '../support/galera.ts';
import { generateHosted } from '../support/host.ts';
import { away, becomes, follows, primary, promptMs, told } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { noMysqlGroup, startMysqlGroup, withoutMysqlGroup } from '../support/mysql-group.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { median } from '../support/timing.ts';

type Project = Awaited<ReturnType<typeof createProject>>;

/** What the state of a group is read from; `blind` may not read it. */
const rights = ['replication_group_members', 'replication_connection_status', 'replication_applier_status_by_worker']
  .map((table) => `GRANT SELECT ON performance_schema.${table} TO app@'%';`)
  .join('\n');

/** As told where a server is meant to read only, and its member can. */
const readOnly = ['200 warn', '503 database', '200 ok'];
const writable = 'SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF';
const own = `${writable}; SET sql_log_bin = 0;`;
const stateSql =
  'SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid';

describe(`MySQL with Group Replication${withoutMysqlGroup}`, () => {
  if (noMysqlGroup) return void it.skip('is not there');

  let group: ServerGroup;
  let project: Project;
  beforeAll(async () => {
    [group, project] = await Promise.all([startMysqlGroup(), createProject()]);
    await withMysql(group.urls[0] ?? '', (connection) =>
      connection.query(`CREATE DATABASE app CHARACTER SET utf8mb4;
        CREATE TABLE app.notes (id integer AUTO_INCREMENT PRIMARY KEY, text varchar(20));
        CREATE USER app@'%' IDENTIFIED BY 'app'; GRANT ALL ON app.* TO app@'%'; ${rights}
        CREATE USER blind@'%' IDENTIFIED BY 'app'; GRANT ALL ON app.* TO blind@'%'`),
    );
    await generateHosted(project.folder, urlOf(0));
  }, 120_000);
  afterAll(() => Promise.all([group?.stop(), project?.remove()]));

  const urlOf = (place: number, user = 'app'): string =>
    `mysql://${user}:app@127.0.0.1:${new URL(group.urls[place] ?? '').port}/app`;
  const serve = (place: number, user?: string, environment = {}): Promise<Platform> =>
    startUnchecked(project.folder, urlOf(place, user), environment, []);
  const write = (server: Platform) => server.admin('/items/notes', { method: 'POST', body: { text: 'a' } });

  it('takes writes on the primary, and only reads on a secondary, which tells how far it is behind', async () => {
    const leader = await serve(0);
    const followers = [await serve(1), await serve(1, 'blind')];
    try {
      expect(await told(leader)).toEqual(primary);
      expect((await write(leader)).status).toBe(200);
      for (const follower of followers) {
        expect(await told(follower)).toEqual(away);
        expect(failure(await write(follower))).toBe('503 SERVICE_UNAVAILABLE');
        expect((await follower.admin('/items/notes')).status).toBe(200);
      }
      const [lags, states] = await Promise.all(['lag', 'state'].map((name) => checked(followers, name)));
      expect(states).toEqual(['read-only', 'read-only']);
      expect(lags).toEqual([expect.any(Number), undefined]);
    } finally {
      await Promise.all([leader, ...followers].map((server) => server.stop()));
    }
  });

  it('tells of each change of a member within its group, and of nothing else', async () => {
    const [leader, follower, reader] = [
      await serve(0),
      await serve(1),
      await serve(1, 'app', { DATABASE_READ_ONLY: 'true' }),
    ];
    const servers = [leader, follower, reader];
    const run = (place: number, sql: string) =>
      withMysql(group.urls[place] ?? '', (connection) => connection.query(sql));
    let now = [primary, away, readOnly];
    const late: number[] = [];
    const changes = async (to: typeof now, state: string, change: () => Promise<unknown>): Promise<void> => {
      await change();
      const changedAt = performance.now();
      const times = servers.map((server, index) => follows(server, now[index] ?? [], to[index] ?? [], changedAt));
      late.push(Math.max(...(await Promise.all(times))));
      await expect.poll(() => checked([follower], 'state'), { timeout: 20_000 }).toEqual([state]);
      now = to;
    };
    const promote = (place: number) => run(place, 'SELECT group_replication_set_as_primary(@@server_uuid)');
    const comesTo = (state: string) =>
      expect.poll(async () => JSON.stringify(await run(1, stateSql)), { timeout: 60_000 }).toContain(state);
    try {
      await Promise.all(servers.map((server, index) => becomes(server, now[index] ?? [], 10_000)));
      await changes([away, primary, readOnly], 'primary', () => promote(1));
      await changes([primary, away, readOnly], 'read-only', () => promote(0));
      await changes([away, away, readOnly], 'read-only', () => run(0, 'SET GLOBAL super_read_only = ON'));
      await changes([primary, away, readOnly], 'read-only', () => run(0, 'SET GLOBAL read_only = OFF'));
      // It could write by then.
      await changes([primary, away, away], 'joining', () => run(1, `STOP GROUP_REPLICATION; ${writable}`));
      await changes([primary, away, readOnly], 'read-only', async () => {
        await run(1, 'START GROUP_REPLICATION');
        await comesTo('ONLINE');
      });
      // A row that only one of them has: the member cannot apply what the group writes, and leaves it.
      for (const [action, state] of [
        ['READ_ONLY', 'no-quorum'],
        ['OFFLINE_MODE', 'away'],
      ] as const) {
        await changes([primary, away, away], state, async () => {
          await run(
            1,
            `SET GLOBAL group_replication_exit_state_action = ${action}; ${own} INSERT INTO app.notes VALUES (1000, 'own')`,
          );
          await run(0, "INSERT INTO app.notes VALUES (1000, 'all')");
          await comesTo('ERROR');
        });
        const reads = [await follower.admin('/items/notes'), await reader.admin('/items/notes')];
        // It may have rows that the group does not have, and lack others.
        const answers = [await write(follower), await write(reader), ...reads];
        expect(answers.map(failure)).toEqual(answers.map(() => '503 SERVICE_UNAVAILABLE'));
        await changes([primary, away, readOnly], 'read-only', async () => {
          await run(
            1,
            `STOP GROUP_REPLICATION; ${own} DELETE FROM app.notes WHERE id = 1000; SET GLOBAL offline_mode = OFF`,
          );
          await run(0, 'DELETE FROM app.notes WHERE id = 1000');
          await run(1, 'START GROUP_REPLICATION');
          await comesTo('ONLINE');
        });
      }
      expect(median(late), `${late}`).toBeLessThan(promptMs);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  }, 180_000);

  it('takes no requests on a member that has lost the majority', async () => {
    const leader = await serve(0);
    try {
      await becomes(leader, primary, 2_500);
      for (const pid of group.pids.slice(1)) process.kill(pid, 'SIGKILL');
      // The group itself takes five seconds to suspect a member.
      await becomes(leader, away, 15_000);
      const { checks } = (await leader.admin('/server/health')).json;
      expect(checks.database).toMatchObject({ status: 'error', state: 'no-quorum' });
    } finally {
      await leader.stop();
    }
  });
});

/** One member of what health says of each database. */
async function checked(servers: readonly Platform[], name: string): Promise<readonly unknown[]> {
  const answers = await Promise.all(servers.map((server) => server.admin('/server/health')));
  return answers.map(({ json }) => json.checks.database[name]);
}
