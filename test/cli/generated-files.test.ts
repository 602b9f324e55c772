/** What `manifest.json` guards: starts with files of another contract are refused, and edits are not overwritten. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract } from '@tablewright/runtime/language';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type CommandResult, createProject, variablesOf } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY, title text, at timestamptz)');
  project = await createProject();
  expect((await platform('generate')).code).toBe(0);
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

function platform(name: string, ...args: readonly string[]): Promise<CommandResult> {
  const environment = { DATABASE_URL: database.url, PORT: '0', NODE_ENV: 'production' };
  return runWarm([name, '--project', project.folder, ...args], environment);
}

const pathOf = (name: string): string => join(project.folder, 'generated', name);
const read = (name: string): Promise<string> => readFile(pathOf(name), 'utf8');

async function change(name: string, before: string, after: string): Promise<void> {
  const text = await read(name);
  expect(text).toContain(before);
  await writeFile(pathOf(name), text.replace(before, after));
}

it('the manifest has the version, the contract and the digest of every file', async () => {
  const manifest = JSON.parse(await read('manifest.json'));
  expect(manifest).toMatchObject({ tablewright: expect.stringMatching(/^\d+\.\d+\.\d+/), contract });
  expect(manifest.files).toMatchObject({ 'server.js': expect.stringMatching(/^[\w-]{43}$/) });
  expect(Object.keys(manifest.files)).not.toContain('manifest.json');
});

const sentence = `generated/ was made for contract 7, this is ${contract}: run platform generate.\n`;

it('a start with files of another contract ends with 4 and the cure, also without loading them', async () => {
  await change('manifest.json', `"contract": ${contract}`, '"contract": 7');
  const server = await read('server.js');
  await writeFile(pathOf('server.js'), "import { gone } from '@tablewright/runtime';\ngone();\n");
  for (const args of [[], ['--workers', '2']]) {
    expect(await platform('start', ...args)).toMatchObject({ code: 4, stderr: expect.stringContaining(sentence) });
  }
  await writeFile(pathOf('server.js'), server);
  await change('manifest.json', '"contract": 7', `"contract": ${contract}`);
});

it('so does a start of the generated program alone', async () => {
  await change('server.js', `contract: ${contract}`, 'contract: 7');
  const child = spawn(process.execPath, [pathOf('main.js')], {
    env: variablesOf(database.url, {}),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  expect((await once(child, 'exit'))[0]).toBe(4);
  expect(stderr).toBe(sentence);
  await change('server.js', 'contract: 7', `contract: ${contract}`);
});

it('a file that was edited is not overwritten: exit 1, its path and the cure, and nothing else is written', async () => {
  await change('routes/docs.js', '\n', '\n// mine\n');
  const before = await read('manifest.json');
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
  const refused = await platform('generate', '--json');
  expect(refused.code).toBe(1);
  const events = refused.stdout.split('\n').filter((line) => line.includes('"diagnostic"'));
  expect(events.map((line) => JSON.parse(line))).toMatchObject([
    { code: 'modified-output', place: 'generated/routes/docs.js', hint: expect.stringContaining('--force') },
  ]);
  const { code, stderr } = await platform('generate');
  expect(code).toBe(1);
  expect(stderr).toContain('generated/routes/docs.js');
  expect(await read('manifest.json')).toBe(before);
  // The same from a fresh clone, where nothing is known of the last run.
  await rm(join(project.folder, '.platform'), { recursive: true, force: true });
  expect((await platform('generate')).code).toBe(1);
  expect((await platform('generate', '--force')).code).toBe(0);
  expect(await read('routes/docs.js')).not.toContain('// mine');
  expect((await platform('generate', '--check')).code).toBe(0);
  expect((await platform('generate', '--check', '--force')).code).toBe(2);
});

it('conditions whose names would be the same are written out, each in its rule', async () => {
  // Both have the same title, and digests that begin with the same six digits.
  const [recent, older] = [4893, 7674].map((days) => `{ at: { _gte: $NOW(-${days} days) } }`);
  const rules = `[{ fields: [id], filter: ${recent} }, { fields: [title], filter: ${older} }]`;
  await writeFile(
    join(project.folder, 'permissions.yaml'),
    `permissions: { public: { docs: { read: ${rules}, update: ${rules} } } }\n`,
  );
  expect((await platform('generate')).code).toBe(0);
  const text = await read('access/public.js');
  expect(text.match(/P-\d+D/g)).toEqual(['P-4893D', 'P-7674D', 'P-4893D', 'P-7674D']);
  expect(await platform('check')).toMatchObject({ code: 0 });
});

it('a large project is warned anew by each run, also where nothing has changed', async () => {
  const tables = Array.from({ length: 100 }, (_, index) => `CREATE TABLE t${index} (id int PRIMARY KEY)`);
  await withClient(database.url, (client) => client.query(tables.join(';')));
  await mkdir(join(project.folder, 'extensions'));
  const text =
    "import { defineExtension } from '../generated/server.js';\nexport default defineExtension((on) => keep(on));\n";
  await writeFile(join(project.folder, 'extensions', 'kept.ts'), text);
  for (let run = 0; run < 2; run++) {
    expect(await platform('generate')).toMatchObject({ code: 0, stderr: expect.stringContaining('extension-unread') });
  }
});
