/**
 * Shared caches where rows change by more than statements tell: views, triggers, policies, functions, files, and rules that
 * are withdrawn. Source: scale-out notes, section 8.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase, isOnMariadb, skippedFor } from '../support/contract-database.ts';
import { type Answer, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { type PurgeReceiver, receivePurges } from '../support/purge-receiver.ts';
import { soon } from '../support/timing.ts';

const header = 'x-tags';
const tagsOf = ({ headers }: Answer): readonly string[] => headers.get(header)?.split(' ') ?? [];
const isPublic = ({ headers }: Answer): boolean => headers.get('cache-control')?.startsWith('public') === true;

let receiver: PurgeReceiver;
let project: ServedProject;

/** An answer that is kept: on a busy machine one may take too long for that. */
async function kept(path: string): Promise<Answer> {
  for (let tries = 0; tries < 20; tries++) {
    const answer = await project.ask(path);
    if (isPublic(answer)) return answer;
    await sleep(100);
  }
  throw new Error(`No answer to ${path} is kept.`);
}

/** Those of the addresses whose answers the purges of a write concern. */
async function purgedBy(write: () => Promise<Answer>, paths: readonly string[]): Promise<readonly string[]> {
  const answers = await Promise.all(paths.map(kept));
  await sleep(1_100);
  const before = receiver.purges.length;
  expect((await write()).status).toBeLessThan(300);
  await sleep(400);
  const purged = new Set(receiver.purges.slice(before).flat());
  return paths.filter(
    (_, index) => answers[index] !== undefined && tagsOf(answers[index]).some((tag) => purged.has(tag)),
  );
}

describe.skipIf(isOnMariadb())(`views, triggers and policies${skippedFor('they are written for PostgreSQL')}`, () => {
  beforeAll(async () => {
    receiver = await receivePurges(header);
    project = await serveProject({
      system: true,
      disturbed: true,
      environment: { CACHE_PURGE_URL: receiver.url, CACHE_TAG_HEADER: 'X-Tags' },
      sql: '',
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
        INSERT INTO items VALUES (1, 'one', 1); INSERT INTO kinds VALUES (1, 'a'); INSERT INTO audited VALUES (1, 'x');
        INSERT INTO guarded VALUES (1, 1); INSERT INTO parents VALUES (1, 'p'); INSERT INTO children VALUES (2, 'c', 'e');
        INSERT INTO platform.platform_files (id, storage, filename_download) VALUES ('00000000-0000-4000-8000-00000000f001', 'local', 'a.txt')`,
      config: `{
        collections: {
          items: { cache: { public: '60s' } }, kinds: { cache: { public: '60s' } }, counted: { cache: { public: '60s' }, key: ['n'] },
          log: { cache: { public: '60s' } }, guarded: { cache: { public: '60s' } }, parents: { cache: { public: '60s' } },
        },
        functions: { rename_kinds: {} },
      }`,
      permissions: `permissions:
  public:
    items: { read: true }
    kinds: { read: true }
    counted: { read: true }
    log: { read: true }
    guarded: { read: true }
    parents: { read: true }
functions: { public: [rename_kinds] }`,
    });
  });
  afterAll(async () => {
    await project?.close();
    await receiver?.close();
  });
  const all = ['/items/items/1', '/items/kinds', '/items/counted', '/items/log', '/items/guarded', '/items/parents'];
  const change = (path: string, body: unknown) => () => project.admin(path, { method: 'PATCH', body });

  it('begins with a purge of everything', async () => {
    const [tag = ''] = receiver.purges[0] ?? [];
    for (const path of all) expect(tagsOf(await kept(path))).toContain(tag);
  });

  it('purges views, tables with policies and inherited ones with every write', async () => {
    const derived = ['/items/counted', '/items/guarded', '/items/parents'];
    expect(await purgedBy(change('/items/kinds/1', { name: 'b' }), all)).toEqual(['/items/kinds', ...derived]);
    expect(await purgedBy(change('/items/children/2', { name: 'd' }), all)).toEqual(derived);
  });

  it('purges everything where triggers or functions may have written anything', async () => {
    expect(await purgedBy(change('/items/audited/1', { name: 'y' }), all)).toEqual(all);
    expect(await purgedBy(() => project.ask('/functions/rename_kinds', { method: 'POST', body: {} }), all)).toEqual(
      all,
    );
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
      await startUnchecked(folder.folder, database.url, environment),
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
    await soon(async () => (await second.ask('/items/docs/1')).status, 200, 5_000);
    const answers = await Promise.all([first, second].map((server) => server.ask('/items/docs/1')));
    const tags = answers.map(({ headers }) => headers.get('surrogate-key'));
    expect(tags[0]).toBe(tags[1]);
    await sleep(1_200);
    const before = receiver.purges.length;
    expect((await first.admin(`/permissions/${made.json.data.id}`, { method: 'DELETE' })).status).toBe(204);
    await soon(async () => (await second.ask('/items/docs/1')).status, 403, 5_000);
    // Each process sends it twice.
    await soon(
      async () => receiver.purges.slice(before).filter((purge) => purge.some((tag) => tags[0]?.includes(tag))).length,
      4,
      3_000,
    );
    expect((await first.ask('/items/docs')).status).toBe(403);
  });
});
