/**
 * Mistakes of a stranger's first steps, each as one sentence with its cure and the documented exit code. Every command runs
 * with `--json`, so that people's words and the one event are compared at once.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledFor } from '../support/bundled.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withMysql, withoutMariadb } from '../support/mariadb.ts';
import { startUnchecked } from '../support/platform.ts';

const packages = join(import.meta.dirname, '../../packages');
const programs = {
  platform: join(packages, 'cli/bin/platform.cjs'),
  create: join(packages, 'create/bin/create-tablewright.cjs'),
};

/** One mistake: the command, where it is run, and what it says. */
interface Mistake {
  readonly run: readonly string[];
  readonly program?: keyof typeof programs;
  /** Name of a database of `databases`, or a URL. Default: none. */
  readonly database?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder is that of the project that was compiled. */
  readonly compiled?: true;
  readonly code: number;
  readonly says: RegExp;
  readonly cure: RegExp;
}

const password = 's3cret-Pa55word';
/** root may write everywhere: Debian's `nobody` may not. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const at = (text: string): string => text.replace('PASSWORD', password);
const config = (text: string): Readonly<Record<string, string>> => ({
  'package.json': '{ "type": "module" }',
  'platform.config.ts': `import { defineConfig } from 'tablewright/config';\nexport default defineConfig(${text});\n`,
});
const rules = (text: string): Readonly<Record<string, string>> => ({ 'permissions.yaml': text });

const scheme = /begins with "[a-z0-9]+:", which is no kind of database that Tablewright reads\./;
const oldNode = "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });";
const nowhere = {
  npm_config_registry: 'http://127.0.0.1:9',
  npm_config_fetch_retries: '0',
  npm_config_user_agent: '',
};

/** All of them. The URLs of databases have a password, which nothing may print. */
const mistakes: Readonly<Record<string, Mistake>> = {
  'a Node that is too old': {
    run: ['init'],
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(oldNode)}` },
    code: 2,
    says: /^tablewright needs Node 24 or newer; this is 20\.20\.2\.$/m,
    cure: /Node 24 or newer/,
  },
  'an option that does not exist': {
    run: ['generate', '--frobnicate'],
    code: 2,
    says: /unknown option '--frobnicate'/,
    cure: /./,
  },
  'a folder that is not empty': {
    program: 'create',
    run: ['.'],
    files: { 'notes.txt': '' },
    code: 2,
    says: /^The folder "\." is not empty\.$/m,
    cure: /Name a folder that is new or empty/,
  },
  'a file in place of the folder': {
    program: 'create',
    run: ['file'],
    files: { file: '' },
    code: 2,
    says: /^"file" is a file\.$/m,
    cure: /new or empty/,
  },
  ...named('My Shop'),
  ...named('node_modules'),
  ...named('fs'),
  'a template that does not exist': {
    program: 'create',
    run: ['new', '--template', 'vue'],
    code: 2,
    says: /^There is no template "vue"\.$/m,
    cure: /Templates are api, vite-react\./,
  },
  'a package manager that does not exist': {
    program: 'create',
    run: ['new', '--package-manager', 'bun'],
    code: 2,
    says: /^There is no package manager "bun" here\.$/m,
    cure: /npm, pnpm or yarn/,
  },
  'two folders': {
    program: 'create',
    run: ['new', 'other'],
    code: 2,
    says: /^One folder is made, not 2\.$/m,
    cure: /--help/,
  },
  'an option that create does not take': {
    program: 'create',
    run: ['new', '--frobnicate'],
    code: 2,
    says: /^Unknown option '--frobnicate'\.$/m,
    cure: /--help/,
  },
  ...created('mongodb://me:PASSWORD@h/x', scheme, /Write it as postgres:/),
  ...created('postgre://me:PASSWORD@h/x', scheme, /Write postgres:\/\/ in front\./),
  ...created('postgress://me:PASSWORD@h/x', scheme, /Write postgres:\/\/ in front\./),
  ...created('mysql2://me:PASSWORD@h/x', scheme, /Write mysql:\/\/ in front\./),
  ...created('postgres:me:PASSWORD@h/x', /does not begin as a URL does\./, /Write it as postgres:/),
  ...created('PASSWORD', /does not begin as a URL does\./, /Write it as postgres:/),
  ...created('postgres://me:#PASSWORD@h/x', /cannot be read as a URL\./, /# is %23/),
  ...created('mysql://me:PASSWORD@h', /names no database\./, /mysql:\/\/user:password@host:3306\/database/),
  'a template whose tables the database does not take': {
    program: 'create',
    run: ['new', '--template', 'vite-react', '--database', `mysql://me:${password}@h/x`],
    code: 2,
    says: /^The tables of the template "vite-react" are written for PostgreSQL\.$/m,
    cure: /name one of PostgreSQL/,
  },
  'no network where packages are installed': {
    program: 'create',
    run: ['shop', '--yes'],
    environment: nowhere,
    code: 3,
    says: /^The packages could not be installed, see above\. The files stay: /m,
    cure: /run `cd shop && npm install` when a registry can be reached\./,
  },
  ...addressed('init', 'postgre://me:PASSWORD@127.0.0.1/x', scheme, /Write postgres:\/\/ in front/),
  ...addressed('generate', 'postgress://me:PASSWORD@127.0.0.1/x', scheme, /Write postgres:\/\/ in front/),
  ...addressed('generate', 'postgres:me:PASSWORD@127.0.0.1/x', /does not begin as a URL does\./, /Write it as/),
  ...addressed('generate', 'mysql://me:#PASSWORD@127.0.0.1/x', /cannot be read as a URL\./, /# is %23/),
  ...addressed('generate', 'mysql://me:PASSWORD@127.0.0.1', /names no database\./, /3306\/database/),
  ...addressed('dev', 'mysql2://me:PASSWORD@127.0.0.1/x', scheme, /Write mysql:\/\/ in front/),
  ...addressed('start', 'postgres:/me:PASSWORD@127.0.0.1/x', /does not begin as a URL does\./, /Write it as/),
  'a configuration with a misspelt scheme': {
    run: ['generate'],
    files: config(`{ database: { url: 'postgre://me:${password}@127.0.0.1/x' } }`),
    code: 2,
    says: /^`database\.url` in platform\.config\.ts begins with "postgre:"/m,
    cure: /Write postgres:\/\/ in front/,
  },
  ...refused(
    'refused',
    3,
    /cannot be used: nothing listens there\./,
    /Start the database server, or check host and port/,
  ),
  ...refused(
    'elsewhere',
    3,
    /cannot be used: there is no (host of that name|answer for the name of the host)\./,
    /Check the name of the host/,
  ),
  ...refused(
    'password',
    3,
    /cannot be used: password authentication failed for user "poor"\./,
    /Check user and password/,
  ),
  ...refused('unknown', 3, /cannot be used: database "unknown" does not exist\./, /Check the name of the database/),
  ...withoutAuthority('generate'),
  ...withoutAuthority('start'),
  'a socket that is not there, in the address that clouds print': {
    run: ['generate'],
    database: `postgres://me:${password}@/x?host=/nowhere`,
    code: 3,
    says: /^PostgreSQL at \/nowhere\/x cannot be used: no socket is there\.$/m,
    cure: /check the folder in DATABASE_URL/,
  },
  'the word of another driver for encryption': {
    run: ['generate'],
    database: `mysql://me:${password}@127.0.0.1:9/x?sslmode=require`,
    code: 3,
    says: /cannot be used: "sslmode=require" asks for an encryption that is unknown\.$/m,
    cure: /Write ssl-mode=verify_identity/,
  },
  'a database that refuses the password, at start': {
    run: ['start'],
    compiled: true,
    database: 'password',
    code: 3,
    says: /^PostgreSQL at .* cannot be used: password authentication failed for user "poor"\.$/m,
    cure: /Check user and password in DATABASE_URL\./,
  },
  'a database that refuses the password, at the start of several processes': {
    run: ['start', '--workers', '2'],
    compiled: true,
    database: 'password',
    code: 3,
    says: /^PostgreSQL at .* cannot be used: password authentication failed for user "poor"\.$/m,
    cure: /Check user and password in DATABASE_URL\./,
  },
  'a database that does not exist, at start': {
    run: ['start'],
    compiled: true,
    database: 'unknown',
    code: 3,
    says: /cannot be used: database "unknown" does not exist\.$/m,
    cure: /Check the name of the database/,
  },
  'a database that stops while its tables are read': {
    run: ['generate'],
    database: 'stopping',
    code: 3,
    says: /^The database cannot be used: it ended the connection\.$/m,
    cure: /Try again when the server has started/,
  },
  'no right to make the tables of the platform': {
    run: ['migrate'],
    database: 'poor',
    code: 3,
    says: /^The database role may not create the tables of the platform: permission denied/m,
    cure: /Run it as a role with CREATE on the database/,
  },
  ...(noMariadb
    ? {}
    : {
        ...refused('mysql password', 3, /cannot be used: Access denied for user 'poor'/, /Check user and password/),
        ...refused(
          'mysql unknown',
          3,
          /cannot be used: Unknown database 'unknown'\./,
          /Check the name of the database/,
        ),
        ...refused('mysql poor', 3, /cannot be used: Access denied for user 'poor'.* to database/, /GRANT the user/),
        ...refused('mysql cut', 3, /cannot be used: it ended the connection\./, /Try again when/),
        ...refused(
          'mysql plain',
          3,
          /Server does not support secure connection\./,
          /leave ssl-mode out of DATABASE_URL/,
        ),
        ...refused('mysql refused', 3, /cannot be used: nothing listens there\./, /Start the database server/),
      }),
  'a port in use': {
    run: ['start'],
    compiled: true,
    database: 'shop',
    environment: { PORT: 'busy' },
    code: 4,
    says: /^The port is in use\.$/m,
    cure: /Choose another one, such as PORT=\d+\.$/m,
  },
  'a port in use, at the start of several processes': {
    run: ['start', '--workers', '3'],
    compiled: true,
    database: 'shop',
    environment: { PORT: 'busy' },
    code: 4,
    says: /^The port is in use\.$/m,
    cure: /Choose another one, such as PORT=\d+\.$/m,
  },
  'a port in use, in development': {
    run: ['dev', '--no-types'],
    database: 'shop',
    environment: { PORT: 'busy' },
    code: 4,
    says: /^The port is in use\.$/m,
    cure: /Choose another one, such as PORT=\d+\.$/m,
  },
  'a port that is none': {
    run: ['start'],
    compiled: true,
    database: 'shop',
    environment: { PORT: 'http' },
    code: 4,
    says: /^PORT must be a whole number from 0 to 65535\.$/m,
    cure: /from 0 to 65535/,
  },
  'a host of another machine': {
    run: ['start'],
    compiled: true,
    database: 'shop',
    environment: { HOST: '192.0.2.1' },
    code: 4,
    says: /^The address cannot be used \(EADDRNOTAVAIL\)\.$/m,
    cure: /HOST=127\.0\.0\.1/,
  },
  'a secret that is too short': {
    run: ['start'],
    compiled: true,
    database: 'shop',
    environment: { SECRET: password },
    code: 4,
    says: /^SECRET must have at least 32 bytes: /m,
    cure: /`openssl rand -hex 32` prints one\./,
  },
  'a token that is too short': {
    run: ['start'],
    compiled: true,
    database: 'shop',
    environment: { ADMIN_TOKEN: password.slice(0, 8) },
    code: 4,
    says: /^ADMIN_TOKEN must have at least 16 characters, all of them visible ASCII: /m,
    cure: /`openssl rand -hex 32` prints one\./,
  },
  'a database of another kind than was compiled for': {
    run: ['start'],
    compiled: true,
    database: `mysql://me:${password}@127.0.0.1/x`,
    code: 4,
    says: /^DATABASE_URL does not fit: the API was compiled for another kind of database, which is postgres\./m,
    cure: /Run `.* generate` with this DATABASE_URL\./,
  },
  'rules in a file that is named and missing': {
    run: ['generate'],
    database: 'shop',
    files: config("{ permissions: 'rules.yaml' }"),
    code: 1,
    says: /rules\.yaml" does not exist\.$/m,
    cure: /Correct "permissions" in platform\.config\.ts\./,
  },
  'rules that are no YAML': {
    run: ['generate'],
    database: 'shop',
    files: rules('permissions:\n  public: [\n'),
    code: 1,
    says: /permissions\.yaml:\d/,
    cure: /nothing was written/,
  },
  'rules for a collection that does not exist': {
    run: ['generate'],
    database: 'shop',
    files: rules('permissions:\n  public:\n    boks: { read: true }\n'),
    code: 1,
    says: /The collection "boks" does not exist\./,
    cure: /"books"/,
  },
  'a configuration that is no TypeScript': {
    run: ['generate'],
    database: 'shop',
    files: config('{ database: {'),
    code: 1,
    says: /^platform\.config\.ts:\d could not be loaded: /m,
    cure: /:\d/,
  },
  'a configuration with an unknown key': {
    run: ['generate'],
    database: 'shop',
    files: config("{ ouptut: 'x' }"),
    code: 1,
    says: /"ouptut" is unknown\./,
    cure: /"output"/,
  },
  'a configuration that is no TypeScript, at start': {
    run: ['start'],
    database: 'shop',
    files: config('{ database: {'),
    code: 1,
    says: /^platform\.config\.ts:\d could not be loaded: /m,
    cure: /:\d/,
  },
  'a package.json that is no JSON': {
    run: ['init', '--yes'],
    files: { 'package.json': '{ "type": ' },
    code: 2,
    says: /package\.json" is not JSON\.$/m,
    cure: /Correct it, and run the command again\./,
  },
  'a start before generate': {
    run: ['start'],
    database: 'shop',
    code: 4,
    says: /^Nothing is generated yet\.$/m,
    cure: /Run `.* generate` first\./,
  },
  'a project folder that does not exist': {
    run: ['generate', '--project', 'nowhere'],
    code: 2,
    says: /^The folder "nowhere" does not exist\.$/m,
    cure: /nowhere/,
  },
  'a file in place of the output folder': {
    run: ['generate'],
    database: 'shop',
    files: { generated: '' },
    code: 2,
    says: /generated/,
    cure: /./,
  },
};

