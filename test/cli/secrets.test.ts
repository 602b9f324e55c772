/** Secrets of a server as its users start it: from files, in production, while they change, and on what they are printed. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withMysql, withoutMariadb } from '../support/mariadb.ts';
import { createProject, runPlatform, spawnPlatform, startUnchecked, variablesOf } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';
import { runRefused } from '../support/warm-command.ts';

// Several starts of the command each.
vi.setConfig({ testTimeout: 120_000 });

const marker = 'marker-of-a-secret-0123456789abcdefghij';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE notes (id int PRIMARY KEY); INSERT INTO notes VALUES (1)');
  await installSystem(database.url);
  project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
  expect(await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: database.url })).toMatchObject({
    code: 0,
  });
});
afterAll(() => Promise.all([database?.drop(), project?.remove()]));

/** How a start ends that is refused. */
async function refusal(variables: Readonly<Record<string, string>>): Promise<readonly [number, string]> {
  const environment = variablesOf(database.url, variables);
  const { code, stdout, stderr } = await runRefused(['start', '--project', project.folder], environment);
  expect(stdout + stderr).not.toContain(marker);
  return [code, stderr];
}

async function file(name: string, text: string): Promise<string> {
  const path = join(project.folder, name);
  await writeFile(path, text);
  return path;
}

describe('a file that cannot be used ends the start with code 4', () => {
  it.each(['SECRET', 'ADMIN_TOKEN', 'DATABASE_URL', 'EMAIL_SMTP_PASSWORD'])('%s', async (name) => {
    const of = (path: string) => refusal({ [name]: '', [`${name}_FILE`]: path });
    const given = await file('given', marker);
    expect(await refusal({ [name]: marker, [`${name}_FILE`]: given })).toEqual([
      4,
      expect.stringContaining(`${name} and ${name}_FILE are both set: remove one of them.`),
    ]);
    const begin = `${name}_FILE names a file that`;
    expect(await of(join(project.folder, 'absent'))).toEqual([4, expect.stringContaining(`${begin} does not exist.`)]);
    expect(await of(await file('empty', '\n'))).toEqual([4, expect.stringContaining(`${begin} is empty.`)]);
    expect(await of(await file('large', marker.repeat(2_000)))).toEqual([
      4,
      expect.stringContaining(`${begin} is larger than 64 kB.`),
    ]);
    const closed = await file('closed', marker);
    await chmod(closed, 0);
    // Root reads every file.
    if (process.getuid?.() !== 0) expect(await of(closed)).toEqual([4, expect.stringContaining('cannot be read')]);
    await chmod(closed, 0o600);
  });
});

it('a start without an address makes no database, in any folder', async () => {
  const elsewhere = join(project.folder, 'elsewhere');
  await mkdir(elsewhere);
  const result = await promisify(execFile)(process.execPath, [join(project.folder, 'generated', 'main.js')], {
    cwd: elsewhere,
    env: { ...process.env, DATABASE_URL: '' },
  }).catch((error: { readonly code: number; readonly stderr: string }) => error);
  expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining('DATABASE_URL is not set, and ') });
  expect(await readdir(elsewhere)).toEqual([]);
  await writeFile(join(project.folder, '.env'), 'DATABASE_URL=postgres://nowhere.invalid/x\n');
  const variables = { DATABASE_URL: '', ADMIN_TOKEN: 'x'.repeat(32), SECRET: 'x'.repeat(32) };
  const started = await runPlatform(['start', '--project', project.folder], variables);
  await rm(join(project.folder, '.env'));
  expect([started.code, started.stderr]).toEqual([4, expect.stringContaining(' which hides its line in .env.')]);
});

