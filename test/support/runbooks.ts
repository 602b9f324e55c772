/** The machine that runbooks speak of, and their commands, run on it as they are written. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readText } from '../architecture/files.ts';
import { bundled, cheapPasswords } from './bundled.ts';
import { freePort } from './free-port.ts';
import { administrator, asking, compiledCode, createProject, type Platform, runPlatform, secret } from './platform.ts';
import { runBlocks } from './shell.ts';

/** Databases that runbooks have commands for. */
export type RunbookDatabase = 'PostgreSQL' | 'MariaDB';

/** Why runbooks cannot be run on a database; null where they can. */
export function missingTools(database: RunbookDatabase): string | null {
  const needed = database === 'MariaDB' ? ['mariadb', 'mariadb-dump'] : ['psql', 'pg_dump', 'pg_restore', 'createdb'];
  const missing = [...needed, 'curl', 'openssl', 'git'].filter((name) => spawnSync(name, ['--version']).error);
  if (missing.length > 0) return `${missing.join(', ')} is not installed`;
  if (database === 'MariaDB' || existsSync('/usr/lib/postgresql')) return null;
  return 'pg_dump reads servers up to its own version only, and no server of it is installed';
}

/** A part of a page: its blocks from one up to another, and what its shell knows. */
export interface PagePart {
  readonly from?: number;
  readonly to?: number;
  readonly variables?: Readonly<Record<string, string>>;
}

/** A machine with a served project. */
export interface RunbookMachine extends Pick<Platform, 'url' | 'ask'> {
  readonly folder: string;
  /** Address of the metrics. */
  readonly metricsUrl: string;
  /** Runs a page after the commands that come before each page; resolves to the texts that its blocks print. */
  runPage(name: string, part?: PagePart): Promise<readonly string[]>;
  /** Runs commands of a test in the same shell. */
  run(commands: string): Promise<string>;
  signIn(email: string, password: string): Promise<{ readonly access_token: string; readonly refresh_token: string }>;
  log(): string;
  close(): Promise<void>;
}

const repository = join(import.meta.dirname, '../..');
const command = join(repository, 'packages/cli/bin/platform.cjs');

