/** No command asks another machine for anything: each is run where there is none, and what it tries is counted. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserVersion, expectCalm, patience, startBrowser, withoutBrowser } from '../support/browser.ts';
import { bundledFor } from '../support/bundled.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type Isolated, isolation, runIsolated, startIsolated } from '../support/isolated.ts';
import { createMysqlDatabase, noMariadb, startMariadb, withoutMariadb } from '../support/mariadb.ts';

const packages = join(import.meta.dirname, '../../packages');
const create = join(packages, 'create/bin/create-tablewright.cjs');
const command = join(packages, 'cli/bin/platform.cjs');

let root: string;
let folder: string;
let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await createDatabase();
  root = await mkdtemp(join(tmpdir(), 'no-network-'));
  folder = join(root, 'shop');
});
afterAll(() => Promise.all([postgres?.drop(), rm(root, { recursive: true, force: true })]));

const secret = 'a secret of tests, which protects nothing';
const variables = { GRAPHIQL: 'true', DOCS: 'true', HOST: '127.0.0.1', SECRET: secret };
const embedded = { ...variables, DATABASE_URL: '' };

function expectNone({ code, output, attempts, lost }: Isolated): void {
  expect([output, code]).toEqual([output, 0]);
  expect({ attempts, lost }).toEqual({ attempts: [], lost: 0 });
}

/** The command over a database. */
const programOf = (database: string): readonly string[] => [process.execPath, ...bundledFor(database), command];

/** Runs a command over a database to its end. */
async function run(project: string, line: string, database: string): Promise<void> {
  const args = line.split(' ').map((word) => word.replace('GET_', 'GET '));
  expectNone(await runIsolated(project, [...programOf(database), ...args], { ...variables, DATABASE_URL: database }));
}

/** Serves, asks as the first requests do, looks at the pages where that is asked for, and stops. */
async function serve(project: string, line: string, database: string, looks = false): Promise<void> {
  const port = await freePort();
  const environment = { ...variables, DATABASE_URL: database, PORT: String(port) };
  const server = startIsolated(project, [...programOf(database), ...line.split(' ')], environment, port);
  let ended: Isolated;
  try {
    await server.printed(/Listening on http/);
    await askFirst(project, `http://127.0.0.1:${port}`, line);
    if (looks && browserVersion !== undefined) await look(`http://127.0.0.1:${port}`);
  } finally {
    ended = await server.end('SIGTERM');
  }
  expectNone(ended);
}

async function askFirst(project: string, url: string, name: string): Promise<void> {
  const token = (await readFile(join(project, '.platform/admin-token'), 'utf8')).trim();
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}, body?: unknown): Promise<number> => {
    const answer = await fetch(`${url}${path}`, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const admin = { authorization: `Bearer ${token}` };
  const statuses = [
    await ask('/', { accept: 'text/html' }),
    await ask('/items/products?fields=name,category_id.name'),
    await ask('/server/specs/oas'),
    await ask('/graphql', {}, { query: '{ products { name } }' }),
    await ask('/items/categories', admin, { name }),
    await ask('/server/health', admin),
  ];
  expect(statuses).toEqual(statuses.map(() => 200));
}

async function look(url: string): Promise<void> {
  const browser = await startBrowser();
  const visitor = await browser.visit(url);
  try {
    for (const path of ['/', '/docs', '/graphql', '/admin/login']) {
      await visitor.page.goto(`${url}${path}`, { waitUntil: 'networkidle' });
    }
    // Hosts that pages ask beside that of the server are a complaint.
    expectCalm(visitor);
  } finally {
    await visitor.leave();
    await browser.close();
  }
}

describe(`where no other machine is reached (${isolation})${withoutBrowser}`, { timeout: 4 * patience }, () => {
  it('counts what looks for one', async () => {
    const program = `
      await import('node:net').then(({ connect }) => connect(80, '192.0.2.1').on('error', () => {}));
      await import('node:dns').then(({ promises }) => promises.lookup('name.example').catch(() => {}));`;
    const { attempts } = await runIsolated(root, [process.execPath, '--input-type=module', '-e', program]);
    expect(attempts).toEqual(['connect 192.0.2.1', 'lookup name.example']);
  });

  it.skipIf(isolation.includes('alone'))('counts what passes by Node as well', async () => {
    // The shell asks without the hook.
    const { lost } = await runIsolated(root, ['bash', '-c', 'exec 3<>/dev/tcp/192.0.2.1/80 || true']);
    expect(lost).toBeGreaterThan(0);
  });

  it('makes a project', async () => {
    expectNone(await runIsolated(root, [process.execPath, create, 'shop', '--yes', '--no-install']));
  });

  // Over PostgreSQL, because each start of an embedded database takes seconds.
  it.each([
    'init --yes',
    'migrate',
    'introspect',
    'generate',
    'check',
    'doctor',
    'diff platform.schema.json work',
    'schema pull',
    'roles --sync',
    'users create ada@example.com --role editor',
    'users token ada@example.com',
    'users list',
    'can editor read products',
    'explain GET_/items/products --as public',
    'permissions push --yes',
    'permissions diff',
    'permissions matrix',
    'generate --offline --clients-only',
    'migrate --status',
  ])('platform %s, PostgreSQL', (line) => run(folder, line, postgres.url));

  it('platform start --workers 2, PostgreSQL', () => serve(folder, 'start --workers 2', postgres.url));

  it.skipIf(noMariadb)(`platform init, generate and start --workers 2, MariaDB${withoutMariadb}`, async () => {
    const project = join(root, 'mariadb');
    await mkdir(project);
    await writeFile(join(project, 'permissions.yaml'), mariadbRules);
    const url = await createMysqlDatabase(await startMariadb(), mariadbTables);
    await run(project, 'init --yes', url);
    await run(project, 'generate', url);
    await serve(project, 'start --workers 2', url);
  });

  it('platform start --generate, its first requests and its pages, embedded', async () => {
    expectNone(await runIsolated(folder, [...programOf(''), 'migrate'], embedded));
    await serve(folder, 'start --generate', '', true);
  });

  it('platform dev and its first requests, embedded', () => serve(folder, 'dev', ''));
});

const mariadbTables = `
  CREATE TABLE categories (id int AUTO_INCREMENT PRIMARY KEY, name varchar(100) NOT NULL);
  CREATE TABLE products (
    id int AUTO_INCREMENT PRIMARY KEY,
    name varchar(100) NOT NULL,
    category_id int,
    FOREIGN KEY (category_id) REFERENCES categories (id)
  );`;
const mariadbRules = 'permissions: { public: { products: { read: true }, categories: { read: true } } }\n';
