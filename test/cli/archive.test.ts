/** A project of a hundred collections keeps what was compiled of them, and is compiled as without it. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';

const tables = Array.from({ length: 100 }, (_, at) => `CREATE TABLE t${at} (id integer PRIMARY KEY, name text)`);

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createDatabase(tables.join(';'));
  project = await createProject();
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

async function generate(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await runPlatform(['generate', '--project', project.folder, ...args], {
    DATABASE_URL: database.url,
  });
  if (code !== 0) throw new Error(stderr);
}

function generated(path: string): Promise<string> {
  return readFile(join(project.folder, 'generated', path), 'utf8');
}

it('is found by the next process, ignored by git, and of no account when it is damaged', async () => {
  await generate();
  const folder = join(project.folder, '.platform', 'cache');
  const layers = async () => (await readdir(folder)).filter((name) => name.endsWith('.layer')).sort();
  const before = await layers();
  expect(before).toHaveLength(1);
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
  const document = await generated('openapi/full.json');

  await rm(join(project.folder, 'generated'), { recursive: true });
  await generate('--offline');
  expect(await generated('openapi/full.json')).toBe(document);
  // Everything was found, so there was nothing to write.
  expect(await layers()).toEqual(before);

  await writeFile(join(folder, before[0] ?? ''), 'damaged');
  await rm(join(project.folder, 'generated'), { recursive: true });
  await generate('--offline');
  expect(await generated('openapi/full.json')).toBe(document);
  expect(await layers()).not.toEqual(before);
}, 120_000);
