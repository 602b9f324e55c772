/** The pages of docs/quickstart, block by block. What npm would install is the code of this repository. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundledFor } from '../support/bundled.ts';
import { createDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject } from '../support/platform.ts';
import {
  existingDatabase,
  existingDatabasePage,
  frontendProgram,
  newProjectPage,
  printedByProgram,
  waiting,
} from '../support/quickstart.ts';
import { servers } from '../support/servers.ts';
import { expectPage } from '../support/shell.ts';

const command = fileURLToPath(new URL('../../packages/cli/bin/platform.cjs', import.meta.url));
const program = [...bundledFor(''), command].map((word) => `'${word}'`).join(' ');
/**
 * npm and npx of a machine on which the packages are installed: this test has no network, test/packages/quickstart.test.ts
 * runs the same pages with a registry.
 */
const shell = `
unset DATABASE_URL ADMIN_TOKEN
node() { '${process.execPath}' "$@"; }
npx() { [ "$1" = tablewright ] || [ "$1" = platform ]; shift; node ${program} "$@" >> commands.log 2>&1; }
npm() {
  case "$*" in
    'create tablewright@latest shop') mkdir shop; (cd shop; npx tablewright init --yes) ;;
    install) ;;
    'run generate') npx platform generate ;;
    'run dev') serve dev ;;
    start) serve start ;;
    *) echo "npm $*: not a command of this test" >&2; return 1 ;;
  esac
}
server() { exec '${process.execPath}' ${program} "$1" --json; }
${waiting}`;

interface Shop {
  readonly folder: string;
  readonly url: string;
}

/** Runs a page in a new folder, gives the project that it made to `use`, and stops its server. */
async function walk(page: string, variables: Readonly<Record<string, string>>, use: (shop: Shop) => Promise<void>) {
  const project = await createProject();
  const pids = join(project.folder, 'server.pid');
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  try {
    await expectPage(page, {
      folder: project.folder,
      url,
      variables: { PORT: port, PIDS: pids, ...variables },
      prelude: shell,
    });
    await use({ folder: join(project.folder, 'shop'), url });
  } finally {
    await stop(pids);
    await project.remove();
  }
}

async function stop(file: string): Promise<void> {
  const pid = Number(await readFile(file, 'utf8').catch(() => ''));
  if (pid === 0) return;
  process.kill(pid, 'SIGTERM');
  await expect.poll(() => isRunning(pid)).toBe(false);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it('a new project and its client answer what the pages say', { timeout: 120_000 }, async () => {
  await walk(newProjectPage(), { PROGRAM: frontendProgram() }, async ({ folder }) => {
    const printed = await readFile(join(folder, 'printed.txt'), 'utf8');
    expect(printed.trim().split('\n')).toEqual(printedByProgram());
  });
});

it('an existing database is served as the page says', { timeout: 120_000 }, async () => {
  const database = await createDatabase(existingDatabase());
  await walkExisting(database.url).finally(() => database.drop());
});

describe.each(servers)('an existing database of $name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  it('is served as the page says', { timeout: 120_000 }, async () => {
    const server = await start();
    await walkExisting(await createMysqlDatabase(server, existingDatabase())).finally(() => server.stop());
  });
});

async function walkExisting(url: string): Promise<void> {
  await walk(existingDatabasePage(url), { SECRET: 'a secret of 32 bytes or more, here' }, async ({ folder }) => {
    const log = await readFile(join(folder, 'commands.log'), 'utf8');
    expect(log).toContain('8 activity-actions');
    expect((await promisify(execFile)('stat', ['-c', '%a', join(folder, '.env')])).stdout.trim()).toBe('600');
  });
}