/** Makes the project, commits it, and starts the unit of templates/deploy. */
export async function startMachine(database: RunbookDatabase, databaseUrl: string): Promise<RunbookMachine> {
  const project = await createProject();
  const { folder } = project;
  const machine = join(folder, 'machine');
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  const here = (text: string): string =>
    text
      .replaceAll(/\/(?=(?:etc|var)\/)/g, `${machine}/`)
      .replaceAll('/srv/tablewright', folder)
      .replaceAll('http://127.0.0.1:9464/metrics', metricsUrl);
  const write = (path: string, text: string): void => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  };

  write('permissions.yaml', permissions);
  write('.gitignore', 'machine\nnode_modules\n*.backup\nbackup.*\n*.gz\n');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(repository, 'packages/cli'), join(folder, 'node_modules/tablewright'));
  for (const name of ['var/lib/tablewright/uploads', 'var/cache/tablewright', 'home']) {
    mkdirSync(join(machine, name), { recursive: true });
  }
  for (const name of ['migrate', 'generate']) {
    const { code, stderr } = await runPlatform([name, '--project', folder], { DATABASE_URL: databaseUrl });
    expect([name, code, stderr]).toEqual([name, 0, expect.anything()]);
  }
  const { hostname, port: databasePort, username, password } = new URL(databaseUrl);
  const client = `[client]\nhost=${hostname}\nport=${databasePort}\nuser=${username}\npassword=${password}\n`;
  write('machine/home/.my.cnf', client);
  write('machine/home/.gitconfig', '[user]\nname = Test\nemail = test@example.com\n');
  write('machine/etc/systemd/system/tablewright.service', here(readText('templates/deploy/tablewright.service')));
  write('machine/etc/tablewright/secret', secret);
  write('machine/etc/tablewright/database_url', databaseUrl);
  const environment = {
    ...{ PORT: port, METRICS_PORT: metricsPort, LOGIN_STALL_TIME: 0, NODE_COMPILE_CACHE: compiledCode },
    ...{ ADMIN_EMAIL: administrator.email, ADMIN_PASSWORD: administrator.password },
    ...{ NODE_OPTIONS: bundled().join(' '), ...cheapPasswords },
  };
  const lines = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
  write('machine/etc/tablewright/environment', lines.join(''));

  const program = [process.execPath, ...bundled(), command].map((word) => `'${word}'`).join(' ');
  const prelude = `
sudo() { "$@"; }
npx() { shift; ${program} "$@" 2>&1; }
systemctl() { '${process.execPath}' '${join(repository, 'test/support/systemctl.mts')}' '${machine}' "$@"; }
journalctl() { case "$*" in *vacuum*) ;; *) cat '${machine}/log';; esac; }`;
  const shell = (blocks: readonly string[], variables: Readonly<Record<string, string>>) =>
    runBlocks(blocks.map(here), {
      folder,
      url,
      variables: { HOME: join(machine, 'home'), ...variables },
      prelude,
      start,
    });
  const [begin = ''] = blocksFor(database, 'index').map(({ commands }) => commands);
  const run = async (commands: string): Promise<string> => (await shell([begin, commands], {}))[1]?.trim() ?? '';

  await run('systemctl start tablewright; git init --quiet; git add .; git commit --quiet --message "first"');
  const { ask } = asking(url);
  return {
    ...{ folder, url, metricsUrl, ask, run },
    log: () => readFileSync(join(machine, 'log'), 'utf8'),
    async runPage(name, { from = 0, to, variables = {} } = {}) {
      const blocks = blocksFor(database, name).slice(from, to);
      expect(blocks.length, name).toBeGreaterThan(0);
      const printed = await shell([begin, ...blocks.map(({ commands }) => commands)], variables);
      for (const [index, { commands, answer }] of blocks.entries()) {
        if (answer === null) continue;
        const last = printed[index + 1]?.trim().split('\n').at(-1) ?? '';
        expect([commands, last.startsWith('{') ? JSON.parse(last) : last]).toEqual([commands, JSON.parse(answer)]);
      }
      return printed.slice(1);
    },
    async signIn(email, password) {
      const { status, json } = await ask('/auth/login', { method: 'POST', body: { email, password } });
      expect([email, status]).toEqual([email, 200]);
      return json.data;
    },
    async close() {
      execFileSync(process.execPath, [join(repository, 'test/support/systemctl.mts'), machine, 'stop']);
      await project.remove();
    },
  };
}

const permissions = `
roles: { editor: {} }
permissions:
  public: { articles: { read: true } }
  editor: { articles: { read: true, create: true, update: true }, platform_comments: { read: true, create: true } }
`;

interface Block {
  readonly commands: string;
  /** Null where the page shows none. */
  readonly answer: string | null;
}

/** Blocks of a page; one that begins with the name of a database is for that one alone. */
function blocksFor(database: RunbookDatabase, page: string): readonly Block[] {
  const found = [...readText(`docs/runbooks/${page}.md`).matchAll(/^```(sh|json)\n([\s\S]*?)^```$/gm)];
  return found.flatMap(([, language, text = ''], index): readonly Block[] => {
    const [, named] = /^# (PostgreSQL|MariaDB|MySQL)\n/.exec(text) ?? [];
    if (language === 'json' || (named !== undefined && named !== database)) return [];
    const next = found[index + 1];
    return [{ commands: text, answer: next?.[1] === 'json' ? (next[2] ?? '') : null }];
  });
}

/** Commands that are left running keep no pipe of the shell. */
function start(
  folder: string,
  [name = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
): ChildProcess {
  const { NODE_OPTIONS: _, DATABASE_URL: __, ...env } = process.env;
  const own = { NODE_COMPILE_CACHE: compiledCode, ...cheapPasswords, ...variables };
  return spawn(name, args, { cwd: folder, env: { ...env, ...own }, stdio: ['ignore', 'pipe', 'pipe'] });
}
