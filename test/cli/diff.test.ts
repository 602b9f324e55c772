/** What `platform diff` says of two versions of a project with a database: of what stays the same by its name only, too. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { runWarm } from '../support/warm-command.ts';

/** One version: statements that make it, the configuration, and the rules. */
interface Version {
  readonly sql?: string;
  readonly config?: string;
  readonly permissions?: string;
}

/** The changes as the command prints them, each with its severity, rule and message. */
async function changesBetween(before: Version, after: Version): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-diff-'));
  const database = await createDatabase(before.sql ?? '');
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
    expect(stderr).not.toContain('error');
    return stdout;
  };
  const pull = async ({ config = '{}', permissions = 'permissions: {}' }: Version): Promise<void> => {
    await writeFile(join(folder, 'platform.config.mjs'), `export default ${config};\n`);
    await writeFile(join(folder, 'permissions.yaml'), `${permissions}\n`);
    await run('schema', 'pull');
  };
  try {
    await pull(before);
    const first = join(folder, 'first.json');
    await cp(join(folder, 'platform.schema.json'), first);
    await withClient(database.url, (client) => client.query(after.sql ?? ''));
    await pull(after);
    const { changes } = JSON.parse(await run('diff', first, 'work', '--format', 'json'));
    return changes.map(({ severity, rule, message }: Readonly<Record<string, string>>) => {
      return `${severity} ${rule}: ${message}`;
    });
  } finally {
    await Promise.all([database.drop(), rm(folder, { recursive: true, force: true })]);
  }
}

test('keys of some rows, of expressions and of nulls, and foreign keys that lead or act otherwise', async () => {
  const before = `CREATE TABLE customers (id int PRIMARY KEY, code int NOT NULL UNIQUE);
    CREATE TABLE orders (id int PRIMARY KEY, slug text, email text, batch int, customer int, gone timestamptz,
      CONSTRAINT apart UNIQUE (batch),
      CONSTRAINT buyer FOREIGN KEY (customer) REFERENCES customers (id) ON UPDATE CASCADE);
    CREATE INDEX live ON orders (slug) WHERE gone IS NULL`;
  const unique = `DROP INDEX live;
    CREATE UNIQUE INDEX live ON orders (slug) WHERE gone IS NULL;
    CREATE UNIQUE INDEX mails ON orders (lower(email));
    ALTER TABLE orders DROP CONSTRAINT apart, ADD CONSTRAINT apart UNIQUE NULLS NOT DISTINCT (batch)`;
  expect(await changesBetween({ sql: before }, { sql: unique })).toEqual([
    'dangerous unique-added: ((lower(email))) must be unique.',
    'dangerous unique-added: (batch) nulls not distinct must be unique.',
    'dangerous unique-added: (slug) where (gone IS NULL) must be unique.',
    'safe index-added: There is an index btree ((lower(email))).',
  ]);
  const action = 'ALTER TABLE orders DROP CONSTRAINT buyer, ADD FOREIGN KEY (customer) REFERENCES customers (id)';
  expect(await changesBetween({ sql: before }, { sql: action })).toEqual([
    'dangerous on-update-changed: Rows of public.orders (customer) that refer to it when its key changes: no action, it was cascade.',
  ]);
  const target = 'ALTER TABLE orders DROP CONSTRAINT buyer, ADD FOREIGN KEY (customer) REFERENCES customers (code)';
  expect(await changesBetween({ sql: before }, { sql: target })).toEqual([
    'dangerous foreign-key-added: There is a foreign key (customer) to public.customers (code).',
    'dangerous on-update-changed: Rows of public.orders (customer) that refer to it when its key changes: no action, it was cascade.',
    'safe foreign-key-removed: There is no foreign key (customer) to public.customers (id) any more.',
  ]);
}, 120_000);
