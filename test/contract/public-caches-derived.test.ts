/**
 * Shared caches where rows change by more than statements tell: views, triggers, policies, functions, files, and rules that
 * are withdrawn. Source: scale-out notes, section 8.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ContractDatabase, createSystemDatabase, isOnMariadb, skippedFor } from '../support/contract-database.ts';
import { startCompiled } from '../support/host.ts';
import { type Answer, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { fencesSql, type PurgeReceiver, receivePurges, watchPurges } from '../support/purge-receiver.ts';
import { type SecuredProject, serveSecured } from '../support/secured.ts';
import { soon } from '../support/timing.ts';

const header = 'x-tags';
const tagsOf = ({ headers }: Answer): readonly string[] => headers.get(header)?.split(' ') ?? [];
const isPublic = ({ headers }: Answer): boolean => headers.get('cache-control')?.startsWith('public') === true;

let receiver: PurgeReceiver;
let project: ServedProject;

// Answers that take long are not kept, so that a busy machine needs many tries.
vi.setConfig({ testTimeout: 300_000 });

const { kept, purgedBy } = watchPurges({
  receiver: () => receiver,
  header,
  ask: (path) => project.ask(path),
  touch: (number) => project.admin(`/items/fences/${number}`, { method: 'PATCH', body: { n: number } }),
  isFirst: true,
});

const change = (path: string, body: unknown) => () => project.admin(path, { method: 'PATCH', body });

/** Tables that are left out, between kinds and what follows them; and what follows a table that nothing changes. */
const leftOut = `CREATE TABLE crates (id integer PRIMARY KEY, kind integer, FOREIGN KEY (kind) REFERENCES kinds (id) ON DELETE CASCADE);
  CREATE TABLE bottles (id integer PRIMARY KEY, crate integer, FOREIGN KEY (crate) REFERENCES crates (id) ON DELETE CASCADE);
  CREATE TABLE halls (id integer PRIMARY KEY);
  CREATE TABLE seats (id integer PRIMARY KEY, hall integer, FOREIGN KEY (hall) REFERENCES halls (id) ON DELETE CASCADE);
  INSERT INTO kinds VALUES (2, 'glass'); INSERT INTO crates VALUES (1, 2); INSERT INTO bottles VALUES (1, 1);
  INSERT INTO halls VALUES (1); INSERT INTO seats VALUES (1, 1)`;

const left = ['bottles', 'seats'];

/** A row takes others along that lie in a table that is left out. */
function whereTablesAreLeftOut(): void {
  it('purges what goes through tables that are left out with what they follow, and by no other write', async () => {
    const paths = left.map((name) => `/items/${name}`);
    expect(await purgedBy(change('/items/kinds/1', { name: 'c' }), paths)).toEqual([]);
    const remove = () => project.admin('/items/kinds/2', { method: 'DELETE' });
    expect(await purgedBy(remove, paths)).toEqual(['/items/bottles']);
    expect((await project.ask('/items/bottles')).json.data).toEqual([]);
  });
}

/** Serves collections that anybody may read, with a function or procedure that renames kinds, and asserts what holds for all. */
function whereRowsChangeElsewhere(
  names: readonly string[],
  statements: { readonly sql: string; readonly postgres?: string },
) {
  const collections = names.map(
    (name) => `${name}: { cache: { public: '60s' }${name === 'counted' ? ", key: ['n']" : ''} }`,
  );
  const all = names.map((name) => `/items/${name}${name === 'items' ? '/1' : ''}`);
  beforeAll(async () => {
    receiver = await receivePurges(header);
    project = await serveProject({
      system: true,
      disturbed: true,
      environment: { CACHE_PURGE_URL: receiver.url, CACHE_TAG_HEADER: 'X-Tags' },
      ...statements,
      config: `{ database: { exclude: ['crates', 'halls', 'repairs'] }, collections: { ${collections.join(', ')}, fences: { cache: { public: '60s' } } }, functions: { rename_kinds: {} } }`,
      permissions: `permissions: { public: { ${[...names, 'fences'].map((name) => `${name}: { read: true }`).join(', ')} } }
functions: { public: [rename_kinds] }`,
    });
  });
  afterAll(async () => {
    await project?.close();
    await receiver?.close();
  });

  it('begins with a purge of everything', async () => {
    await expect.poll(() => receiver.purges.length, { timeout: 30_000 }).toBeGreaterThan(0);
    const [tag = ''] = receiver.purges[0] ?? [];
    for (const path of all) expect(tagsOf(await kept(path))).toContain(tag);
  });

  it('purges everything where triggers, functions or procedures may have written anything', async () => {
    expect(await purgedBy(change('/items/audited/1', { name: 'y' }), all)).toEqual(all);
    const call = () => project.ask('/functions/rename_kinds', { method: 'POST', body: {} });
    expect(await purgedBy(call, all)).toEqual(all);
  });
  return all;
}

