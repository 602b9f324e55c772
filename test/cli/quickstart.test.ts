/** The pages of docs/quickstart, block by block. What npm would install is the code of this repository. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { createProject } from '../support/platform.ts';
import { expectPage } from '../support/shell.ts';

const command = fileURLToPath(new URL('../../packages/cli/bin/platform.cjs', import.meta.url));
const quickstart = new URL('../../docs/quickstart/', import.meta.url);

const readPage = (name: string): Promise<string> => readFile(new URL(`${name}.md`, quickstart), 'utf8');

function blocks(page: string, language: string): string {
  const found = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return [...found].map(([, text = '']) => text).join('\n');
}

/**
 * npm and npx of a machine on which the packages are installed, and a curl that waits where a person would: until the
 * server in the other terminal listens, and until it serves what was changed. The first server that a page starts runs on.
 */
const shell = `
unset DATABASE_URL ADMIN_TOKEN
npx() { [ "$1" = tablewright ] || [ "$1" = platform ]; shift; '${process.execPath}' '${command}' "$@" >> commands.log 2>&1; }
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
serve() {
  '${process.execPath}' '${command}' "$1" --json > server.log 2> errors.log &
  echo $! > "$PIDS"
  until grep -q '"event":"listening"' server.log; do kill -0 $!; sleep 0.1; done
  touch served
}
curl() {
  if [ permissions.yaml -nt served ]; then
    until [ "$(grep -c '"event":"rebuilt"' server.log)" -gt 0 ]; do sleep 0.1; done
    touch served
  fi
  command curl -sS "$@"
}
run_program() {
  echo "\${PROGRAM//8055/$PORT}" > program.ts
  '${process.execPath}' program.ts > printed.txt
}
`;

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
  const program = blocks(await readPage('frontend'), 'ts');
  const page = await readPage('embedded');
  // The client reads prices before the page takes them away.
  const [before = '', after = ''] = page.split(/^(?=## Change the rules)/m);
  const here = `${before}\n\`\`\`sh\nrun_program\n\`\`\`\n\n${after}`;
  await walk(here, { PROGRAM: program }, async ({ folder }) => {
    const expected = [...program.matchAll(/\/\/ (.*)$/gm)].map(([, text]) => text);
    expect((await readFile(join(folder, 'printed.txt'), 'utf8')).trim().split('\n')).toEqual(expected);
  });
});

it('an existing database is served as the page says', { timeout: 120_000 }, async () => {
  const page = await readPage('existing-database');
  const database = await createDatabase();
  try {
    await withClient(database.url, (client) => client.query(blocks(page, 'sql')));
    const here = page.replace('postgres://user:password@localhost:5432/shop', database.url);
    await walk(here, { SECRET: 'a secret of 32 bytes or more, here' }, async ({ folder }) => {
      const log = await readFile(join(folder, 'commands.log'), 'utf8');
      expect(log).toContain('7 product-name');
      expect((await promisify(execFile)('stat', ['-c', '%a', join(folder, '.env')])).stdout.trim()).toBe('600');
    });
  } finally {
    await database.drop();
  }
});
