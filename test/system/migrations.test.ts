/** The ledger of the platform's own tables on real servers: once each, in order, never half, never by surprise. */
import {
  type Migration,
  type MigrationConnection,
  MigrationError,
  migrate,
  readMigrations,
  undoMigrations,
} from '@tablewright/runtime/tools';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { installSystem, migrationConnection } from '../support/system.ts';

const names = ['accounts', 'sessions', 'activity', 'model', 'requests', 'files', 'product-name', 'activity-actions'];

function namesOf(migrations: readonly Migration[]): readonly string[] {
  return migrations.map(({ name }) => name);
}

/** A connection to an embedded database, and one to a server; each to a database of its own. */
const places = {
  async server() {
    const database = await createDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const close = async () => {
      await client.end();
      await database.drop();
    };
    return { connection: migrationConnection(client), close };
  },
  async embedded() {
    const database = await createEmbedded();
    const parsers = new Proxy({}, { get: () => (value: string) => value, has: () => true });
    const connection: MigrationConnection = {
      query: async (text, parameters) =>
        (await database.query<(string | null)[]>(text, [...parameters], { rowMode: 'array', parsers })).rows,
      script: async (text) => void (await database.exec(text)),
    };
    return { connection, close: () => database.close() };
  },
};

async function tablesOf(connection: MigrationConnection, schema = 'platform'): Promise<readonly string[]> {
  const rows = await connection.query(
    "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' ORDER BY relname",
    [schema],
  );
  return rows.map(([name]) => name ?? '');
}

async function problemOf(work: Promise<unknown>): Promise<MigrationError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof MigrationError) return error;
  throw new Error(`No MigrationError, but ${String(error)}.`);
}

