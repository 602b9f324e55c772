/** The same writes on PostgreSQL and on MariaDB: they answer the same bytes, and leave the same rows. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createMysqlDatabase, type MariadbServer, servers } from '../support/mariadb.ts';
import { type Answer, createProject, type Platform, startPlatform } from '../support/platform.ts';
import { refused, type Step, visitors, written } from './twins-writes/steps.ts';

const collections: readonly (readonly [name: string, key: string])[] = [
  ['countries', 'code'],
  ['authors', 'id'],
  ['articles', 'id'],
  ['tags', 'id'],
  ['articles_tags', 'article_id,tag_id'],
  ['comments', 'id'],
  ['notes', 'id'],
  ['headings', 'id'],
  ['pictures', 'id'],
  ['sections', 'id'],
  ['categories', 'id'],
  ['reviews', 'reviewer,article_id'],
  ['hens', 'id'],
  ['eggs', 'id'],
  ['kinds', 'id'],
];

describe.each(servers.slice(0, 1))('PostgreSQL and $name', ({ missing, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let server: MariadbServer;
  let database: TestDatabase;
  const projects: Awaited<ReturnType<typeof createProject>>[] = [];
  const twins: Platform[] = [];

  beforeAll(async () => {
    server = await start();
    const [postgres = '', mariadb = ''] = await Promise.all(['postgres', 'mariadb'].map(sqlOf));
    database = await createDatabase(postgres);
    const url = await createMysqlDatabase(server, mariadb, exact);
    for (const one of [database.url, url]) {
      const project = await createProject('test/contract/twins-writes');
      projects.push(project);
      twins.push(await startPlatform(project.folder, one));
    }
  }, 120_000);
  afterAll(async () => {
    await Promise.all(twins.map((twin) => twin.stop()));
    await Promise.all([server?.stop(), database?.drop(), ...projects.map((project) => project.remove())]);
  });

  async function onBoth(ask: (twin: Platform) => Promise<Answer>): Promise<readonly (readonly [number, string])[]> {
    const answers = await Promise.all(twins.map(ask));
    return answers.map(({ status, text }) => [status, text] as const);
  }

  /** What is stored, of one collection or of all. */
  async function compareRows(only?: string): Promise<void> {
    for (const [name, sort] of collections) {
      if (only !== undefined && name !== only) continue;
      const [postgres, mariadb] = await onBoth((twin) => twin.admin(`/items/${name}?limit=-1&sort=${sort}`));
      expect([name, mariadb]).toEqual([name, postgres]);
    }
  }

  async function compare([method, path, body, headers = {}]: Step, as: 'admin' | 'ask'): Promise<number> {
    const options = { method, headers, ...(body !== undefined && { body }) };
    const [postgres, mariadb] = await onBoth((twin) => twin[as](path, options));
    expect(mariadb).toEqual(postgres);
    return postgres?.[0] ?? 0;
  }

  const named = (steps: readonly Step[]) =>
    steps.map((step) => [`${step[0]} ${step[1]} ${JSON.stringify(step[2] ?? null)}`, step] as const);

  describe.each(Object.entries(written))('%s', (_, steps) => {
    it.each(named(steps))('%s', async (_name, step) => {
      expect(await compare(step, 'admin')).toBeLessThan(300);
    });

    it('leaves the same rows', () => compareRows());
  });

  describe('what is refused', () => {
    it.each(named(refused))('%s', async (_name, step) => {
      const status = await compare(step, 'admin');
      expect([400, 403]).toContain(status);
    });

    it('leaves the same rows', () => compareRows());
  });

  describe('what visitors write', () => {
    it.each(named(visitors))('%s', async (_name, step) => {
      expect(await compare(step, 'ask')).toBeLessThan(500);
    });

    it('leaves the same rows', () => compareRows());
  });
});

async function sqlOf(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`./twins-writes/${name}.sql`, import.meta.url)), 'utf8');
}