function named(name: string): Readonly<Record<string, Mistake>> {
  const says = new RegExp(`^npm takes no package called "${name}"\\.$`, 'm');
  return {
    [`a folder called ${name}`]: { program: 'create', run: [name], code: 2, says, cure: /lower-case letters/ },
  };
}

function created(url: string, says: RegExp, cure: RegExp): Readonly<Record<string, Mistake>> {
  const run = ['new', '--database', at(url)];
  return { [`create over ${url}`]: { program: 'create', run, code: 2, says, cure } };
}

function addressed(command: string, url: string, says: RegExp, cure: RegExp): Readonly<Record<string, Mistake>> {
  const run = command === 'init' ? [command, '--yes'] : [command];
  return { [`${command} over ${url}`]: { run, database: at(url), code: 2, says, cure } };
}

function refused(database: string, code: number, says: RegExp, cure: RegExp): Readonly<Record<string, Mistake>> {
  return { [`a database: ${database}`]: { run: ['generate'], database, code, says, cure } };
}

function withoutAuthority(command: string): Readonly<Record<string, Mistake>> {
  const mistake: Mistake = {
    run: [command],
    database: `postgres://me:${password}@127.0.0.1:9/x?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`,
    code: 3,
    says: /^PostgreSQL at .* cannot be used: ENOENT: no such file or directory, open '\/nowhere\/ca\.pem'\.$/m,
    cure: /Check the files that sslrootcert, sslcert and sslkey name/,
    ...(command === 'start' && { compiled: true }),
  };
  return { [`a certificate of an authority that is no file, ${command}`]: mistake };
}