describe('in production', () => {
  const production = {
    // As a file whose lines end with CRLF gives it.
    NODE_ENV: 'production\r',
    ADMIN_EMAIL: '',
    ADMIN_PASSWORD: '',
    ADMIN_TOKEN: '',
    LOG_LEVEL: 'warn',
  };

  it('no database is made where its address was forgotten', async () => {
    const nothing = { ...production, DATABASE_URL: '', SECRET: 'x'.repeat(32) };
    const [started, main] = await Promise.all([
      runPlatform(['start', '--project', project.folder], nothing),
      promisify(execFile)(process.execPath, [join(project.folder, 'generated', 'main.js')], {
        cwd: project.folder,
        env: { ...process.env, ...nothing },
      }).catch((error: { readonly code: number; readonly stderr: string }) => error),
    ]);
    for (const result of [started, main]) {
      expect(result).toMatchObject({ code: 4, stderr: expect.stringContaining('DATABASE_URL is not set, and ') });
    }
    await expect(stat(join(project.folder, '.platform', 'database'))).rejects.toThrow('ENOENT');
  });

  it('no admin token and no password is made, kept or printed', async () => {
    const server = await startUnchecked(project.folder, database.url, production, []);
    try {
      expect(server.log()).toContain('There is no user yet. Run `platform users create`');
      expect(server.log()).not.toContain('"administrator"');
      for (const name of ['admin-token', 'admin-password']) {
        await expect(stat(join(project.folder, '.platform', name))).rejects.toThrow('ENOENT');
      }
      const { rows } = await withClient(database.url, (client) =>
        client.query('SELECT count(*)::int AS users FROM platform.platform_users'),
      );
      expect(rows).toEqual([{ users: 0 }]);
    } finally {
      await server.stop();
    }
  });

  it('a token that was kept before opens nothing', async () => {
    const kept = await startUnchecked(project.folder, database.url, { ADMIN_TOKEN: '' }, []);
    await kept.stop();
    const token = (await readFile(join(project.folder, '.platform', 'admin-token'), 'utf8')).trim();
    const server = await startUnchecked(project.folder, database.url, production, []);
    const { status } = await server.ask('/users', { token });
    await server.stop();
    expect(status).toBe(401);
  });

  it('ADMIN_TOKEN needs 32 characters', async () => {
    const token = randomBytes(15).toString('hex');
    const [code, printed] = await refusal({ ...production, ADMIN_TOKEN: token });
    expect([code, printed]).toEqual([4, expect.stringContaining('ADMIN_TOKEN must have at least 32 characters')]);
    expect(printed).not.toContain(token);
    const server = await startUnchecked(project.folder, database.url, { ...production, ADMIN_TOKEN: `${token}xy` }, []);
    const { status } = await server.ask('/users', { token: `${token}xy` });
    await server.stop();
    expect(status).toBe(200);
  });
});

it('a terminal shows the token, and a pipe the path of its file', async () => {
  const server = await startUnchecked(project.folder, database.url, { ADMIN_TOKEN: '' }, []);
  await server.stop();
  const token = (await readFile(join(project.folder, '.platform', 'admin-token'), 'utf8')).trim();
  expect(server.log()).not.toContain(token);
  const variables = { ADMIN_TOKEN: '', CORS_ORIGIN: 'https://app.example.com', AUTH_CORP_DRIVER: 'openid' };
  const printed = await terminalOf({ ...variablesOf(database.url, variables) });
  expect(printed).toContain(`Admin token: ${token} (kept in `);
  expect(printed).toMatch(/^Database: postgres(ql)?:\/\/[^@]*\r?$/m);
  expect(printed).toContain(
    'warning: environment: CORS_ORIGIN has no effect without CORS_ENABLED=true. Set both, or neither.',
  );
  expect(printed).toContain('AUTH_CORP_DRIVER has no effect unless AUTH_PROVIDERS names corp. Set both, or neither.');
});

