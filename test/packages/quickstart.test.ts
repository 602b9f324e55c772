/** The pages of docs/quickstart, block by block, as a stranger runs them: npm takes the packages from a registry. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readText } from '../architecture/files.ts';
import { blocksOf } from '../support/examples.ts';
import { freePort } from '../support/free-port.ts';
import { createDatabaseOn, type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  existingDatabase,
  existingDatabasePage,
  frontendProgram,
  newProjectPage,
  printedByProgram,
  waiting,
} from '../support/quickstart.ts';
import { expectPage } from '../support/shell.ts';
import { type Machine, startMachine, type Variables } from './machine.ts';

const minutes = 60_000;
let machine: Machine;
let postgres: PostgresServer;

beforeAll(async () => {
  [machine, postgres] = await Promise.all([startMachine(), startPostgres()]);
}, 6 * minutes);
afterAll(async () => {
  await postgres?.stop();
  await machine?.close();
}, 3 * minutes);

/** The real npm: what it prints is kept apart from the answers, and what would fill a terminal goes on in the background. */
const shell = `
npx() { command npx "$@" >> "$LOG" 2>&1; }
npm() { case "$*" in 'run dev') serve dev ;; start) serve start ;; *) command npm "$@" >> "$LOG" 2>&1 ;; esac; }
server() { command npm run "$1" -- --json; }
${waiting}`;

/** Runs a page in a folder, and ends the servers that it started. Resolves to the folder of its project. */
async function walk(name: string, page: string, variables: Variables): Promise<string> {
  const folder = machine.makeFolder(name);
  const port = String(await freePort());
  const own = { PORT: port, PIDS: join(folder, 'server.pid'), LOG: join(folder, 'npm.log') };
  let started: ChildProcess | undefined;
  try {
    await expectPage(page, {
      folder,
      url: `http://127.0.0.1:${port}`,
      variables: { ...own, ...variables },
      prelude: shell,
      start: (...args) => (started = machine.start(...args)),
    });
  } finally {
    const pid = started?.pid ?? 0;
    if (isRunning(pid)) process.kill(-pid, 'SIGINT');
    await expect.poll(() => isRunning(pid), { timeout: minutes }).toBe(false);
  }
  return join(folder, 'shop');
}

/** Whether a process of the group is left. */
function isRunning(group: number): boolean {
  try {
    process.kill(-group, 0);
    return group > 0;
  } catch {
    return false;
  }
}

test('npm create makes a project that answers what the pages say', { timeout: 8 * minutes }, async () => {
  const folder = await walk('new project', newProjectPage(), { PROGRAM: frontendProgram() });
  const printed = readFileSync(join(folder, 'printed.txt'), 'utf8');
  expect(printed.trim().split('\n')).toEqual(printedByProgram());
  // The rules of the page have taken the price away, which the program reads.
  const { output } = await machine.run(folder, ['npx', 'tsc', '--noEmit']);
  expect(output).toMatch(/^program\.ts\(\d+,\d+\): error TS\d+: Type '"price"' is not assignable/m);
});

test('npx makes a project of an existing database', { timeout: 8 * minutes }, async () => {
  const database = await createDatabaseOn(postgres.url, existingDatabase());
  await walk('existing database', existingDatabasePage(database.url), { SECRET: 'a secret of 32 bytes or more, here' });
});

test('npm create makes the project of a frontend', { timeout: 8 * minutes }, async () => {
  const [create = ''] = blocksOf(readText('docs/quickstart/frontend.md'), 'sh');
  const folder = machine.makeFolder('frontend');
  await machine.succeed(folder, ['bash', '-eu', '-c', create]);
  const project = join(folder, 'recipes');
  const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['react', 'tablewright']));
});
