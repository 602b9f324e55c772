/** Changes that `platform diff` reports between two versions of a project, also where a name leads to something else. */
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
    const { code, stdout, stderr } = await runWarm([...args, '--project', folder], { DATABASE_URL: database.url });
    expect([code === 0 || args[0] === 'diff', stderr]).toEqual([true, stderr]);
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
  const fresh = `ALTER TABLE orders ADD COLUMN tag text, ADD COLUMN mark text;
    CREATE UNIQUE INDEX tags ON orders (lower(tag)) NULLS NOT DISTINCT;
    CREATE UNIQUE INDEX marks ON orders (lower(mark))`;
  expect((await changesBetween({ sql: before }, { sql: fresh })).filter((change) => /unique/.test(change))).toEqual([
    'dangerous unique-added: ((lower(tag))) nulls not distinct must be unique.',
    'safe unique-added: ((lower(mark))) must be unique; all its columns are new.',
  ]);
  const action = 'ALTER TABLE orders DROP CONSTRAINT buyer, ADD FOREIGN KEY (customer) REFERENCES customers (id)';
  expect(await changesBetween({ sql: before }, { sql: action })).toEqual([
    'dangerous on-update-changed: Rows of public.orders (customer) that refer to it when its key changes: no action, it was cascade.',
  ]);
  const target = 'ALTER TABLE orders DROP CONSTRAINT buyer, ADD FOREIGN KEY (customer) REFERENCES customers (code)';
  expect(await changesBetween({ sql: before }, { sql: target })).toEqual([
    'dangerous on-update-changed: Rows of public.orders (customer) that refer to it when its key changes: no action, it was cascade.',
    'dangerous relation-source-changed: "orders" leads to orders by (code to customer), it led to orders by (id to customer).',
    'dangerous foreign-key-added: There is a foreign key (customer) to public.customers (code).',
    'dangerous relation-source-changed: "customer" leads to customers by (customer to code), it led to customers by (customer to id).',
    'safe foreign-key-removed: There is no foreign key (customer) to public.customers (id) any more.',
  ]);
}, 120_000);

test('nothing is told of tables that were dumped and restored, as PostgreSQL prints them then', async () => {
  const sql = `CREATE DOMAIN level AS varchar(9) CHECK (VALUE IN ('low', 'high'));
    CREATE TABLE orders (id int PRIMARY KEY, level level, state varchar(20) DEFAULT 'open', n int, code char(2), gone date,
      tags varchar(5)[] DEFAULT ARRAY['a, b', 'c'], total int GENERATED ALWAYS AS (CASE WHEN n BETWEEN 1 AND 2 AND id > 0 THEN 1 END) STORED,
      CHECK (state IN ('open', 'it''s (done]', 'x, y')), CHECK (n BETWEEN 1 AND 5 AND (state <> 'open' OR n > 2)),
      CHECK (code NOT IN ('aa', 'bb') OR n BETWEEN 1 AND 2 OR n IS NULL),
      CONSTRAINT apart EXCLUDE USING btree (n WITH =) WHERE (state IN ('open', 'held')));
    CREATE INDEX live ON orders (lower(state), (state IN ('open', 'held'))) WHERE state NOT IN ('done', 'lost') AND gone IS NULL;
    ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
    CREATE POLICY seen ON orders USING (state IN ('open', 'held')) WITH CHECK (n BETWEEN 1 AND 3 AND id > 0)`;
  const restored = `DO $$ DECLARE part text; BEGIN
    FOR part IN SELECT format('ALTER TABLE orders DROP CONSTRAINT %1$I; ALTER TABLE orders ADD CONSTRAINT %1$I %2$s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE conrelid = 'orders'::regclass AND contype IN ('c', 'x') UNION ALL
      SELECT format('ALTER DOMAIN level DROP CONSTRAINT %1$I; ALTER DOMAIN level ADD CONSTRAINT %1$I %2$s', conname, pg_get_constraintdef(oid))
      FROM pg_constraint WHERE contypid = 'level'::regtype UNION ALL
      SELECT format('DROP INDEX live; %s', pg_get_indexdef('live'::regclass)) UNION ALL
      SELECT format(CASE attgenerated WHEN '' THEN 'ALTER TABLE orders ALTER %1$I SET DEFAULT %2$s'
        ELSE 'ALTER TABLE orders ALTER %1$I SET EXPRESSION AS (%2$s)' END, attname, pg_get_expr(adbin, adrelid))
      FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'orders'::regclass UNION ALL
      SELECT format('ALTER POLICY seen ON orders USING (%s) WITH CHECK (%s)', pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
      FROM pg_policy
    LOOP EXECUTE part; END LOOP; END $$`;
  expect(await changesBetween({ sql }, { sql: restored })).toEqual([]);
}, 120_000);

