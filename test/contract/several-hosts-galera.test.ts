/**
 * The nodes of a Galera cluster in DATABASE_URL: writes go to one of them until it fails, then to the next, and nothing that
 * was acknowledged is lost. Source: scale-out notes, sections 2 and 5.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noGalera, type ServerGroup, startGalera, withoutGalera } from '../support/galera.ts';
import { away, becomes, primary, told } from '../support/host-told.ts';
import { withMysql } from '../support/mariadb.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { failure } from '../support/project.ts';

describe(`Galera${withoutGalera}`, () => {
  if (noGalera) return void it.skip('is not there');

  let cluster: ServerGroup;
  let project: Awaited<ReturnType<typeof createProject>>;
  let server: Platform;
  let ports: readonly string[];
  beforeAll(async () => {
    [cluster, project] = await Promise.all([startGalera(), createProject()]);
    ports = cluster.urls.map((url) => new URL(url).port);
    await withMysql(cluster.urls[0] ?? '', (connection) =>
      connection.query(`CREATE DATABASE app CHARACTER SET utf8mb4;
        CREATE TABLE app.notes (id integer AUTO_INCREMENT PRIMARY KEY, text varchar(40));
        CREATE USER app@'%' IDENTIFIED BY 'app'; GRANT ALL ON app.* TO app@'%'`),
    );
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join();
    server = await startUnchecked(project.folder, `mariadb://app:app@${hosts}/app`, { DATABASE_FAILOVER_WAIT: '8s' });
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    await Promise.all([cluster?.stop(), project?.remove()]);
  });

  const write = (text: string) => server.admin('/items/notes?fields=id', { method: 'POST', body: { text } });

  async function textsOn(node: number): Promise<readonly string[]> {
    return withMysql(`mysql://app:app@127.0.0.1:${ports[node]}/app`, async (connection) => {
      const [rows] = await connection.query('SELECT text FROM notes');
      return (rows as { readonly text: string }[]).map(({ text }) => text);
    });
  }

  it('writes on when the node is lost that it writes to', async () => {
    expect(await told(server)).toEqual(primary);
    const acknowledged: string[] = [];
    const refused: string[] = [];
    let isOver = false;
    const writer = async (name: number): Promise<void> => {
      for (let number = 0; !isOver; number++) {
        const text = `${name} ${number}`;
        const answer = await write(text);
        (answer.status === 200 ? acknowledged : refused).push(text);
      }
    };
    const writing = Promise.all([0, 1, 2, 3].map(writer));
    await sleep(1_000);
    const before = acknowledged.length;
    process.kill(cluster.pids[0] ?? 0, 'SIGKILL');
    await expect.poll(() => acknowledged.length, { timeout: 15_000 }).toBeGreaterThan(before + 20);
    isOver = true;
    await writing;
    const stored = await textsOn(1);
    expect(acknowledged.filter((text) => !stored.includes(text))).toEqual([]);
    expect(new Set(stored).size).toBe(stored.length);
    // Those whose COMMIT got no answer; each writer has one under way.
    expect(refused.length).toBeLessThanOrEqual(4);
  });

  it('refuses without hanging once there is no quorum', async () => {
    process.kill(cluster.pids[1] ?? 0, 'SIGKILL');
    await becomes(server, away, 10_000);
    const { checks } = (await server.admin('/server/health')).json;
    const states = checks.database.hosts.map(({ state }: { readonly state: string }) => state);
    expect(states).toEqual(['away', 'away', 'no-quorum']);
    const start = performance.now();
    expect(failure(await write('late'))).toBe('503 SERVICE_UNAVAILABLE');
    expect(performance.now() - start).toBeLessThan(8_200);
    expect((await server.admin('/items/notes?limit=1')).status).toBe(503);
  });
});
