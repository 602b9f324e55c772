import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createProject, runPlatform, startUnchecked } from '../support/platform.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createMagazineDatabase();
  project = await createProject();
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

it('ends with its diagnostics when what it should serve cannot be compiled', async () => {
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { nowhere: { read: true } } }\n');
  const result = await runPlatform(['start', '--generate', '--project', project.folder], {
    DATABASE_URL: database.url,
  });
  expect(result.code).toBe(1);
  expect(result.stderr).toContain('The collection "nowhere" does not exist.');
});

it('serves, and warns of code that was edited and of migrations that the database lacks', async () => {
  const served = await createProject();
  const at = (path: string): string => join(served.folder, path);
  const run = (command: string) => runPlatform([command, '--project', served.folder], { DATABASE_URL: database.url });
  const start = async (awaited: string): Promise<string> => {
    const server = await startUnchecked(served.folder, database.url, {}, []);
    // Warnings delay no answer.
    const end = Date.now() + 5_000;
    while (!server.log().includes(awaited) && Date.now() < end) await wait(50);
    await server.stop();
    return server.log();
  };
  await mkdir(at('migrations'));
  await writeFile(at('migrations/0000-first.sql'), 'SELECT 1;\n');
  await run('migrate');
  await run('generate');
  await writeFile(at('migrations/0001-late.sql'), 'CREATE TABLE late (id int PRIMARY KEY);\n');
  expect(await start('migrations-pending')).toMatch(
    /migrations-pending.*lacks the migrations 0001-late\..*platform migrate/,
  );
  await appendFile(at('generated/server.js'), '// Edited.\n');
  const log = await start('modified-output');
  expect(log).toMatch(/modified-output","severity":"warning","place":"generated\/server\.js".*generate.* --force/);
  expect(log.match(/modified-output/g)).toHaveLength(1);
  // Files that only compiling needs are not deployed everywhere.
  await rm(at('platform.schema.json'));
  await writeFile(at('platform.config.ts'), "export default { permissions: 'rules.yaml' };\n");
  expect(await start('modified-output')).toContain('modified-output');
  await served.remove();
}, 90_000);

it('warns of rules and configuration that were changed after they were compiled, until they are compiled', async () => {
  const served = await createProject();
  const write = (name: string, text: string): Promise<void> => writeFile(join(served.folder, name), text);
  const run = (...args: string[]) => runPlatform([...args, '--project', served.folder], { DATABASE_URL: database.url });
  const start = async (): Promise<readonly string[]> => {
    const server = await startUnchecked(served.folder, database.url, {}, []);
    await wait(1_000);
    await server.stop();
    return server.log().match(/"changed-source".*?"place":"[^"]*"/g) ?? [];
  };
  const rules = (collections: string): string => `permissions: { public: { ${collections} } }\n`;
  await write('permissions.yaml', rules('tags: { read: true }'));
  await run('generate');
  await write('permissions.yaml', `# Tags are for everyone.\n${rules('tags:   { read: true }')}`);
  await write(
    'platform.config.ts',
    "export default { output: 'generated', database: { url: 'postgres://elsewhere' } };\n",
  );
  expect(await start()).toEqual([]);
  expect((await run('generate', '--check')).code).toBe(0);
  await write('permissions.yaml', rules('tags: { read: true }, articles: { read: true }'));
  expect(await start()).toEqual([expect.stringContaining('"permissions.yaml"')]);
  expect((await run('check')).stderr).toContain('fits     platform.schema.json and generated\n');
  await write('platform.config.ts', "export default { collections: { tags: { sort: 'name' } } };\n");
  expect(await start()).toHaveLength(2);
  await run('generate');
  // Places and the order of members say nothing.
  await write(
    'platform.config.ts',
    "export default { database: { url: 'postgres://elsewhere' }, permissions: 'permissions.yaml', collections: { tags: { sort: 'name' } } };\n",
  );
  expect(await start()).toEqual([]);
  // As in an image with nothing but the generated files.
  await Promise.all(['permissions.yaml', 'platform.config.ts'].map((name) => rm(join(served.folder, name))));
  expect(await start()).toEqual([]);
  await served.remove();
}, 90_000);

it('warns of migrations that an embedded database lacks, which it opens as it is', async () => {
  const embedded = await createProject();
  const at = (path: string): string => join(embedded.folder, path);
  await mkdir(at('migrations'));
  await writeFile(at('migrations/0001-early.sql'), 'CREATE TABLE early (id int PRIMARY KEY);\n');
  await runPlatform(['generate', '--project', embedded.folder]);
  await writeFile(at('migrations/0002-late.sql'), 'CREATE TABLE late (id int PRIMARY KEY);\n');
  const server = await startUnchecked(embedded.folder, '', {}, []);
  try {
    expect(server.log()).toMatch(/migrations-pending.*lacks the migrations 0002-late\./);
    expect((await server.admin('/items/early')).json).toEqual({ data: [] });
    expect((await server.admin('/items/early', { method: 'POST', body: { id: 1 } })).status).toBe(200);
  } finally {
    expect(await server.stop()).toBe(0);
  }
  const serves = async (): Promise<void> => {
    const other = await startUnchecked(embedded.folder, '', {}, []);
    expect((await other.admin('/items/early')).json).toEqual({ data: [{ id: 1 }] });
    expect(await other.stop()).toBe(0);
  };
  // A warning that cannot be made ends no start.
  await mkdir(at('migrations/0003-folder.sql'));
  await serves();
  await rm(at('platform.schema.json'));
  await writeFile(at('platform.config.ts'), "export default { permissions: 'rules.yaml' };\n");
  await serves();
  await embedded.remove();
}, 90_000);

it('ends when a variable is wrong, also with an embedded database that was opened for compiling', async () => {
  const empty = await createProject();
  const result = await runPlatform(['start', '--generate', '--project', empty.folder], { AUTH_PROVIDERS: 'corp' });
  await empty.remove();
  expect(result.code).toBe(4);
  expect(result.stderr).toContain('AUTH_CORP_DRIVER is required.');
});
