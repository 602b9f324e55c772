/** The walk of docs/pipelines.md: a pull request that breaks something, and the same acknowledged. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundled } from '../support/bundled.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import type { CommandResult } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('../../docs/pipelines/check.sh', import.meta.url));
const command = fileURLToPath(new URL('../../packages/cli/bin/platform.cjs', import.meta.url));

let folder: string;
let database: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'platform-pipeline-'));
  database = await createDatabase('CREATE TABLE books (id int PRIMARY KEY, title text NOT NULL, pages int)');
  await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { books: { read: true } } }\n');
  await git('init', '--quiet', '--initial-branch', 'main');
  await writeFile(join(folder, '.gitignore'), 'diff.md\n');
  await commit();
  await git('tag', 'begin');
  await compile();
  await commit();
});
afterAll(() => Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]));

async function git(...args: readonly string[]): Promise<void> {
  await run('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], { cwd: folder });
}

async function commit(): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'change');
}

function platform(...args: readonly string[]): Promise<CommandResult> {
  return runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
}

/** The first step of the walk. */
async function compile(): Promise<void> {
  expect((await platform('generate')).code).toBe(0);
  expect((await platform('permissions', 'matrix', '--output', 'permissions.md')).code).toBe(0);
}

/** The second one, as a pipeline takes it: no database. */
async function judge(base = 'main'): Promise<{ readonly code: number; readonly output: string }> {
  const environment = {
    ...process.env,
    DATABASE_URL: '',
    PLATFORM: [process.execPath, ...bundled(), command].join(' '),
  };
  try {
    const { stdout, stderr } = await run('sh', [script, base], { cwd: folder, env: environment });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const failed: { readonly code?: unknown; readonly stdout?: unknown; readonly stderr?: unknown } =
      typeof error === 'object' && error !== null ? error : {};
    return { code: Number(failed.code), output: `${failed.stdout}${failed.stderr}` };
  }
}

it('lets a new project pass, and judges a branch without what was added to its base since', async () => {
  const fresh = await judge('begin');
  expect(fresh.output).toContain('The project is new');
  expect(fresh.code).toBe(0);

  await git('branch', 'behind');
  const permissions = join(folder, 'permissions.yaml');
  const rules = await readFile(permissions, 'utf8');
  await writeFile(permissions, `roles: { reader: {} }\n${rules}`);
  await compile();
  await commit();
  await git('switch', '--quiet', 'behind');
  const behind = await judge();
  expect(behind.output).toContain('0 breaking, 0 dangerous, 0 safe.');
  expect(behind.code).toBe(0);
  await git('switch', '--quiet', 'main');
  await git('reset', '--quiet', '--hard', 'behind');

  const strange = await judge('no-such-base');
  expect(strange.output).toContain('fetch the whole history');
  expect(strange.code).toBe(2);
}, 180_000);

it('stops a breaking change, and lets it pass when it is acknowledged', async () => {
  await git('switch', '--quiet', '--create', 'change');
  const sql = 'CREATE TABLE shelves (id int PRIMARY KEY); ALTER TABLE books DROP COLUMN pages';
  await withClient(database.url, (client) => client.query(sql));
  await compile();
  const breaking = await judge();
  expect(breaking.output).toContain('breaking   books.pages  field-removed');
  expect(breaking.output).toContain('safe       shelves  collection-added');
  expect(breaking.output).toMatch(
    /If that is meant, add to acknowledged-changes\.txt:\n {2}field-removed books\.pages\n {2}input-removed books\.pages\n/,
  );
  expect(breaking.code).toBe(1);
  expect(await readFile(join(folder, 'diff.md'), 'utf8')).toContain('**`books.pages`** "pages" is gone.');

  const agreed = ['field-removed books.pages # unread', 'input-removed books.pages', 'field-removed books.page', ''];
  await writeFile(join(folder, 'acknowledged-changes.txt'), agreed.join('\n'));
  const acknowledged = await judge();
  expect(acknowledged.output).toContain('4 acknowledged.');
  expect(acknowledged.output).toContain(
    'warning stale-acknowledgement at acknowledged-changes.txt:3\n  The comparison has no change "field-removed books.page".',
  );
  expect(acknowledged.code).toBe(0);
}, 180_000);

it('stops what was not compiled, and compares with the live database', async () => {
  await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { books: { read: { fields: [id] } } } }\n');
  const stale = await judge();
  expect(stale.output).toMatch(/run `.* generate`/);
  expect(stale.code).toBe(1);
  await withClient(database.url, (client) => client.query('ALTER TABLE books ALTER title DROP NOT NULL'));
  const live = await platform('diff', 'work', 'database', '--format', 'sarif', '--fail-on', 'dangerous');
  const [run] = JSON.parse(live.stdout).runs;
  expect(run.results[0].ruleId).toBe('field-now-nullable');
  expect(run.tool.driver.version).toBe((await platform('--version')).stdout.trim());
  expect(live.code).toBe(1);
  await withClient(database.url, (client) => client.query('ALTER TABLE books RENAME id TO isbn'));
  const broken = await platform('diff', 'work', 'database', '--no-guess');
  expect(broken.stdout).toContain('books.id  field-removed');
  expect(broken.stderr).toMatch(/ permissions\.yaml:1:\d+\n.*"id"\.\n1 error: "database" cannot be compiled\.\n/);
  expect(broken.code).toBe(1);
  const events = await platform('diff', 'work', 'database', '--json');
  const told = events.stdout.split('\n').filter((line) => line.includes('"diagnostic"'));
  expect(told.map((line) => JSON.parse(line).severity)).toContain('error');
  expect(events.code).toBe(1);
  await withClient(database.url, (client) => client.query('ALTER TABLE books RENAME isbn TO id'));
  const unwritable = await platform('diff', 'HEAD', '--output', join(folder, 'nowhere', 'diff.md'));
  expect(unwritable.stderr).toContain('--output cannot be written');
  expect(unwritable.code).toBe(2);
  const nowhere = await platform('diff', 'no-such-revision');
  expect(nowhere.stderr).toContain('is neither a file nor a revision');
  expect(nowhere.code).toBe(2);
}, 180_000);

it('tells that a document, a route and a hook of the project have changed', async () => {
  const extension = join(folder, 'extensions', 'reports.ts');
  const extend = (year: string, more: string): Promise<void> =>
    writeFile(
      extension,
      `import { defineExtension } from '../generated/extension.js';
export default defineExtension(({ route, before }) => {
  route<{ params: { year: ${year} } }>('GET /reports/:year', { roles: ['public'] }, () => undefined);
  ${more}
});
`,
    );
  await mkdir(dirname(extension), { recursive: true });
  await extend('number', '');
  const file = join(folder, 'documents', 'public', 'books.graphql');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, 'query Books { books { id } }\n');
  await compile();
  await commit();
  expect(await platform('diff')).toMatchObject({ code: 0 });
  await writeFile(file, 'query Books { books(limit: 1) { id } }\n');
  await extend('2024 | 2025', "before('books.delete', () => undefined);");
  await compile();
  const { code, stdout } = await platform('diff');
  expect(code).toBe(1);
  expect(stdout).toContain('document Books');
  expect(stdout).toContain('route GET /reports/:year  route-input-narrowed');
  expect(stdout).toContain('hook before books.delete  hook-added');
});