describe.skipIf(isOnMariadb())(`views, triggers and policies${skippedFor('they are written for PostgreSQL')}`, () => {
  const all = whereRowsChangeElsewhere(
    ['items', 'kinds', 'counted', 'log', 'guarded', 'parents', 'followers', ...left],
    {
      sql: `${fencesSql};`,
      postgres: `CREATE TABLE items (id integer PRIMARY KEY, name text, kind integer);
      CREATE TABLE kinds (id integer PRIMARY KEY, name text);
      CREATE VIEW counted AS SELECT count(*) AS n FROM items;
      CREATE TABLE audited (id integer PRIMARY KEY, name text);
      CREATE TABLE log (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, line text);
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log (line) VALUES (NEW.name); RETURN NEW; END $$;
      CREATE TRIGGER note AFTER INSERT OR UPDATE ON audited FOR EACH ROW EXECUTE FUNCTION note();
      CREATE FUNCTION rename_kinds() RETURNS integer LANGUAGE sql AS $$ UPDATE kinds SET name = name || '!'; SELECT 1 $$;
      CREATE TABLE guarded (id integer PRIMARY KEY, kind integer);
      ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
      CREATE POLICY seen ON guarded USING (kind IN (SELECT id FROM kinds WHERE name <> 'gone'));
      CREATE TABLE parents (id integer PRIMARY KEY, name text);
      CREATE TABLE children (extra text, PRIMARY KEY (id)) INHERITS (parents);
      CREATE TABLE sources (id integer PRIMARY KEY, name text, code text GENERATED ALWAYS AS (lower(name)) STORED UNIQUE);
      CREATE TABLE followers (id integer PRIMARY KEY, code text REFERENCES sources (code) ON UPDATE CASCADE);
      INSERT INTO sources VALUES (1, 'One'); INSERT INTO followers VALUES (1, 'one');
      INSERT INTO items VALUES (1, 'one', 1); INSERT INTO kinds VALUES (1, 'a'); INSERT INTO audited VALUES (1, 'x');
      ${leftOut};
      CREATE TABLE tools (id integer PRIMARY KEY);
      CREATE TABLE repairs (id integer PRIMARY KEY, tool integer REFERENCES tools ON DELETE CASCADE, name text);
      CREATE FUNCTION regret() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log (line) VALUES (OLD.name); RETURN OLD; END $$;
      CREATE TRIGGER regret AFTER DELETE ON repairs FOR EACH ROW EXECUTE FUNCTION regret();
      INSERT INTO tools VALUES (1); INSERT INTO repairs VALUES (1, 1, 'blade');
      INSERT INTO guarded VALUES (1, 1); INSERT INTO parents VALUES (1, 'p'); INSERT INTO children VALUES (2, 'c', 'e');
      INSERT INTO platform.platform_files (id, storage, filename_download) VALUES ('00000000-0000-4000-8000-00000000f001', 'local', 'a.txt')`,
    },
  );

  it('purges views, tables with policies and inherited ones with every write', async () => {
    const derived = ['/items/counted', '/items/guarded', '/items/parents', '/items/followers'];
    expect(await purgedBy(change('/items/kinds/1', { name: 'b' }), all)).toEqual(['/items/kinds', ...derived]);
    expect(await purgedBy(change('/items/children/2', { name: 'd' }), all)).toEqual(derived);
  });

  it('purges what follows a value that the database computes', async () => {
    expect(await purgedBy(change('/items/sources/1', { name: 'Two' }), ['/items/followers'])).toHaveLength(1);
    expect((await project.ask('/items/followers')).json.data).toEqual([{ id: 1, code: 'two' }]);
  });

  whereTablesAreLeftOut();

  it('purges everything where a row takes some along whose triggers may write anything, in a table that is left out', async () => {
    const remove = () => project.admin('/items/tools/1', { method: 'DELETE' });
    expect(await purgedBy(remove, ['/items/log', '/items/kinds'])).toEqual(['/items/log', '/items/kinds']);
    expect((await project.ask('/items/log?fields=line&sort=-id&limit=1')).json.data).toEqual([{ line: 'blade' }]);
  });
});

const elsewhere = isOnMariadb() ? '' : ' (skipped: they are written for MariaDB and MySQL)';