it('the requests that it prints find secrets in their files', async () => {
  const fresh = await createDatabase('CREATE TABLE notes (id int PRIMARY KEY)');
  await installSystem(fresh.url);
  const files = {
    ADMIN_TOKEN_FILE: await file('token of admin', `${marker}-token\n`),
    ADMIN_PASSWORD_FILE: await file('password', `${marker}-password\n`),
  };
  const variables = variablesOf(fresh.url, { ...files, ADMIN_TOKEN: '', ADMIN_PASSWORD: '' });
  const server = spawnPlatform(['start', '--project', project.folder], variables);
  const ended = once(server, 'exit');
  let printed = '';
  server.stderr.on('data', (chunk) => (printed += String(chunk)));
  try {
    await expect.poll(() => printed, { timeout: 20_000 }).toContain('/server/specs/oas');
    expect(printed).not.toContain(marker);
    expect(printed).toContain(`Admin token: in ${files.ADMIN_TOKEN_FILE}`);
    expect(printed).toContain(`Administrator: admin@example.com, password: in ${files.ADMIN_PASSWORD_FILE}`);
    const requests = printed.split('\n').filter((line) => line.startsWith('  curl'));
    expect(requests).toHaveLength(4);
    for (const request of requests) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${request} --silent`]);
      expect(Object.keys(JSON.parse(stdout))).not.toContain('errors');
    }
  } finally {
    server.kill();
    await ended;
    await fresh.drop();
  }
});

/** What a start prints on a terminal until it is stopped. */
async function terminalOf(env: NodeJS.ProcessEnv): Promise<string> {
  const command = join(import.meta.dirname, '../../packages/cli/bin/platform.cjs');
  const line = `timeout --signal=TERM 8 ${process.execPath} ${command} start --project ${project.folder}`;
  const { stdout } = await promisify(execFile)('script', ['--quiet', '--command', line, '/dev/null'], { env });
  return stdout;
}

it('tokens of SECRET_PREVIOUS are valid after a change of SECRET', async () => {
  const old = await startUnchecked(project.folder, database.url, {}, []);
  const body = { email: 'admin@example.com', password: 'administrator of tests' };
  const { json } = await old.ask('/auth/login', { method: 'POST', body });
  await old.stop();
  const token: string = json.data.access_token;
  const previous = variablesOf('', {}).SECRET ?? '';
  for (const [variables, status] of [
    [{ SECRET: marker, SECRET_PREVIOUS: previous }, 200],
    [{ SECRET: marker }, 403],
  ] as const) {
    const server = await startUnchecked(project.folder, database.url, variables, []);
    const answers = [await server.ask('/users/me', { token })];
    const { json: fresh } = await server.ask('/auth/login', { method: 'POST', body });
    answers.push(await server.ask('/users/me', { token: fresh.data.access_token }));
    await server.stop();
    expect(answers.map((answer) => answer.status)).toEqual([status, 200]);
  }
});

it.each(['auto', 'pg'])('a password of PostgreSQL changes without a restart, with the driver %s', async (driver) => {
  const role = `secrets_${database.name}_${driver}`;
  await withClient(database.url, (client) =>
    client.query(`CREATE ROLE ${role} LOGIN SUPERUSER PASSWORD 'first password'`),
  );
  const url = new URL(database.url);
  const address = (password: string): string => Object.assign(url, { username: role, password }).href;
  const path = await file('url', `${address('first password')}\n`);
  const variables = { DATABASE_URL_FILE: path, DATABASE_DRIVER: driver };
  const server = await startUnchecked(project.folder, '', variables, []);
  try {
    expect((await server.ask('/items/notes')).status).toBe(200);
    await writeFile(path, `${address('another one')}\n`);
    await withClient(database.url, (client) => client.query(`ALTER ROLE ${role} PASSWORD 'another one'`));
    await withClient(database.url, (client) =>
      client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]),
    );
    await expect.poll(async () => (await server.ask('/items/notes')).status, { timeout: 20_000 }).toBe(200);
    expect(server.log()).not.toContain('another%20one');
  } finally {
    await server.stop();
    await withClient(database.url, (client) => client.query(`DROP ROLE ${role}`));
  }
});

it.skipIf(noMariadb)(`so does one of MariaDB${withoutMariadb}`, async () => {
  const mysqlUrl = await createMysqlDatabase(await startMariadb(), 'CREATE TABLE notes (id int PRIMARY KEY)');
  const served = await createProject();
  const user = 'secrets_user';
  const address = (password: string): string => Object.assign(new URL(mysqlUrl), { username: user, password }).href;
  try {
    await writeFile(join(served.folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
    await withMysql(mysqlUrl, async (connection) => {
      await connection.query(`CREATE USER ${user} IDENTIFIED BY 'first password'`);
      await connection.query(`GRANT ALL ON *.* TO ${user}`);
    });
    const path = join(served.folder, 'url');
    await writeFile(path, `${address('first password')}\n`);
    const server = await startUnchecked(served.folder, '', { DATABASE_URL_FILE: path });
    expect((await server.ask('/items/notes')).status).toBe(200);
    await writeFile(path, `${address('another one')}\n`);
    await withMysql(mysqlUrl, async (connection) => {
      await connection.query(`ALTER USER ${user} IDENTIFIED BY 'another one'`);
      await connection.query(`KILL USER ${user}`);
    });
    await expect.poll(async () => (await server.ask('/items/notes')).status, { timeout: 20_000 }).toBe(200);
    await server.stop();
  } finally {
    await withMysql(mysqlUrl, (connection) => connection.query(`DROP USER IF EXISTS ${user}`));
    await served.remove();
  }
});
