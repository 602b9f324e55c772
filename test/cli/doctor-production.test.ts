/** What `platform doctor --production` finds: each code in a configuration that has it, and none in one that follows all advice. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, test, vi } from 'vitest';
import { connectionFacts } from '../../packages/cli/src/doctor/examine-database.ts';
import { checks, strictFindings } from '../../packages/cli/src/doctor/production/checks.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withMysql, withoutMariadb } from '../support/mariadb.ts';
import { createProject } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';
import { runWarm } from '../support/warm-command.ts';

// Several starts of the command each.
vi.setConfig({ testTimeout: 120_000 });

/** Small, as every run compiles it: the sample is examined once. */
let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
/** A folder that every user of the machine can enter. */
let open: string;
const roles = new Map<TestDatabase, string>();
beforeAll(async () => {
  [database, project, open] = await Promise.all([
    createDatabase('CREATE TABLE notes (id int PRIMARY KEY)'),
    createProject(),
    mkdtemp(join(tmpdir(), 'platform-open-')),
  ]);
  await chmod(open, 0o755);
  await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
  await installSystem(database.url);
  good.DATABASE_URL = await makeRole(database);
  expect(await generate(project.folder, good.DATABASE_URL)).toMatchObject({ code: 0 });
  expect(await production(good)).toEqual({ code: 0, found: [] });
});
afterAll(async () => {
  for (const [{ url }, role] of roles) {
    await withClient(url, (client) => client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  }
  await Promise.all([database?.drop(), project?.remove(), rm(open, { recursive: true, force: true })]);
});

const generate = (folder: string, url: string) => runWarm(['generate', '--project', folder], { DATABASE_URL: url });

/** The URL of a database for a role that may do what the server needs, and no more. */
async function makeRole(served: TestDatabase): Promise<string> {
  const role = `production_${served.name}`;
  await withClient(served.url, (client) =>
    client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT USAGE ON SCHEMA public, platform TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, platform TO ${role};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA public, platform TO ${role}`),
  );
  roles.set(served, role);
  return Object.assign(new URL(served.url), { username: role, password: 'x' }).href;
}

interface Finding {
  readonly check: string;
  readonly severity: string;
  readonly message: string;
  readonly advice: string;
}

/** Runs the command in a project. */
async function examine(
  variables: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  folder = project.folder,
): Promise<{ readonly code: number; readonly found: readonly Finding[] }> {
  const { code, stdout } = await runWarm(['doctor', '--json', ...args, '--project', folder], variables);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { code, found: events.filter(({ event }) => event === 'finding') };
}

const production = (variables: Readonly<Record<string, string>>, args: readonly string[] = []) =>
  examine(variables, ['--production', ...args]);

const codesOf = (found: readonly Finding[]): readonly string[] => [...new Set(found.map(({ check }) => check))];

/** Variables of a server without findings; `url` is that of its role. */
const good: Record<string, string> = {
  SECRET: 'c0ffee5ec2e7d15ea5e0ddba11cafe0123456789abcdef0123456789abcdef01',
  PUBLIC_URL: 'https://magazine.example.com',
  IP_TRUST_PROXY: '10.0.0.0/8',
  GRAPHQL_INTROSPECTION: 'false',
  RATE_LIMITER_ENABLED: 'true',
  EMAIL_SMTP_HOST: 'mail.example.com',
  EMAIL_FROM: 'Magazine <no-reply@example.com>',
};

it('the sample has no findings after all advice was followed', async () => {
  const sample = await createMagazineDatabase();
  const { folder, remove } = await createProject('fixtures/magazine');
  await installSystem(sample.url);
  expect(await generate(folder, sample.url)).toMatchObject({ code: 0 });
  const first = await examine({ DATABASE_URL: sample.url }, ['--production'], folder);
  expect(first.code).toBe(1);
  expect(codesOf(first.found)).toEqual([
    ...['database-superuser', 'rule-index', 'secret-short', 'public-url-not-https', 'proxy-untrusted'],
    ...['introspection-on', 'rate-limits-off', 'mail-to-files'],
  ]);
  // Advice that names statements.
  for (const { advice } of first.found) {
    const [sql] = /CREATE INDEX .*;/.exec(advice) ?? [];
    if (sql !== undefined) await withClient(sample.url, (client) => client.query(sql));
  }
  const url = await makeRole(sample);
  await generate(folder, url);
  expect(await examine({ ...good, DATABASE_URL: url }, ['--production'], folder)).toEqual({ code: 0, found: [] });
  await withClient(sample.url, (client) =>
    client.query(`DROP OWNED BY ${roles.get(sample)}; DROP ROLE ${roles.get(sample)}`),
  );
  roles.delete(sample);
  await Promise.all([sample.drop(), remove()]);
});

/** A machine whose clock is twenty years ahead. */
const ahead = 'data:text/javascript,const%20now=Date.now;Date.now=()=>now()+20*31557600000';

const cases: readonly (readonly [
  code: string,
  variables: Readonly<Record<string, string>>,
  args: readonly string[],
])[] = [
  ['environment', { PORT: 'x' }, []],
  ['variable-misspelt', { RATE_LIMITER_ENABLE: 'true' }, []],
  ['node-end-of-life', { NODE_OPTIONS: `--import ${ahead}` }, []],
  ['clock-skew', { NODE_OPTIONS: `--import ${ahead}` }, []],
  ['secret-short', { SECRET: 'of 19 characters ab' }, []],
  ['secret-short', { SECRET: '' }, []],
  ['secret-short', { SECRET: 'ab'.repeat(20) }, []],
  ['secret-short', { ADMIN_TOKEN: 'of-20-characters-aaa' }, []],
  ['database-without-tls', { DATABASE_URL: 'postgres://shop:x@db.invalid/shop' }, []],
  ['database-without-tls', { DATABASE_URL: 'mysql://shop:x@db.invalid/shop' }, []],
  ['database-without-tls', { DATABASE_URL: 'postgres://shop:x@127.0.0.1,db.invalid/shop' }, []],
  ['database-without-tls', { DATABASE_READ_URL: 'postgres://shop:x@127.0.0.1,db.invalid/shop' }, []],
  ['database-without-tls', { DATABASE_LISTEN_URL: 'postgres://shop:x@db.invalid/shop' }, []],
  ['database-certificate-unchecked', { DATABASE_READ_URL: 'postgres://db.invalid/shop?sslmode=no-verify' }, []],
  ['database-certificate-unchecked', { DATABASE_URL: 'postgres://shop:x@db.invalid/shop?sslmode=no-verify' }, []],
  ['database-certificate-unchecked', { DATABASE_URL: 'mysql://shop:x@db.invalid/shop?ssl-mode=required' }, []],
  ['public-url-not-https', { PUBLIC_URL: '' }, []],
  ['public-url-not-https', { PUBLIC_URL: 'http://magazine.example.com' }, []],
  ['proxy-untrusted', { IP_TRUST_PROXY: '' }, []],
  ['cors-any-origin-with-credentials', { CORS_ENABLED: 'true', CORS_ORIGIN: '*' }, []],
  ['variable-without-effect', { CORS_ORIGIN: 'https://app.example.com' }, []],
  ['variable-without-effect', { CORS_ENABLED: 'true' }, []],
  ['variable-without-effect', { RATE_LIMITER_GLOBAL_POINTS: '9' }, []],
  ['variable-without-effect', { EMAIL_SMTP_PASSWORD: 'x' }, []],
  ['variable-without-effect', { AUTH_CORP_DRIVER: 'openid' }, []],
  ['variable-without-effect', { STORAGE_S3_DRIVER: 's3' }, []],
  ['docs-or-graphiql-on', { DOCS: 'true' }, []],
  ['docs-or-graphiql-on', { GRAPHIQL: 'true' }, []],
  ['introspection-on', { GRAPHQL_INTROSPECTION: '' }, []],
  ['rate-limits-off', { RATE_LIMITER_ENABLED: '' }, []],
  ['rate-limits-off', { RATE_LIMITER_AUTH_ENABLED: 'false' }, []],
  ['pool-beyond-server', { DATABASE_POOL_MAX: '9000' }, []],
  ['pool-beyond-server', { STORAGE_LOCAL_ROOT: '/srv/uploads' }, ['--workers', '100']],
  ['statement-timeout-none', { DATABASE_STATEMENT_TIMEOUT: '24d' }, []],
  ['database-embedded', { DATABASE_URL: '' }, []],
  ['mail-to-files', { EMAIL_SMTP_HOST: '' }, []],
  ['uploads-in-state-folder-with-workers', {}, ['--workers', '2']],
];

it.each(cases)('%s: %j %j', async (code, variables, args) => {
  const { found, code: exit } = await production({ ...good, ...variables }, args);
  expect(codesOf(found)).toContain(code);
  expect(exit).toBe(found.some(({ severity }) => severity === 'problem') ? 1 : 0);
  for (const { message, advice } of found) expect(message.length > 10 && advice.length > 10).toBe(true);
  const values = Object.values(variables).filter((value) => value.length > 4 && !value.includes('://'));
  for (const value of values) expect(JSON.stringify(found)).not.toContain(value);
});

it('finds no fault in switches that are off, nor in those that others switch', async () => {
  const off = { CORS_ENABLED: 'false', RATE_LIMITER_GLOBAL_ENABLED: 'false', EMAIL_SMTP_SECURE: 'false' };
  const idle = { CORS_ORIGIN: 'https://app.example.com', RATE_LIMITER_GLOBAL_POINTS: '9', EMAIL_SMTP_HOST: '' };
  const { found } = await production({ ...good, ...off, ...idle });
  expect(codesOf(found)).not.toContain('variable-without-effect');
});

it('takes variables of other programs for no misspelt ones', async () => {
  const others = ['DATABASE_USER', 'DATABASE_PORT', 'DATABASE_SSL', 'EMAIL_PORT', 'METRICS_PATH', 'PUBLIC_PORT'];
  const { found } = await production({ ...good, ...Object.fromEntries(others.map((name) => [name, 'x'])) });
  expect(codesOf(found)).not.toContain('variable-misspelt');
});

it('without --production settings of a server are left alone', async () => {
  const { code, found } = await examine({ ...good, DOCS: 'true', PUBLIC_URL: '', SECRET: 'short' });
  expect([code, found]).toEqual([0, []]);
});

it('secret-file-readable-by-others: files of variables, of .env and of the state, unless a folder shuts them off', async () => {
  const shut = join(open, 'shut');
  await mkdir(shut, { mode: 0o700 });
  const files = { SECRET_FILE: join(open, 'secret'), EMAIL_SMTP_PASSWORD_FILE: join(shut, 'password') };
  for (const file of Object.values(files)) {
    await writeFile(file, `${good.SECRET}\n`);
    await chmod(file, 0o644);
  }
  const variables = { ...good, SECRET: '', EMAIL_SMTP_USER: 'magazine', ...files };
  const { code, found } = await production(variables);
  expect([code, found.map(({ check, message }) => `${check}: ${message}`)]).toEqual([
    1,
    [`secret-file-readable-by-others: Every user of this machine can read ${files.SECRET_FILE}, which has a secret.`],
  ]);
  await chmod(files.SECRET_FILE, 0o600);
  expect(await production(variables)).toEqual({ code: 0, found: [] });
  const readUrl = { DATABASE_READ_URL_FILE: join(open, 'read-url') };
  await writeFile(readUrl.DATABASE_READ_URL_FILE, good.DATABASE_URL ?? '');
  await chmod(readUrl.DATABASE_READ_URL_FILE, 0o644);
  expect(codesOf((await production({ ...variables, ...readUrl })).found)).toEqual(['secret-file-readable-by-others']);
  // A project of its own, in a folder that all may enter.
  await writeFile(join(open, '.env'), 'SECRET=x\n');
  await mkdir(join(open, '.platform'));
  await writeFile(join(open, '.platform', 'admin-token'), 'x\n');
  await chmod(join(open, '.env'), 0o644);
  await chmod(join(open, '.platform', 'admin-token'), 0o644);
  const own = await examine({ ...good, NODE_ENV: '' }, ['--production'], open);
  const named = own.found.filter(({ check }) => check === 'secret-file-readable-by-others');
  expect(named.map(({ message }) => message)).toEqual(
    ['.env', '.platform/admin-token'].map((file) => `Every user of this machine can read ${file}, which has a secret.`),
  );
});

it('contract-differs: generated files of another contract, and none', async () => {
  const file = join(project.folder, 'generated', 'manifest.json');
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace(/"contract": \d+/, '"contract": 999'));
  const differing = await production(good);
  await rm(file);
  const absent = await production(good);
  await writeFile(file, text);
  expect(codesOf(differing.found)).toContain('contract-differs');
  expect(codesOf(absent.found)).toContain('contract-differs');
  expect(await production(good)).toEqual({ code: 0, found: [] });
});

it('migrations-pending: of the project, and of the platform’s own tables', async () => {
  const folder = join(project.folder, 'migrations');
  await mkdir(folder);
  // Also before the first one: `platform migrate` would run it.
  await writeFile(join(folder, '0001_notes.sql'), 'CREATE TABLE others (id int PRIMARY KEY);\n');
  const { code, found } = await production(good);
  expect([code, found.map(({ check, message }) => [check, message])]).toEqual([
    1,
    [['migrations-pending', 'The database lacks the migrations 0001_notes.']],
  ]);
  await rm(folder, { recursive: true });
  const { rows } = await withClient(database.url, (client) =>
    client.query(
      'DELETE FROM platform.platform_migrations WHERE id = (SELECT max(id) FROM platform.platform_migrations) RETURNING *',
    ),
  );
  const behind = await production(good);
  const values = Object.values(rows[0] ?? {});
  const places = values.map((_, index) => `$${index + 1}`).join();
  await withClient(database.url, (client) =>
    client.query(
      `INSERT INTO platform.platform_migrations (${Object.keys(rows[0] ?? {}).join()}) VALUES (${places})`,
      values,
    ),
  );
  expect(codesOf(behind.found)).toContain('migrations-pending');
  expect(await production(good)).toEqual({ code: 0, found: [] });
});

it('migrations-unknown: of a role that may not read the ledgers', async () => {
  const role = roles.get(database);
  const ask = (sql: string) => withClient(database.url, (client) => client.query(sql));
  await ask(`REVOKE SELECT ON platform.platform_migrations FROM ${role}`);
  const { code, found } = await production(good);
  await ask(`GRANT SELECT ON platform.platform_migrations TO ${role}`);
  expect([code, found.map(({ check, message }) => [check, message])]).toEqual([
    0,
    [['migrations-unknown', expect.stringMatching(/^The database role may not read the ledger: permission denied/)]],
  ]);
});

it.skipIf(noMariadb)(`says that a hidden ledger may be there${withoutMariadb}`, async () => {
  const server = await startMariadb();
  const shop = await createProject();
  try {
    const url = await createMysqlDatabase(server, 'CREATE TABLE notes (id int PRIMARY KEY)');
    await mkdir(join(shop.folder, 'migrations'));
    await writeFile(join(shop.folder, 'migrations', '0001_first.sql'), 'SELECT 1;\n');
    const run = (args: readonly string[], address: string) =>
      runWarm([...args, '--project', shop.folder], { ...good, DATABASE_URL: address });
    await run(['migrate'], url);
    expect(await run(['generate'], url)).toMatchObject({ code: 0 });
    const guest = Object.assign(new URL(url), { username: 'ledgerless', password: 'x' }).href;
    const name = new URL(url).pathname.slice(1);
    await withMysql(url, async (connection) => {
      await connection.query("CREATE USER ledgerless IDENTIFIED BY 'x'");
      await connection.query(`GRANT SELECT ON ${name}.notes TO ledgerless`);
    });
    const status = await run(['migrate', '--status'], guest);
    expect([status.code, status.stderr]).toEqual([3, expect.stringContaining('see the ledger, which may be there')]);
    const unknown = async () => {
      const { found } = await examine({ ...good, DATABASE_URL: guest }, ['--production'], shop.folder);
      return found.filter(({ check }) => check.startsWith('migrations-')).map(({ message }) => message);
    };
    const project = 'platform_project_migrations, which may be there and says what the database has had.';
    expect(await unknown()).toEqual([
      expect.stringContaining('see the ledger, which may be there'),
      `The role of DATABASE_URL may not see ${project}`,
    ]);
    // Where there are no files, it need not be seen.
    await withMysql(url, (connection) => connection.query(`GRANT SELECT ON ${name}.platform_migrations TO ledgerless`));
    expect((await run(['migrate', '--status'], guest)).code).toBe(3);
    await rm(join(shop.folder, 'migrations'), { recursive: true });
    expect((await run(['migrate', '--status'], guest)).code).toBe(0);
    await mkdir(join(shop.folder, 'migrations'));
    await writeFile(join(shop.folder, 'migrations', '0001_first.sql'), 'SELECT 1;\n');
    await withMysql(url, (connection) => connection.query(`GRANT SELECT ON ${name}.* TO ledgerless`));
    expect(await unknown()).toEqual([]);
    expect((await run(['migrate', '--status'], guest)).code).toBe(0);
  } finally {
    await Promise.all([server.stop(), shop.remove()]);
  }
});

test('every code has a case here', () => {
  const others = [
    'migrations-unknown',
    'database-superuser',
    'secret-file-readable-by-others',
    'contract-differs',
    'migrations-pending',
  ];
  const all = [...checks, ...strictFindings].map(({ code }) => code);
  expect([...new Set([...cases.map(([code]) => code), ...others])].toSorted()).toEqual(all.toSorted());
});

test.each([
  ['postgres://a:b@db.example/c', { isLocal: false, encryption: 'none' }],
  ['postgres://a:b@db.example/c?sslmode=verify-full', { isLocal: false, encryption: 'checked' }],
  ['postgres://a:b@db.example/c?sslmode=no-verify', { isLocal: false, encryption: 'unchecked' }],
  ['postgres://a:b@127.0.0.1/c', { isLocal: true, encryption: 'none' }],
  ['postgres://a:b@[::1]/c', { isLocal: true, encryption: 'none' }],
  ['postgres://a:b@/c?host=/run/postgresql', { isLocal: true, encryption: 'none' }],
  ['mysql://a:b@db.example/c?ssl-mode=verify-identity', { isLocal: false, encryption: 'checked' }],
  ['mariadb://a:b@db.example/c?ssl-mode=REQUIRED', { isLocal: false, encryption: 'unchecked' }],
  ['mysql://a:b@db.example/c?ssl-mode=verify_ca', { isLocal: false, encryption: 'unchecked' }],
  ['mysql://a:b@localhost/c', { isLocal: true, encryption: 'none' }],
])('%s is reached as the driver reaches it', async (url, facts) => {
  expect(await connectionFacts(url)).toMatchObject([facts]);
});

it.skipIf(noMariadb)(`MariaDB is asked for the same${withoutMariadb}`, async () => {
  const served = await createProject();
  const url = await createMysqlDatabase(await startMariadb(), 'CREATE TABLE notes (id int PRIMARY KEY)');
  const user = 'doctor_production';
  try {
    await withMysql(url, (connection) =>
      connection.query(`CREATE USER ${user} IDENTIFIED BY 'x'; GRANT SELECT, INSERT, UPDATE, DELETE ON *.* TO ${user}`),
    );
    await writeFile(join(served.folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
    const own = Object.assign(new URL(url), { username: user, password: 'x' }).href;
    await runWarm(['generate', '--project', served.folder], { DATABASE_URL: own });
    const variables = { ...good, DATABASE_URL: own };
    expect(await examine(variables, ['--production'], served.folder)).toEqual({ code: 0, found: [] });
    const beyond = await examine({ ...variables, DATABASE_POOL_MAX: '9000' }, ['--production'], served.folder);
    expect(codesOf(beyond.found)).toEqual(['pool-beyond-server']);
    const full = await examine({ ...variables, DATABASE_URL: url }, ['--production'], served.folder);
    expect(codesOf(full.found)).toEqual(['database-superuser']);
  } finally {
    await withMysql(url, (connection) => connection.query(`DROP USER IF EXISTS ${user}`));
    await served.remove();
  }
});