test('several foreign keys over one column are compared together', async () => {
  const sql = `CREATE TABLE articles (id int PRIMARY KEY);
    CREATE TABLE comments (id int PRIMARY KEY, article int,
      CONSTRAINT a FOREIGN KEY (article) REFERENCES articles ON DELETE RESTRICT,
      CONSTRAINT b FOREIGN KEY (article) REFERENCES articles ON DELETE CASCADE)`;
  const otherwise = (action: string, key: string): string =>
    `ALTER TABLE comments DROP CONSTRAINT ${key}, ADD CONSTRAINT ${key} FOREIGN KEY (article) REFERENCES articles ${action}`;
  expect(await changesBetween({ sql }, {})).toEqual([]);
  const swapped = `${otherwise('ON DELETE CASCADE', 'a')}; ${otherwise('ON DELETE RESTRICT', 'b')}`;
  expect(await changesBetween({ sql }, { sql: swapped })).toEqual([]);
  expect(await changesBetween({ sql }, { sql: otherwise('ON DELETE SET NULL', 'a') })).toEqual([
    'dangerous on-delete-changed: Rows of public.comments (article) that refer to it: cascade and set null, it was cascade and restrict.',
  ]);
}, 120_000);

test('other tables, columns, expressions and ways under the same names', async () => {
  const sql = `CREATE TABLE users (id int PRIMARY KEY);
    CREATE TABLE articles (id int PRIMARY KEY, author int REFERENCES users, editor int REFERENCES users,
      a int, b int, total int GENERATED ALWAYS AS (a + b) STORED);
    CREATE TABLE tags (id int PRIMARY KEY);
    CREATE TABLE links (article int REFERENCES articles, tag int REFERENCES tags, PRIMARY KEY (article, tag));
    CREATE TABLE marks (article int REFERENCES articles, tag int REFERENCES tags, PRIMARY KEY (article, tag));
    CREATE TABLE orders (id int PRIMARY KEY, item text);
    CREATE TABLE orders_v2 (id int PRIMARY KEY, item text)`;
  const config = (shown: string, hidden: string, junction: string, collections: string): string => `{
    collections: { ${collections} },
    relations: { 'users.articles_by_${shown}': { name: 'articles' }, 'users.articles_by_${hidden}': { hidden: true } },
    manyToMany: [{ junction: '${junction}', near: 'article', far: 'tag', name: 'tags', inverseName: 'articles' }],
  }`;
  const found = await changesBetween(
    { sql, config: config('author', 'editor', 'links', 'orders_v2: { hidden: true }') },
    {
      sql: 'ALTER TABLE articles DROP COLUMN total, ADD COLUMN total int GENERATED ALWAYS AS (a * b) STORED',
      config: config(
        'editor',
        'author',
        'marks',
        `orders: { hidden: true }, orders_v2: { name: 'orders' },
         articles: { fields: { a: { name: 'b' }, b: { name: 'a' } } }`,
      ),
    },
  );
  expect(found.filter((change) => change.includes('-source-') || change.includes('-expression-'))).toEqual([
    'dangerous field-source-changed: "a" is the column "b", it was the column "a".',
    'dangerous field-source-changed: "b" is the column "a", it was the column "b".',
    'dangerous relation-source-changed: "tags" leads to tags by marks (id to article; tag to id), it led to tags by links (id to article; tag to id).',
    'dangerous field-expression-changed: "total" is made as (a * b), it was (a + b).',
    'dangerous collection-source-changed: "orders" shows public.orders_v2, it showed public.orders.',
    'dangerous relation-source-changed: "articles" leads to articles by marks (id to tag; article to id), it led to articles by links (id to tag; article to id).',
    'dangerous relation-source-changed: "articles" leads to articles by (id to editor), it led to articles by (id to author).',
  ]);
  const renamed = `ALTER TABLE orders RENAME TO purchases; ALTER TABLE articles RENAME author TO writer;
    ALTER TABLE articles RENAME a TO c`;
  const kept = `purchases: { name: 'orders' }, articles: { fields: { writer: { name: 'author' }, c: { name: 'a' } } }`;
  expect(await changesBetween({ sql }, { sql: renamed, config: `{ collections: { ${kept} } }` })).toEqual([]);
}, 120_000);

