/** fixtures/projects/pipeline as its pipeline has it: a clone without a database, and the steps of the workflow of docs/pipelines.md. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../packages/tarballs.ts';
import { createFolder, type Ending, type InstalledProject, installFixture, succeed } from './projects.ts';

const workflow = '.github/workflows/api.yml';

let work: InstalledProject;
let remote: InstalledProject;
let clone: InstalledProject;
beforeAll(async () => {
  [work, remote, clone] = [await installFixture('pipeline'), await createFolder(), await createFolder()];
  await mkdir(join(work.folder, '.github/workflows'), { recursive: true });
  const pipelines = join(root, 'docs/pipelines');
  await copyFile(join(pipelines, 'check.sh'), join(work.folder, 'check.sh'));
  await copyFile(join(pipelines, 'github-actions.yml'), join(work.folder, workflow));
  await succeed(remote, 'git', ['init', '--quiet', '--bare', '--initial-branch', 'main']);
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('remote', 'add', 'origin', remote.folder);
  await succeed(work, 'npx', ['platform', 'migrate']);
  await compile();
  await push('main');
  await succeed(clone, 'git', ['clone', '--quiet', remote.folder, '.']);
}, 600_000);
afterAll(() => Promise.all([work, remote, clone].map((folder) => folder?.remove())));

/** Shell commands of a job, up to the one that judges; later ones tell its verdict on GitHub. */
async function stepsOf(job: string): Promise<readonly string[]> {
  const { jobs } = parse(await readFile(join(work.folder, workflow), 'utf8'));
  const commands: readonly string[] = jobs[job].steps.flatMap(({ run }: { readonly run?: string }) => run ?? []);
  return commands.slice(0, commands.findIndex((command) => /check/.test(command)) + 1);
}

async function git(...args: readonly string[]): Promise<void> {
  await succeed(work, 'git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args]);
}

/** Begins a change where the base is now. */
async function branch(name: string): Promise<void> {
  await git('switch', '--quiet', '--create', name, 'main');
}

/** Writes what the project's README tells after a change. */
async function compile(): Promise<void> {
  await succeed(work, 'npm', ['run', 'generate']);
}

async function push(name: string): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', `Change ${name}`);
  await git('push', '--quiet', 'origin', `HEAD:${name}`);
}

/** Runs the steps that judge a pull request, in a clone at its branch. */
async function judge(name: string): Promise<Ending & { readonly report: string }> {
  await succeed(clone, 'git', ['fetch', '--quiet', 'origin']);
  await succeed(clone, 'git', ['checkout', '--quiet', `origin/${name}`]);
  await rm(join(clone.folder, 'diff.md'), { force: true });
  const ending = await runSteps(clone, 'judge');
  return { ...ending, report: await readFile(join(clone.folder, 'diff.md'), 'utf8').catch(() => '') };
}

/** Packages are installed once a folder: no change of this test is one of package-lock.json. */
async function runSteps({ folder, run }: InstalledProject, job: string): Promise<Ending> {
  let output = '';
  for (const step of await stepsOf(job)) {
    if (step === 'npm ci' && existsSync(join(folder, 'node_modules'))) continue;
    const ending = await run('sh', ['-ec', step], { BASE: 'main', npm_config_prefer_offline: 'true' });
    output += ending.output;
    if (ending.code !== 0) return { code: ending.code, output };
  }
  return { code: 0, output };
}

it('takes its steps from the workflow', async () => {
  expect(await stepsOf('judge')).toEqual(['npm ci', 'sh check.sh "origin/$BASE"']);
  expect(await stepsOf('fits')).toEqual(['npm ci', 'npx platform check']);
});

it('lets a change pass that breaks nothing, and reports it', async () => {
  await branch('safe');
  await writeFile(join(work.folder, 'migrations/0002-add-isbn.sql'), 'ALTER TABLE books ADD COLUMN isbn text;\n');
  await work.replace('permissions.yaml', '[id, title, pages, author]', '[id, title, pages, author, isbn]');
  await succeed(work, 'npx', ['platform', 'migrate']);
  await compile();
  await push('safe');
  const { code, output, report } = await judge('safe');
  expect(code, output).toBe(0);
  expect(report).toContain('`books.isbn`');
}, 240_000);

it('tells whether the database fits before a deployment', async () => {
  const fitting = await runSteps(work, 'fits');
  expect(fitting.code, fitting.output).toBe(0);
  const migration = join(work.folder, 'migrations/0003-drop-isbn.sql');
  await writeFile(migration, 'ALTER TABLE books DROP COLUMN isbn;\n');
  await succeed(work, 'npx', ['platform', 'migrate']);
  const { code, output } = await runSteps(work, 'fits');
  await rm(migration);
  expect(output).toContain('isbn');
  expect(code).toBe(1);
}, 240_000);

it('stops a change that breaks clients, until it is acknowledged', async () => {
  await branch('breaking');
  await work.replace('permissions.yaml', 'title, pages, author', 'title, author');
  await compile();
  await push('breaking');
  const { code, output, report } = await judge('breaking');
  expect(output).toContain('books.pages');
  expect(report).toContain('**`books.pages`**');
  expect(code).toBe(1);
  const [, rule = ''] = /breaking +books\.pages +(\S+)/.exec(output) ?? [];
  await writeFile(join(work.folder, 'acknowledged-changes.txt'), `${rule} books.pages\n`);
  await push('breaking');
  const acknowledged = await judge('breaking');
  expect(acknowledged.code, acknowledged.output).toBe(0);
}, 240_000);

it('stops a change that was not compiled', async () => {
  await branch('stale');
  await work.replace('permissions.yaml', '[returned_on]', '[returned_on, reader]');
  await push('stale');
  const { code, output } = await judge('stale');
  expect(output).toContain('run `npx platform generate`');
  expect(code).toBe(1);
}, 240_000);

it('stops a change whose table of rights was not written', async () => {
  await branch('unlisted');
  await work.replace('permissions.yaml', '[returned_on]', '[returned_on, reader]');
  await succeed(work, 'npx', ['platform', 'generate']);
  await push('unlisted');
  const { code, output } = await judge('unlisted');
  expect(output).toContain('permissions.md would change');
  expect(code).toBe(1);
}, 240_000);
