/**
 * Two MariaDB servers in DATABASE_URL: writes follow the one that takes them, and go to none while both do. One that is named as
 * a replica and takes writes is never read. Source: scale-out
 * notes, section 2.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCompiled } from '../support/host.ts';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { type MysqlServer, noMariadb, startHeld, withMysql, withoutMariadb } from '../support/mariadb.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';

describe(`MariaDB${withoutMariadb}`, () => {
  if (noMariadb) return void it.skip('is not there');

  let servers: readonly MysqlServer[];
  let project: Awaited<ReturnType<typeof createProject>>;
  let server: Platform;
  beforeAll(async () => {
    servers = await Promise.all([startHeld('mariadb-server.ts'), startHeld('mariadb-server.ts')]);
    project = await createProject();
    for (const { url } of servers) {
      await withMysql(url, (connection) =>
        connection.query(`CREATE DATABASE app CHARACTER SET utf8mb4;
          CREATE TABLE app.notes (id integer AUTO_INCREMENT PRIMARY KEY, text varchar(40));
          CREATE USER app@'%' IDENTIFIED BY 'app'; GRANT ALL ON app.* TO app@'%'`),
      );
    }
    await readOnly(0);
    const hosts = servers.map(({ url }) => new URL(url).host).join();
    server = await startCompiled(project.folder, `mariadb://app:app@${hosts}/app`, { DATABASE_FAILOVER_WAIT: '5s' });
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    await Promise.all([...(servers ?? []).map(({ stop }) => stop()), project?.remove()]);
  });

  const write = (text: string) => server.admin('/items/notes?fields=id', { method: 'POST', body: { text } });

  async function readOnly(index: number, value = 1): Promise<void> {
    await withMysql(servers[index]?.url ?? '', (connection) => connection.query(`SET GLOBAL read_only = ${value}`));
  }

  async function textsOn(index: number): Promise<readonly string[]> {
    return withMysql(servers[index]?.url ?? '', async (connection) => {
      const [rows] = await connection.query('SELECT text FROM app.notes ORDER BY id');
      return (rows as { readonly text: string }[]).map(({ text }) => text);
    });
  }

  it('follows a switch, and writes that come meanwhile wait for it', async () => {
    expect(await told(server)).toEqual(primary);
    expect((await write('one')).status).toBe(200);
    expect([await textsOn(0), await textsOn(1)]).toEqual([[], ['one']]);
    await readOnly(1);
    const waiting = Promise.all(['two', 'three'].map(write));
    await readOnly(0, 0);
    expect((await waiting).map(({ status }) => status)).toEqual([200, 200]);
    expect((await textsOn(0)).toSorted()).toEqual(['three', 'two']);
    expect(await textsOn(1)).toEqual(['one']);
  });

  it('writes to none of two that both take writes, and says so', async () => {
    await readOnly(1, 0);
    await becomes(server, away, 10_000);
    expect(failure(await write('four'))).toBe('503 SERVICE_UNAVAILABLE');
    expect(server.log()).toContain('Two database servers take writes');
    const { checks } = (await server.admin('/server/health')).json;
    expect(checks.database.output).toEqual([expect.stringContaining('Two database servers take writes')]);
    expect([...(await textsOn(0)), ...(await textsOn(1))]).not.toContain('four');
    await readOnly(1);
    await becomes(server, primary, 10_000);
    expect((await write('five')).status).toBe(200);
  });

  it('asks no replica that takes writes of its own, as a server of something else does, and says so', async () => {
    await readOnly(1, 0);
    const [own = '', other = ''] = servers.map(({ url }) => `mariadb://app:app@${new URL(url).host}/app`);
    const reader = await startUnchecked(project.folder, own, { DATABASE_READ_URL: other }, []);
    try {
      const query = '/items/notes?fields=text&sort=id';
      for (const end = performance.now() + 3_000; performance.now() < end; ) {
        const { json } = await reader.admin(query);
        expect(json.data.map(({ text }: { readonly text: string }) => text)).toEqual(await textsOn(0));
        await sleep(10);
      }
      await expect.poll(() => reader.log(), { timeout: 20_000 }).toContain('A replica takes writes of its own');
    } finally {
      await reader.stop();
      await readOnly(1);
    }
  });
});
