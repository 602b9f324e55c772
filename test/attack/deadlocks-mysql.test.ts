/** Batches that change the same items in different orders: on MariaDB and MySQL, too, they wait for each other in one order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { installMysqlSystem } from '../support/system.ts';

const count = 12;
const keys = Array.from({ length: count }, (_, index) => index + 1);
const sql = `CREATE TABLE owners (id int PRIMARY KEY);
CREATE TABLE things (id int PRIMARY KEY, value int, owner_id int, FOREIGN KEY (owner_id) REFERENCES owners (id));
INSERT INTO owners VALUES (1);
INSERT INTO things VALUES ${keys.map((id) => `(${id}, 0, 1)`).join()};`;

/** The keys from one of them on, forwards or backwards, so that no two clients name them in the same order. */
function turned(client: number): readonly number[] {
  const from = client % count;
  const ordered = [...keys.slice(from), ...keys.slice(0, from)];
  return client % 2 === 0 ? ordered : ordered.reverse();
}

describe.each(servers)('on $name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  let server: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    server = await start();
    const url = await createMysqlDatabase(server, sql);
    await installMysqlSystem(url);
    project = await createProject();
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  async function deadlocks(): Promise<number> {
    return withMysql(server.url, async (connection) => {
      const [rows] = await connection.query(
        "SELECT count AS n FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'",
      );
      const [row] = Array.isArray(rows) ? rows : [];
      return Number(row && 'n' in row ? row.n : Number.NaN);
    });
  }

  it.each([
    ['items', (client: number, round: number) => turned(client).map((id) => ({ id, value: 100 * client + round }))],
    ['keys', (client: number, round: number) => ({ keys: turned(client), data: { value: 100 * client + round } })],
  ])('%s: none meets with a deadlock, and all are written whole', { timeout: 60_000 }, async (_, bodyOf) => {
    const before = await deadlocks();
    const work = async (client: number): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        const answer = await platform.admin('/items/things', { method: 'PATCH', body: bodyOf(client, round) });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.json.data.map(({ id }: { readonly id: number }) => id)).toEqual(turned(client));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, client) => work(client)));
    expect((await deadlocks()) - before).toBe(0);
    const { json } = await platform.admin('/items/things?fields=value');
    expect(new Set(json.data.map(({ value }: { readonly value: number }) => value)).size).toBe(1);
  });

  it('related items: none meets with a deadlock', { timeout: 60_000 }, async () => {
    const before = await deadlocks();
    const work = async (client: number): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        const update = turned(client).map((id) => ({ id, value: 100 * client + round }));
        const answer = await platform.admin('/items/owners/1', { method: 'PATCH', body: { things: { update } } });
        expect(answer.status, answer.text).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, client) => work(client)));
    expect((await deadlocks()) - before).toBe(0);
  });
});
