/** A project with users who can sign in, served by one process or several. */
import { argon2Sync, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cheapPasswords } from './bundled.ts';
import { createSystemDatabase, isOnMariadb, uncounted } from './contract-database.ts';
import type { TestDatabase } from './database.ts';
import { generateHosted, startHosted } from './host.ts';
import { type Answer, type Ask, createProject, type Platform, startPlatform } from './platform.ts';
import { type CountingProxy, countStatements } from './proxy.ts';

/** A user of a test. */
export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

/** Columns of a user or a role beside those that the test's user has by itself. */
export type Columns = Readonly<Record<string, string | boolean | null>>;

/** A served project and what is behind it. */
export interface AccountsProject {
  readonly server: Platform;
  /** Every process; the first one is `server`. */
  readonly servers: readonly Platform[];
  readonly database: TestDatabase;
  /** Notes the statements of the first process. */
  readonly statements: CountingProxy;
  readonly folder: string;
  rows(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  addRole(name: string, columns?: Columns): Promise<string>;
  addUser(role: string | null, columns?: Columns): Promise<TestUser>;
  /** Everything in some of the platform's tables, as one text; bytes are hexadecimal. */
  dump(...tables: readonly string[]): Promise<string>;
  post(path: string, body?: unknown, ask?: Ask): Promise<Answer>;
  /** The data of a sign-in that must succeed. */
  signIn(user: TestUser): Promise<Tokens>;
  close(): Promise<void>;
}

/** What a sign-in answers. */
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires: number;
}

/** What the project is made of. */
export interface AccountsParts {
  readonly sql: string;
  readonly permissions: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Files of the folder `extensions`, by their names. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** How many processes of their own serve it; when absent, one that other projects share, without extensions. */
  readonly processes?: number;
}

/** One password for all users of a process, as it is stored by a server whose hashes take so much memory. */
const password = 'correct horse battery';

function hashed(memory: number): string {
  const salt = randomBytes(16);
  const hash = argon2Sync('argon2id', {
    message: password,
    nonce: salt,
    memory,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  });
  const [printedSalt, printedHash] = [salt, hash].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=${memory},t=2,p=1$${printedSalt}$${printedHash}`;
}

/** Makes the database, compiles and serves it. */
export async function serveAccounts(parts: AccountsParts): Promise<AccountsProject> {
  const database = await createSystemDatabase(parts.sql);
  const { rows } = database;
  const { folder, remove } = await createProject();
  await writeFile(join(folder, 'permissions.yaml'), parts.permissions);
  for (const [name, text] of Object.entries(parts.extensions ?? {})) {
    await mkdir(join(folder, 'extensions'), { recursive: true });
    await writeFile(join(folder, 'extensions', name), text);
  }
  const statements = isOnMariadb() ? uncounted(database.url) : await countStatements(database.url);
  const { TEST_PASSWORD_MEMORY: memory } = { ...cheapPasswords, ...parts.environment };
  const stored = hashed(Number(memory));
  const alone = parts.processes !== undefined || parts.extensions !== undefined;
  if (alone) await generateHosted(folder, database.url);
  const server = alone
    ? await startPlatform(folder, statements.url, parts.environment, [])
    : await startHosted(folder, statements.url, parts.environment);
  const more = Array.from({ length: (parts.processes ?? 1) - 1 }, () =>
    startPlatform(folder, database.url, parts.environment, []),
  );
  const servers = [server, ...(await Promise.all(more))];

  async function insert(table: string, columns: Columns): Promise<string> {
    const id = randomUUID();
    const all = Object.entries({ id, ...columns });
    const names = all.map(([name]) => name).join(', ');
    const places = all.map((_, place) => `$${place + 1}`).join(', ');
    await rows(
      `INSERT INTO platform.${table} (${names}) VALUES (${places})`,
      all.map(([, value]) => value),
    );
    return id;
  }

  const post: AccountsProject['post'] = (path, body, ask = {}) =>
    server.ask(path, { method: 'POST', ...(body !== undefined && { body }), ...ask });

  return {
    server,
    servers,
    database,
    statements,
    folder,
    rows,
    async dump(...tables) {
      const found = await Promise.all(tables.map((table) => rows(`SELECT * FROM platform.${table}`)));
      const values = found.flat().flatMap((row) => Object.values(row));
      return values.map((value) => (Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value))).join();
    },
    post,
    addRole: (name, columns = {}) => insert('platform_roles', { name, ...columns }),
    async addUser(role, columns = {}) {
      const email = `${randomUUID()}@example.com`;
      const id = await insert('platform_users', { email, password: stored, role, ...columns });
      return { id, email: String(columns.email ?? email), password };
    },
    async signIn({ email }) {
      const { status, json, text } = await post('/auth/login', { email, password });
      if (status !== 200) throw new Error(`Signing in failed: ${text}`);
      return json.data;
    },
    async close() {
      await Promise.all(servers.map((one) => one.stop()));
      await statements.close();
      await Promise.all([database.drop(), remove()]);
    },
  };
}
