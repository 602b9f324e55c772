/** Projects in folders of their own, without anything installed in them, and the mistakes that are made there. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type CommandResult, commandVariables, runPlatform, startPlatform } from '../support/platform.ts';

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-project-'));
  database = await createDatabase(
    "CREATE TABLE books (id int PRIMARY KEY, title text); INSERT INTO books VALUES (1, 'One')",
  );
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

function platform(...args: readonly string[]): Promise<CommandResult> {
  return runPlatform([...args, '--project', folder], { DATABASE_URL: database.url });
}

it('tells by init the commands that work where it was run', async () => {
  const { stderr } = await platform('init', '--yes');
  const [install, ...lines] = /^Next:\n {2}(.+)\n {2}(.+)\n {2}(.+)$/m.exec(stderr)?.slice(1) ?? [];
  expect(install).toBe(`(cd ${relative(process.cwd(), folder)} && npm install)`);
  expect(lines.map((line) => line.replace(/^.* (?=generate|start)/, '').split(' ')[0])).toEqual(['generate', 'start']);
  // A shell of a user has none of the folders that npm puts in front of the path.
  const { PATH = '', HOME = '' } = process.env;
  const shown = PATH.split(delimiter).filter((part) => !part.includes('node_modules'));
  const output = execFileSync('sh', ['-c', `${lines[0]} 2>&1`], {
    env: { PATH: [dirname(process.execPath), ...shown].join(delimiter), HOME, DATABASE_URL: database.url },
    encoding: 'utf8',
  });
  expect(output).toContain('Compiled 1 collection');
});

it('tells a clone, whose script it is, to install nothing', async () => {
  const { stderr } = await runPlatform(['init', '--yes', '--project', folder], { npm_lifecycle_event: 'platform' });
  const [, first = ''] = /^Next:\n(.*)/m.exec(stderr) ?? [];
  expect(first.trim()).toMatch(/^npm run platform -- generate /);
});

it('needs nothing installed where the project is', async () => {
  for (const args of [['init', '--yes'], ['introspect'], ['generate'], ['generate', '--offline']]) {
    const { code, stderr } = await platform(...args);
    expect(stderr).not.toMatch(/warn|cannot/i);
    expect(code).toBe(0);
  }
  const server = await startPlatform(folder, database.url, {}, []);
  expect((await server.admin('/items/books')).json).toEqual({ data: [{ id: 1, title: 'One' }] });
  expect(await server.stop()).toBe(0);
});

it('keeps an embedded database to one process', async () => {
  const own = await mkdtemp(join(folder, 'embedded-'));
  const server = await startPlatform(own, '');
  for (const args of [['generate'], ['start'], ['start', '--generate']]) {
    const { code, stderr } = await runPlatform([...args, '--project', own], { PORT: '0' });
    expect(stderr).toContain(`The embedded database is in use by process ${server.pid}.`);
    expect(code).toBe(3);
  }
  await server.stop();
  expect((await runPlatform(['generate', '--project', own])).code).toBe(0);
}, 60_000);

it('makes an embedded database anew that was not made to its end', async () => {
  const own = await mkdtemp(join(folder, 'stopped-'));
  const generate = () => runPlatform(['generate', '--project', own]);
  await runPlatform(['init', '--yes', '--project', own]);
  const command = join(import.meta.dirname, '../../packages/cli/bin/platform.cjs');
  const stopped = spawn(process.execPath, [command, 'generate', '--project', own], {
    env: commandVariables({}),
    stdio: 'ignore',
  });
  const version = join(own, '.platform', 'database', 'PG_VERSION');
  await expect.poll(() => existsSync(version), { timeout: 90_000 }).toBe(true);
  stopped.kill('SIGKILL');
  await once(stopped, 'exit');
  const broken = join(own, 'migrations', '0009-broken.sql');
  await writeFile(broken, 'CREATE TABLE broken (id nothing);\n');
  const making = expect.stringContaining('making the embedded');
  const refused = await generate();
  expect([refused.code === 0, refused.stderr]).toEqual([false, making]);
  await rm(broken);
  expect(await generate()).toMatchObject({ code: 0, stderr: making });
  const server = await startPlatform(own, '', {}, []);
  expect((await server.ask('/items/products?limit=1')).json.data).toHaveLength(1);
  await server.stop();
}, 180_000);

describe('mistakes in platform.config.ts', () => {
  const config = (options: string): string =>
    `import { defineConfig } from 'tablewright/config';\n\nexport default defineConfig({\n${options}\n});\n`;

  it.each([
    ['syntax', config('  database: { schemas: [ },'), /platform\.config\.ts:4 could not be loaded: /],
    ['what Node does not run', `enum A { B }\n${config('')}`, /platform\.config\.ts:1 could .*\n.*no enums/],
    ['an exception', config('}); throw new Error("boom"); ({'), /platform\.config\.ts:4 could not be loaded: boom/],
    ['an import', `import './none.ts';\n${config('')}`, /none\.ts.*\n.*Correct the import/],
    ['no export', 'export const a = 1;\n', /no default export/],
    ['a key', config("  ouptut: 'x',"), /"ouptut" is unknown\.\n.*"output"/],
    ['a table', config('  collections: { boks: { hidden: true } },'), /no table "boks"\.\n.*"books"/],
    ['a permissions file', config("  permissions: 'rules.yaml',"), /rules\.yaml" does not exist/],
  ])('%s', async (_, text, expected) => {
    await writeFile(join(folder, 'platform.config.ts'), text);
    const { code, stderr } = await platform('generate');
    expect(stderr).toMatch(expected);
    expect(code).toBe(1);
  });

  it('a promise that nothing settles', async () => {
    await writeFile(join(folder, 'platform.config.ts'), `await new Promise(() => {});\n${config('')}`);
    const { code, stderr } = await platform('generate');
    expect(stderr).toMatch(/^The command ended unfinished: .*\n {2}Look for an `await`/);
    expect(code).toBe(2);
  });

  it('none: an absolute output folder is taken as it is', async () => {
    const output = join(folder, 'elsewhere');
    await writeFile(join(folder, 'platform.config.ts'), config(`  output: ${JSON.stringify(output)},`));
    const { code, stderr } = await platform('generate', '--offline');
    expect(stderr).toContain('elsewhere/ (');
    expect(code).toBe(0);
  });
});