test('a table that was hidden is no new name of one that is hidden now', async () => {
  const sql =
    'CREATE TABLE orders (id int PRIMARY KEY, item text); CREATE TABLE orders_v2 (id int PRIMARY KEY, item text)';
  const hiding = (table: string): Version => ({ config: `{ collections: { ${table}: { hidden: true } } }` });
  expect(await changesBetween({ sql, ...hiding('orders_v2') }, hiding('orders'))).toEqual([
    'breaking collection-removed: The collection "orders" is gone.',
    'safe collection-added: The collection "orders_v2" is new.',
  ]);
}, 60_000);

test('values that rules fix for functions', async () => {
  const sql = `CREATE TABLE shops (id int PRIMARY KEY);
    CREATE FUNCTION refund(shop int, amount int) RETURNS int LANGUAGE sql STABLE AS 'SELECT shop + amount'`;
  const version = (shop: string): Version => ({
    config: '{ functions: { refund: {} } }',
    permissions: `roles: { clerk: {} }\npermissions: {}\nfunctions: { clerk: { refund: { args: { shop: ${shop} } } } }`,
  });
  expect(await changesBetween({ sql, ...version('1') }, version('2'))).toEqual([
    'dangerous preset-changed: The server sets "shop" to 2, not 1 (call).',
  ]);
}, 60_000);

test('another search, and answers that caches may keep', async () => {
  const sql = `CREATE TABLE books (id int PRIMARY KEY, title text);
    CREATE INDEX words ON books USING gin (to_tsvector('english', title))`;
  const permissions = 'permissions: { public: { books: { read: true } } }';
  const search = "{ mode: 'text', fields: ['title'], language: 'english' }";
  const config = `{ collections: { books: { cache: { public: '60s' }, search: ${search} } } }`;
  expect(await changesBetween({ sql, permissions }, { permissions, config })).toEqual([
    'dangerous cache-changed: Shared caches keep answers of "books" for 60 seconds.',
    'dangerous search-changed: A search of "books" finds words of "title" (english).',
  ]);
}, 60_000);

test('nothing where constraints have another name, or their columns another order', async () => {
  const sql = `CREATE TABLE places (hall int, seat int, PRIMARY KEY (hall, seat));
    CREATE TABLE seats (id int PRIMARY KEY, hall int, seat int, CONSTRAINT taken UNIQUE (hall, seat),
      CONSTRAINT place FOREIGN KEY (hall, seat) REFERENCES places, CONSTRAINT above CHECK (seat > 0))`;
  const after = `ALTER TABLE seats RENAME CONSTRAINT above TO positive;
    ALTER TABLE seats DROP CONSTRAINT taken, ADD UNIQUE (seat, hall),
      DROP CONSTRAINT place, ADD FOREIGN KEY (seat, hall) REFERENCES places (seat, hall)`;
  expect(await changesBetween({ sql }, { sql: after })).toEqual([
    'breaking upsert-key-reordered: Items of "seats" are written by (seat, hall), not (hall, seat).',
    'dangerous index-removed: There is no index btree (hall, seat) any more.',
    'safe index-added: There is an index btree (seat, hall).',
  ]);
}, 60_000);