describe.skipIf(!isOnMariadb())(`views and triggers${elsewhere}`, () => {
  const all = whereRowsChangeElsewhere(['items', 'kinds', 'counted', 'log', 'boxes', 'labels', 'followers', ...left], {
    sql: `${fencesSql};
      SET @any = 0 /*!80400 , SESSION restrict_fk_on_non_standard_key = OFF */;
      CREATE TABLE shelves (id integer PRIMARY KEY, code varchar(20), KEY (code));
      CREATE TABLE boxes (id integer PRIMARY KEY, code varchar(20), FOREIGN KEY (code) REFERENCES shelves (code) ON DELETE CASCADE);
      CREATE TABLE labels (id integer PRIMARY KEY, box integer, FOREIGN KEY (box) REFERENCES boxes (id) ON DELETE CASCADE);
      INSERT INTO shelves VALUES (1, 'a'), (2, 'a'); INSERT INTO boxes VALUES (1, 'a'); INSERT INTO labels VALUES (1, 1);
      CREATE TABLE sources (id integer PRIMARY KEY, code varchar(20), KEY (id, code));
      CREATE TABLE followers (id integer PRIMARY KEY, source integer, code varchar(20),
        FOREIGN KEY (source, code) REFERENCES sources (id, code) ON UPDATE CASCADE);
      INSERT INTO sources VALUES (1, 'one'); INSERT INTO followers VALUES (1, 1, 'one');
      CREATE TABLE items (id integer PRIMARY KEY, name varchar(20));
      CREATE TABLE kinds (id integer PRIMARY KEY, name varchar(20));
      CREATE VIEW counted AS SELECT count(*) AS n FROM items;
      CREATE TABLE audited (id integer PRIMARY KEY, name varchar(20));
      CREATE TABLE log (id integer AUTO_INCREMENT PRIMARY KEY, line varchar(20));
      CREATE TRIGGER note AFTER UPDATE ON audited FOR EACH ROW INSERT INTO log (line) VALUES (NEW.name);
      CREATE PROCEDURE rename_kinds() MODIFIES SQL DATA UPDATE kinds SET name = concat(name, '!');
      ${leftOut};
      INSERT INTO items VALUES (1, 'one'); INSERT INTO kinds VALUES (1, 'a'); INSERT INTO audited VALUES (1, 'x')`,
  });

  whereTablesAreLeftOut();

  it('purges views with every write', async () => {
    const derived = ['/items/counted', '/items/followers'];
    expect(await purgedBy(change('/items/kinds/1', { name: 'b' }), all)).toEqual(['/items/kinds', ...derived]);
  });

  it('purges what follows a value that is in no key', async () => {
    expect(await purgedBy(change('/items/sources/1', { code: 'two' }), ['/items/followers'])).toHaveLength(1);
    expect((await project.ask('/items/followers')).json.data).toEqual([{ id: 1, source: 1, code: 'two' }]);
  });

  it('purges what goes with rows of a table that a foreign key reaches by values that are not unique', async () => {
    const remove = () => project.admin('/items/shelves/1', { method: 'DELETE' });
    const gone = ['/items/boxes', '/items/labels'];
    expect(await purgedBy(remove, gone)).toEqual(gone);
    expect((await project.ask('/items/labels')).json.data).toEqual([]);
  });
});