let root: string;
let compiled: string;
let shop: TestDatabase;
let busy: Server;
/** Ends every connection. */
let cutting: Server;
/** Ends the connections of a command that has begun to read tables. */
let stopping: FaultProxy;
let databases: Readonly<Record<string, string>>;
let folders = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'first-steps-'));
  shop = await createDatabase(
    "CREATE TABLE books (id int PRIMARY KEY, title text); INSERT INTO books VALUES (1, 'One')",
  );
  await withClient(shop.url, async (client) => {
    await client.query('DROP ROLE IF EXISTS poor');
    await client.query(`CREATE ROLE poor LOGIN PASSWORD '${password}'`);
  });
  stopping = await startFaultProxy(shop.url);
  stopping.armAt('cut', 8, Number.POSITIVE_INFINITY);
  const closed = await freePort();
  busy = createServer().listen(0, '127.0.0.1');
  cutting = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await Promise.all([once(busy, 'listening'), once(cutting, 'listening')]);
  databases = {
    shop: shop.url,
    stopping: stopping.url,
    refused: `postgres://me:${password}@127.0.0.1:${closed}/x`,
    cut: `postgres://me:${password}@127.0.0.1:${portOf(cutting)}/x`,
    elsewhere: `postgres://me:${password}@no-such-host.invalid/x`,
    password: as(shop.url, 'poor', `${password}-not`),
    poor: as(shop.url, 'poor', password),
    unknown: shop.url.replace(/[^/]+$/, 'unknown'),
    ...(!noMariadb && (await mysqlDatabases(closed))),
  };
  compiled = join(root, 'compiled');
  await mkdir(compiled);
  expect(await run('platform', compiled, ['init', '--yes'], { DATABASE_URL: shop.url })).toMatchObject({ code: 0 });
  expect(await run('platform', compiled, ['generate'], { DATABASE_URL: shop.url })).toMatchObject({ code: 0 });
});

