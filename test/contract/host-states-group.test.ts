/** What a server says of itself, and does with writes, on members of a MySQL group. Source: scale-out notes, sections 2 and 3. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerGroup } from '../support/galera.ts';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { noMysqlGroup, startMysqlGroup, withoutMysqlGroup } from '../support/mysql-group.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';

type Project = Awaited<ReturnType<typeof createProject>>;

/** What the state of a group is read from; `blind` may not read it. */
const rights = ['replication_group_members', 'replication_connection_status', 'replication_applier_status_by_worker']
  .map((table) => `GRANT SELECT ON performance_schema.${table} TO app@'%';`)
  .join('\n');

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
  }, 120_000);
  afterAll(() => Promise.all([group?.stop(), project?.remove()]));

  const serve = (place: number, user = 'app'): Promise<Platform> => {
    const { port } = new URL(group.urls[place] ?? '');
    return startUnchecked(project.folder, `mysql://${user}:app@127.0.0.1:${port}/app`);
  };
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

  it('takes no requests on a member that has left the group, though it could write, until it is back', async () => {
    const follower = await serve(1);
    const run = (sql: string) => withMysql(group.urls[1] ?? '', (connection) => connection.query(sql));
    try {
      await run('STOP GROUP_REPLICATION; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF');
      await sleep(2_000);
      expect(await told(follower)).toEqual(away);
      expect((await follower.admin('/server/health')).json.checks.database).toMatchObject({ state: 'joining' });
      await run('START GROUP_REPLICATION');
      await expect
        .poll(async () => (await follower.admin('/server/health')).json.checks.database.state)
        .toBe('read-only');
    } finally {
      await follower.stop();
    }
  });

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