describe.skipIf(isOnMariadb())(`callers of policies${skippedFor('MariaDB has no policies')}`, () => {
  const role = "nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'role'";
  let secured: SecuredProject;
  let token = '';
  beforeAll(async () => {
    receiver = await receivePurges();
    secured = await serveSecured({
      sql: ({ anon, member, admin }) => `CREATE TABLE notes (id integer PRIMARY KEY, text text, reader text NOT NULL);
        CREATE TABLE hidden (id integer PRIMARY KEY);
        ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
        CREATE POLICY seen ON notes USING (reader = ${role} AND id NOT IN (SELECT id FROM hidden));
        CREATE POLICY all_notes ON notes TO ${admin} USING (true);
        GRANT SELECT, INSERT, UPDATE, DELETE ON notes, hidden TO ${anon}, ${member}, ${admin};
        INSERT INTO notes VALUES (1, 'for all', '${anon}'), (2, 'for members', '${member}'), (3, 'hidden soon', '${anon}')`,
      config: ({ anon, member, admin }) => `{
        database: { rowSecurity: { claims: 'request.jwt.claims', roles: { public: '${anon}', member: '${member}', admin: '${admin}' } } },
        collections: { notes: { cache: { public: '60s' } }, hidden: { cache: { public: '60s' } } },
      }`,
      permissions: `roles: { member: {} }
permissions:
  public: { notes: { read: { fields: [id, text] } } }
  member: { notes: { read: { fields: [id, text] } }, hidden: { create: true } }`,
      environment: { CACHE_PURGE_URL: receiver.url },
    });
    token = (await secured.addUsers(1))[0]?.token ?? '';
  });
  afterAll(() => Promise.all([secured?.close(), receiver?.close()]));

  const texts = ({ json }: Answer): readonly string[] => json.data.map(({ text }: { readonly text: string }) => text);
  async function keptAnswer(path: string): Promise<Answer> {
    let answer = await secured.ask(path);
    for (let tries = 0; tries < 500 && !isPublic(answer); tries++) answer = await secured.ask(path);
    expect(answer.headers.get('cache-control')).toContain('s-maxage=60');
    return answer;
  }

  it('keeps what the policies let anyone see, and nothing of a caller with a role of the database', async () => {
    expect(texts(await keptAnswer('/items/notes?sort=id'))).toEqual(['for all', 'hidden soon']);
    const own = await secured.ask('/items/notes?sort=id', { token });
    expect([texts(own), isPublic(own)]).toEqual([['for members'], false]);
    const item = await secured.ask('/items/notes/2', { token });
    expect([item.status, isPublic(item)]).toEqual([200, false]);
    expect(isPublic(await secured.ask('/items/notes/2'))).toBe(false);
  });

  it('purges it with every write, as a policy may look at any table', async () => {
    const tags = await Promise.all(
      ['/items/notes?sort=id', '/items/notes/3'].map(async (path) =>
        (await keptAnswer(path)).headers.get('surrogate-key'),
      ),
    );
    const before = receiver.purges.length;
    expect((await secured.ask('/items/hidden', { method: 'POST', body: { id: 3 }, token })).status).toBeLessThan(300);
    const purged = () => new Set(receiver.purges.slice(before).flat());
    const areGone = async () => tags.every((text) => text?.split(' ').some((tag) => purged().has(tag)));
    await soon(areGone, true, 10_000);
    expect(texts(await secured.ask('/items/notes?sort=id'))).toEqual(['for all']);
  });
});

describe('rules in tables', () => {
  let database: ContractDatabase;
  let folder: Awaited<ReturnType<typeof createProject>>;
  let servers: readonly Platform[] = [];
  beforeAll(async () => {
    receiver = await receivePurges();
    database = await createSystemDatabase(
      "CREATE TABLE docs (id integer PRIMARY KEY, title varchar(40)); INSERT INTO docs VALUES (1, 'One')",
    );
    folder = await createProject();
    const config =
      "export default { permissionSource: 'tables', collections: { docs: { cache: { public: '60s' } } } };\n";
    await writeFile(join(folder.folder, 'platform.config.ts'), config);
    const environment = { CACHE_PURGE_URL: receiver.url };
    servers = [
      await startCompiled(folder.folder, database.url, environment),
      await startUnchecked(folder.folder, database.url, environment, []),
    ];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all([folder?.remove(), database?.drop(), receiver?.close()]);
  });

  it('a right that is withdrawn purges everything at once, by every process', async () => {
    const [first, second] = servers;
    if (first === undefined || second === undefined) throw new Error('There are two servers.');
    const body = { collection: 'docs', action: 'read', fields: ['id', 'title'] };
    const made = await first.admin('/permissions', { method: 'POST', body });
    const tagsOf = async (server: Platform) => (await server.ask('/items/docs/1')).headers.get('surrogate-key');
    await expect.poll(() => tagsOf(second), { timeout: 30_000 }).not.toBe(null);
    await expect.poll(() => tagsOf(first), { timeout: 30_000 }).not.toBe(null);
    const tags = await Promise.all([first, second].map(tagsOf));
    expect(tags[0]).toBe(tags[1]);
    const told = () => receiver.purges.filter((purge) => purge.some((tag) => tags[0]?.includes(tag))).length;
    // Each process sends each purge twice: when it starts, and for each change of rights.
    await expect.poll(told, { timeout: 30_000 }).toBe(8);
    expect((await first.admin(`/permissions/${made.json.data.id}`, { method: 'DELETE' })).status).toBe(204);
    await soon(async () => (await second.ask('/items/docs/1')).status, 403, 30_000);
    await expect.poll(told, { timeout: 30_000 }).toBe(12);
    expect((await first.ask('/items/docs')).status).toBe(403);
  });
});