afterAll(async () => {
  busy?.close();
  cutting?.close();
  await stopping?.close();
  await withClient(shop.url, (client) => client.query('DROP ROLE IF EXISTS poor'));
  await Promise.all([shop?.drop(), rm(root, { recursive: true, force: true })]);
});

async function mysqlDatabases(closed: number): Promise<Readonly<Record<string, string>>> {
  const server = await startMariadb();
  const url = await createMysqlDatabase(server, 'CREATE TABLE books (id int PRIMARY KEY)');
  await withMysql(server.url, (connection) =>
    connection.query(`CREATE OR REPLACE USER poor@'127.0.0.1' IDENTIFIED BY '${password}'`),
  );
  return {
    'mysql password': as(url, 'poor', `${password}-not`),
    'mysql poor': as(url, 'poor', password),
    'mysql unknown': url.replace(/[^/]+$/, 'unknown'),
    'mysql cut': `mysql://me:${password}@127.0.0.1:${portOf(cutting)}/x`,
    'mysql plain': `${url}?ssl-mode=required`,
    'mysql refused': `mysql://me:${password}@127.0.0.1:${closed}/x`,
  };
}

function portOf(server: Server): string {
  const address = server.address();
  return address !== null && typeof address === 'object' ? String(address.port) : '';
}

