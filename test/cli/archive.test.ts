/** A large project keeps what its last compilation had and left. */
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readClassDocument } from '../support/class-documents.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createProject, runPlatform } from '../support/platform.ts';

const tables = Array.from({ length: 300 }, (_, at) => `CREATE TABLE t${at} (id integer PRIMARY KEY, name text)`);

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

it('knows that there is nothing to do, and notices whoever touches a file', async () => {
  /** The phases of a run, and how many files it wrote. */
  async function run(...args: readonly string[]): Promise<readonly [phases: string, written: number]> {
    const { code, stdout, stderr } = await runPlatform([
      'generate',
      '--offline',
      '--json',
      '--project',
      project.folder,
      ...args,
    ]);
    if (code !== 0) throw new Error(stderr);
    const events: readonly { event: string; written: number; phases: readonly { name: string }[] }[] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const summary = events.find(({ event }) => event === 'summary');
    return [summary?.phases.map(({ name }) => name).join(' ') ?? '', summary?.written ?? -1];
  }

  await generate();
  expect(await readFile(join(project.folder, '.platform', 'cache', '.gitignore'), 'utf8')).toBe('*\n');
  const model = await generated('routes/t7.js');
  expect(await run()).toEqual(['resolve', 0]);

  // As many bytes at the same time.
  const path = join(project.folder, 'generated', 'routes', 't7.js');
  const { atime, mtime } = await stat(path);
  await writeFile(path, model.replace('Facts', 'Facts'.toUpperCase()));
  await utimes(path, atime, mtime);
  await expect(run()).rejects.toThrow('edited');
  expect(await run('--force')).toEqual(['resolve compile write', 1]);
  expect(await generated('routes/t7.js')).toBe(model);
  expect(await run()).toEqual(['resolve', 0]);

  await rm(path);
  expect(await run()).toEqual(['resolve compile write', 1]);

  const rules = join(project.folder, 'permissions.yaml');
  await writeFile(rules, 'permissions:\n  public:\n    t7: { read: { fields: [name] } }\n');
  const [phases, written] = await run();
  expect([phases, written > 0]).toEqual(['resolve compile write', true]);
  expect(await readClassDocument(project.folder, 'openapi', 'public')).toContain('/items/t7');
  expect(await run()).toEqual(['resolve', 0]);
  await rm(rules);
  expect((await run())[0]).toBe('resolve compile write');
  expect(await readClassDocument(project.folder, 'openapi', 'public')).not.toContain('/items/t7');

  // What was put together of what was left is what is made of nothing.
  const kept = await filesBelow(join(project.folder, 'generated'));
  await rm(join(project.folder, 'generated'), { recursive: true });
  await rm(join(project.folder, '.platform'), { recursive: true });
  await generate('--offline');
  expect(await filesBelow(join(project.folder, 'generated'))).toEqual(kept);

  // What is made of nothing is compared with what is there, too.
  await rm(join(project.folder, '.platform'), { recursive: true });
  await writeFile(path, 'mine');
  expect(await run('--force')).toEqual(['resolve compile write', 1]);
  expect(await filesBelow(join(project.folder, 'generated'))).toEqual(kept);
}, 120_000);

async function filesBelow(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(paths.sort().map(async (path) => [path, await readFile(path, 'utf8')] as const)));
}