describe.each(['server', 'embedded'] as const)('on the %s', (place) => {
  let close: () => Promise<void>;
  let connection: MigrationConnection;
  beforeAll(async () => {
    ({ connection, close } = await places[place]());
  });
  afterAll(() => close?.());

  it('has nothing before it is asked', async () => {
    expect(await readMigrations(connection)).toMatchObject({ installed: false, applied: [] });
    expect(await tablesOf(connection)).toEqual([]);
  });

  it('installs once, and a second time does nothing', async () => {
    const done = await migrate(connection);
    expect(namesOf(done)).toEqual(names);
    expect(await tablesOf(connection)).toEqual([...done.flatMap(({ tables }) => tables), 'platform_migrations'].sort());
    expect(await migrate(connection)).toEqual([]);
    const state = await readMigrations(connection);
    expect(state).toMatchObject({ installed: true, pending: [] });
    expect(state.applied.map(({ id, name }) => ({ id, name }))).toEqual(
      names.map((name, index) => ({ id: index + 1, name })),
    );
    expect(state.applied[0]?.appliedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  it('goes down one by one and up again to the same tables', async () => {
    const before = await tablesOf(connection);
    expect(namesOf(await undoMigrations(connection, 3))).toEqual(['activity-actions', 'product-name', 'files']);
    expect(namesOf((await readMigrations(connection)).pending)).toEqual(['files', 'product-name', 'activity-actions']);
    expect(namesOf(await undoMigrations(connection, 99))).toEqual([
      'requests',
      'model',
      'activity',
      'sessions',
      'accounts',
    ]);
    expect(await tablesOf(connection)).toEqual(['platform_migrations']);
    expect(namesOf(await migrate(connection))).toEqual(names);
    expect(await tablesOf(connection)).toEqual(before);
  });

  it('takes addresses for one that differ in case or compatibility only, in any locale', async () => {
    const add = (email: string) => connection.script(`INSERT INTO platform.platform_users (email) VALUES ('${email}')`);
    await add('Zoë.ÉCOLE@example.com');
    for (const same of ['zoë.école@example.com', 'ZOË.ÉCOLE@EXAMPLE.COM', 'zoe\u0308.école@example.com']) {
      await expect(add(same)).rejects.toMatchObject({ code: '23505' });
    }
    for (const other of ['zoe.ecole@example.com', 'zoë.école@example.com ']) await add(other);
  });
});

describe('two projects on one database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());

  it('have tables of their own in schemas of their own', async () => {
    await installSystem(database.url, { schema: 'one' });
    await installSystem(database.url, { schema: 'The "other"' });
    await withClient(database.url, async (client) => {
      const connection = migrationConnection(client);
      expect(await tablesOf(connection, '"The ""other"""')).toEqual(await tablesOf(connection, 'one'));
      await client.query(`INSERT INTO one.platform_users (email) VALUES ('a@example.com')`);
      const { rows } = await client.query('SELECT count(*)::int FROM "The ""other""".platform_users');
      expect(rows).toEqual([{ count: 0 }]);
    });
  });
});

describe('what does not fit', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    await installSystem(database.url);
  });
  afterAll(() => database?.drop());

  const first: Migration = { id: 1, name: 'first', tables: ['a'], up: 'CREATE TABLE a (id int)', down: 'DROP TABLE a' };
  const second: Migration = {
    id: 2,
    name: 'second',
    tables: ['b'],
    up: 'CREATE TABLE b (id int)',
    down: 'DROP TABLE b',
  };
  const options = { schema: 'small', migrations: [first, second] };
  afterEach(() =>
    withClient(database.url, (client) =>
      client.query('DROP SCHEMA IF EXISTS small CASCADE; DROP TABLE IF EXISTS mine'),
    ),
  );

  function run(work: (connection: MigrationConnection) => Promise<unknown>): Promise<unknown> {
    return withClient(database.url, (client) => work(migrationConnection(client)));
  }

  it('is a migration whose text has changed since', async () => {
    await installSystem(database.url, options);
    const changed = { ...options, migrations: [{ ...first, up: `${first.up} ` }, second] };
    for (const step of [migrate, readMigrations]) {
      const error = await problemOf(run((connection) => step(connection, changed)));
      expect(error.problem).toBe('changed');
      expect(error.message).toMatch(
        /^The migration 1 "first" is not the one that was applied on 20.*checksum differs\.$/,
      );
    }
    expect((await problemOf(run((connection) => undoMigrations(connection, 1, changed)))).problem).toBe('changed');
    // How it is undone may be corrected: no database remembers it.
    const corrected = { ...options, migrations: [first, { ...second, down: 'DROP TABLE IF EXISTS b' }] };
    expect(await run((connection) => undoMigrations(connection, 1, corrected))).toHaveLength(1);
  });

  it('is a database that a later version has migrated', async () => {
    await installSystem(database.url, options);
    const earlier = { ...options, migrations: [first] };
    for (const step of [migrate, readMigrations]) {
      const error = await problemOf(run((connection) => step(connection, earlier)));
      expect(error.problem).toBe('ahead');
      expect(error.message).toMatch(/newer than this version: version \S+ applied the migration 2 "second"/);
    }
  });

  it('leaves no trace of a migration that fails, and keeps those before it', async () => {
    const broken = { ...second, up: `${second.up}; SELECT 1 / 0` };
    const failing = run((connection) => migrate(connection, { ...options, migrations: [first, broken] }));
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    await run(async (connection) => {
      expect(await tablesOf(connection, 'small')).toEqual(['a', 'platform_migrations']);
      expect(namesOf((await readMigrations(connection, options)).pending)).toEqual(['second']);
    });
  });

  it('is a role that may not create, told with what it needs', async () => {
    await withClient(database.url, (client) => client.query("CREATE ROLE guest LOGIN PASSWORD 'guest'"));
    const url = new URL(database.url);
    url.username = 'guest';
    url.password = 'guest';
    try {
      const error = await problemOf(installSystem(url.href, options));
      expect(error.problem).toBe('forbidden');
      expect(error.message).toMatch(
        /^The database role may not create the tables of the platform: permission denied for /,
      );
      expect(error.hint).toContain('CREATE on the database');
      // A role that may do nothing in the schema, not even read the ledger.
      expect((await problemOf(installSystem(url.href))).problem).toBe('forbidden');
    } finally {
      await withClient(database.url, (client) => client.query('DROP ROLE guest'));
    }
  });

  it('is a database that takes no writes', async () => {
    const problem = await run(async (connection) => {
      await connection.script('SET default_transaction_read_only = on');
      return namesOf(await migrate(connection, options));
    });
    // Only a server that cannot write refuses: a default of the session is not meant for migrations.
    expect(problem).toEqual(['first', 'second']);
  });

  it('does not drop what others refer to', async () => {
    await withClient(database.url, (client) =>
      client.query('CREATE TABLE mine (user_id uuid REFERENCES platform.platform_users)'),
    );
    const error = await problemOf(run((connection) => undoMigrations(connection, 8)));
    expect(error.problem).toBe('needed');
    expect(error.hint).toContain('foreign keys');
    expect(await installSystem(database.url)).toHaveLength(7);
  });

  it('is a database in another encoding', async () => {
    const name = `${database.name}_latin`;
    await withClient(database.url, (client) =>
      client.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`),
    );
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    try {
      expect((await problemOf(installSystem(url.href))).problem).toBe('encoding');
    } finally {
      await withClient(database.url, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    }
  });
});

describe('several processes at once', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database?.drop());

  it('apply every migration once between them, whatever isolation the database defaults to', async () => {
    await withClient(database.url, (client) =>
      client.query(`ALTER DATABASE ${database.name} SET default_transaction_isolation = 'serializable'`),
    );
    const all = await Promise.all(Array.from({ length: 8 }, () => installSystem(database.url)));
    expect(namesOf(all.flat()).toSorted()).toEqual(names.toSorted());
    await withClient(database.url, async (client) => {
      const { rows } = await client.query('SELECT count(*)::int AS n FROM platform.platform_migrations');
      expect(rows).toEqual([{ n: 8 }]);
    });
  });
});