function as(url: string, user: string, secret: string): string {
  return Object.assign(new URL(url), { username: user, password: secret }).href;
}

/** Runs a program in a folder to its end. */
async function run(
  program: keyof typeof programs,
  folder: string,
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  user: { readonly uid?: number; readonly gid?: number } = {},
) {
  // A user who may not read the bundle of the run has the sources.
  const loaded = program === 'platform' && user.uid === undefined ? bundledFor(environment.DATABASE_URL) : [];
  const child = spawn(process.execPath, [...loaded, programs[program], ...args], {
    cwd: folder,
    env: {
      ...process.env,
      DATABASE_URL: '',
      LOG_LEVEL: 'error',
      npm_config_cache: join(root, 'cache'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(root, `folder-${++folders}`);
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return folder;
}

/** Runs the command of a mistake, in a folder of its own unless it is about what was compiled. */
async function make({
  program = 'platform',
  run: args,
  database,
  files = {},
  environment,
  compiled: isCompiled,
}: Mistake) {
  const folder = isCompiled === true ? compiled : await folderWith(files);
  const result = await run(program, folder, program === 'platform' ? [...args, '--json'] : args, {
    ...(database !== undefined && { DATABASE_URL: databases[database] ?? database }),
    ...environment,
    ...(environment?.PORT === 'busy' && { PORT: portOf(busy) }),
  });
  return { ...result, folder };
}

function errorEvents(stdout: string): readonly unknown[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"event":"error"'))
    .map((line) => JSON.parse(line));
}

describe.concurrent(`mistakes of first steps${withoutMariadb}`, { timeout: 120_000 }, () => {
  it.each(Object.entries(mistakes))('%s', async (_, mistake) => {
    const { code, stdout, stderr, folder } = await make(mistake);
    expect(stderr.match(new RegExp(mistake.says.source, 'gm'))).toHaveLength(1);
    expect(stderr).toMatch(mistake.cure);
    expect(code).toBe(mistake.code);
    expect(stderr).not.toMatch(/^\s+at |bug of the platform/m);
    expect(stdout + stderr).not.toContain(password);
    if (mistake.program !== 'create') {
      expect(errorEvents(stdout)).toEqual([
        {
          event: 'error',
          message: expect.stringMatching(mistake.says),
          hint: expect.toBeOneOf([null, expect.any(String)]),
        },
      ]);
    }
    // Nothing is written where the command line or the URL is wrong.
    if (mistake.code === 2 && mistake.compiled !== true) {
      expect((await readdir(folder)).sort()).toEqual(Object.keys(mistake.files ?? {}).sort());
    }
  });
});

it('leaves the files where packages could not be installed', async () => {
  const { folder } = await make(mistakes['no network where packages are installed'] ?? missing());
  expect(await readdir(join(folder, 'shop'))).toContain('package.json');
});

function missing(): never {
  throw new Error('There is no such mistake.');
}

it.each(['postgre://me:PASSWORD@127.0.0.1/x', 'refused'])(
  'is a finding of doctor: %s',
  async (database) => {
    const { code, stdout, stderr } = await make({
      run: ['doctor'],
      database: at(database),
      code: 1,
      says: /./,
      cure: /./,
    });
    const findings = stdout
      .split('\n')
      .filter((line) => line.startsWith('{"event":"finding"') && line.includes('"problem"'));
    expect(findings.map((line) => JSON.parse(line).check)).toEqual(['database']);
    expect(code).toBe(1);
    expect(stdout + stderr).not.toContain(password);
  },
  60_000,
);

it('a role without rights is named the tables that it may not read', async () => {
  const { code, stderr, stdout } = await make({ run: ['generate'], database: 'poor', code: 0, says: /./, cure: /./ });
  expect(code).toBe(0);
  expect(stdout).toContain('"code":"unreadable-tables"');
  expect(stdout).toContain('GRANT it USAGE on the schema');
  expect(stderr).toBe('');
}, 60_000);

it('an empty database is served, and said to be empty', async () => {
  const empty = await createDatabase();
  const folder = await folderWith({});
  const { code, stderr } = await run('platform', folder, ['generate'], { DATABASE_URL: empty.url });
  expect([code, stderr]).toEqual([0, expect.stringContaining('There is no table to serve yet: make one')]);
  const server = await startUnchecked(folder, empty.url, {}, []);
  expect((await server.admin('/server/health')).status).toBe(200);
  expect((await server.ask('/items/books')).status).toBe(403);
  await server.stop();
  await empty.drop();
}, 60_000);

it('a start without permissions.yaml shows the public nothing', async () => {
  const folder = await folderWith({});
  const server = await startUnchecked(folder, shop.url);
  expect((await server.ask('/items/books')).status).toBe(403);
  expect((await server.admin('/items/books')).json).toEqual({ data: [{ id: 1, title: 'One' }] });
  await server.stop();
}, 60_000);

it('a start waits for a database that does not answer, and says so', async () => {
  const server = await startUnchecked(compiled, databases.refused ?? '', { LOG_LEVEL: 'warn' }, []);
  const answer = await server.admin('/items/books');
  expect([answer.status, answer.json.errors[0].extensions.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(server.log()).toContain('The database cannot be reached yet. Trying again.');
  expect(server.log()).not.toContain(password);
  expect(await server.stop()).toBe(0);
}, 60_000);

it('a start during which the database stops, waits for it', async () => {
  const proxy = await startFaultProxy(shop.url);
  proxy.armAt('cut', 8, Number.POSITIVE_INFINITY);
  const server = await startUnchecked(compiled, proxy.url, { LOG_LEVEL: 'error' }, []);
  expect((await server.admin('/items/books')).status).toBe(503);
  proxy.armAt('cut', 1, 0);
  await expect
    .poll(async () => (await server.admin('/items/books')).status, { timeout: 40_000, interval: 500 })
    .toBe(200);
  expect(await server.stop()).toBe(0);
  await proxy.close();
}, 60_000);

it('a folder that may not be written is named', async () => {
  const folder = await folderWith({ 'package.json': '{}' });
  await chmod(folder, 0o555);
  await chmod(root, 0o755);
  const { code, stderr } = await run('platform', folder, ['generate'], { DATABASE_URL: shop.url }, ordinary);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^The file system refuses: EACCES: permission denied/m)]);
  expect(stderr).toContain('See to the rights');
  expect(stderr).not.toMatch(/^\s+at /m);
  // A start needs to write only where it has made a token.
  const start = (variables: Readonly<Record<string, string>>) =>
    run('platform', folder, ['start'], { DATABASE_URL: shop.url, PORT: '0', ...variables }, ordinary);
  const kept = await start({});
  expect([kept.code, kept.stderr]).toEqual([
    2,
    expect.stringMatching(/^The token of administrators cannot be kept: EACCES.*\n {2}Set ADMIN_TOKEN, /m),
  ]);
  expect((await start({ ADMIN_TOKEN: 'of-administrators' })).stderr).toContain('Nothing is generated yet.');
}, 60_000);

it('a project over a database with tables: the first printed request has rows, and nothing is public', async () => {
  const folder = await folderWith({});
  const args = ['shop', '--yes', '--no-install', '--database', shop.url];
  expect((await run('create', folder, args, {})).code).toBe(0);
  const project = join(folder, 'shop');
  expect((await run('platform', project, ['generate'], { DATABASE_URL: undefined })).code).toBe(0);
  const server = spawn(process.execPath, [programs.platform, 'start'], {
    cwd: project,
    env: { ...process.env, DATABASE_URL: undefined, PORT: '0', LOG_LEVEL: 'error' },
  });
  let printed = '';
  server.stderr.on('data', (chunk) => (printed += chunk));
  await expect.poll(() => printed, { timeout: 30_000 }).toContain('/server/specs/oas');
  const request = /^ {2}(curl .*\/items\/books.*)$/m.exec(printed)?.[1] ?? '';
  const asked = (line: string): Promise<string> =>
    promisify(execFile)('sh', ['-c', `${line} --silent`], { cwd: project }).then(({ stdout }) => stdout);
  expect(JSON.parse(await asked(request))).toEqual({ data: [{ id: 1, title: 'One' }] });
  expect(await asked(request.replace(/ -H .*$/, ''))).toContain('FORBIDDEN');
  server.kill('SIGTERM');
  await once(server, 'close');
}, 60_000);
