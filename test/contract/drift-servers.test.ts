/** A changed table closes what reaches it, and nothing else: on every family of servers, and in each of several processes. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const tables = `
CREATE TABLE kept (id integer PRIMARY KEY, title varchar(20));
CREATE TABLE changed (id integer PRIMARY KEY, gone varchar(20));
CREATE TABLE owned (id integer PRIMARY KEY, name varchar(20), changed_id integer, FOREIGN KEY (changed_id) REFERENCES changed (id));
INSERT INTO kept VALUES (1, 'a'); INSERT INTO changed VALUES (1, 'b'); INSERT INTO owned VALUES (1, 'c', 1);`;

const permissions = `permissions:
  public: { kept: { read: true, create: true }, changed: { read: true }, owned: { read: true } }
`;

const databases = [
  {
    name: 'PostgreSQL',
    missing: false,
    async make() {
      const { url, drop } = await createDatabase(tables);
      return { url, drop, run: (sql: string) => withClient(url, (client) => client.query(sql)) };
    },
  },
  ...servers.map(({ name, missing, start }) => ({
    name,
    missing,
    async make() {
      const url = await createMysqlDatabase(await start(), tables);
      return { url, drop: async () => {}, run: (sql: string) => withMysql(url, (connection) => connection.query(sql)) };
    },
  })),
];

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Statuses of many requests at once, so that every process answers some. */
async function statuses(platform: Platform, path: string): Promise<readonly number[]> {
  const answers = await Promise.all(Array.from({ length: 12 }, () => platform.ask(path)));
  return [...new Set(answers.map(({ status }) => status))];
}

describe.each(databases)('$name', ({ missing, make }) => {
  it.skipIf(missing)('closes what reaches a changed column in all processes, and serves the rest', async () => {
    const database = await make();
    closing.push(database.drop);
    const project = await createProject();
    closing.push(() => project.remove());
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    const platform = await startUnchecked(project.folder, database.url, {}, ['--generate', '--workers', '2']);
    closing.push(() => platform.stop());
    const all = async () => [
      await statuses(platform, '/items/changed'),
      await statuses(platform, '/items/owned?fields=changed_id.id'),
      await statuses(platform, '/items/owned?fields=id,name'),
      await statuses(platform, '/items/kept'),
      await statuses(platform, '/server/health'),
      await statuses(platform, '/server/ready'),
    ];
    expect(await all()).toEqual([[200], [200], [200], [200], [200], [200]]);
    await database.run('ALTER TABLE changed RENAME COLUMN gone TO went');
    await vi.waitFor(async () => expect(await all()).toEqual([[503], [503], [200], [200], [200], [200]]), 20_000);
    const health = await Promise.all(Array.from({ length: 12 }, () => platform.ask('/server/health')));
    expect(new Set(health.map(({ json }) => json.status))).toEqual(new Set(['warn']));
    const made = await platform.ask('/items/kept', { method: 'POST', body: { id: 2, title: 'd' } });
    expect(made.status).toBe(200);
    await database.run('ALTER TABLE changed RENAME COLUMN went TO gone');
    await vi.waitFor(async () => expect(await all()).toEqual([[200], [200], [200], [200], [200], [200]]), 20_000);
  });
});
