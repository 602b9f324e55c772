/**
 * Changes of the model on MariaDB and MySQL whose connections break: each is there wholly or not at all once the next change
 * has begun, and what was answered is there. A sample on MariaDB every day; FAULTS=1 breaks them at every fifth
 * flight as well, on both.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyMysql, startFaultyMysql } from '../support/faulty-mysql.ts';
import { startCompiled } from '../support/host.ts';
import { type Platform, runPlatform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const isWhole = process.env.FAULTS !== undefined;

const tables = `
  CREATE TABLE things (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL);
  CREATE TABLE parts (id int AUTO_INCREMENT PRIMARY KEY, label varchar(40), first int, second int);
  INSERT INTO things (name) VALUES ('one');
  INSERT INTO parts (label, first, second) VALUES ('kept', 1, NULL)`;

interface Change {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** What makes everything as it was, by requests and then by SQL. */
  readonly back: readonly (readonly [string, string, unknown?])[];
  readonly sql?: string;
}

const label = { field: 'label', type: 'string', schema: { max_length: 40 } };
const relation = (field: string) => ({ collection: 'parts', field, related_collection: 'things' });
const changes: readonly Change[] = [
  {
    name: 'two tables',
    method: 'POST',
    path: '/collections',
    body: [
      { collection: 'more', schema: {}, meta: { note: 'More.' } },
      { collection: 'most', schema: {} },
    ],
    back: [
      ['DELETE', '/collections/more'],
      ['DELETE', '/collections/most'],
    ],
  },
  {
    name: 'two keys and their indexes',
    method: 'POST',
    path: '/relations',
    body: [relation('first'), { ...relation('second'), meta: { one_field: 'seconds' } }],
    back: [
      ['DELETE', '/relations/parts/first'],
      ['DELETE', '/relations/parts/second'],
    ],
    sql: 'ALTER TABLE parts DROP INDEX parts_first_idx, DROP INDEX parts_second_idx',
  },
  {
    name: 'values that go',
    method: 'DELETE',
    path: '/fields/parts/label?data=discard',
    back: [['POST', '/fields/parts', label]],
    sql: "ALTER TABLE parts MODIFY label varchar(40) AFTER id; UPDATE parts SET label = 'kept'",
  },
];

/** Statements of a change, and what they are written down with, each behind the head of its message. */
const moments = [
  /^.{5}CREATE TABLE `platform_draft/s,
  /^.{5}INSERT INTO platform_project_changes/s,
  /^.{5}UPDATE platform_project_changes/s,
  /^.{5}(?:CREATE TABLE|ALTER TABLE) `(?:more|most|parts)`/s,
  /^.{5}CREATE TABLE `most`|^.{5}INSERT INTO platform_activity/s,
  /COMMIT$/,
];

describe.each(servers)('on $name', ({ dialect, missing, start, exact }) => {
  if (missing) return void it.skip('is not there');
  if (dialect === 'mysql' && !isWhole) return void it.skip('is asked with FAULTS=1: a minute or more');

  let faulty: FaultyMysql;
  let platform: Platform;
  beforeAll(async () => {
    faulty = await startFaultyMysql({ start, exact }, tables);
    platform = await startCompiled(faulty.folder, faulty.proxy().url);
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await faulty?.close();
  });

  const rows = (sql: string) => faulty.rows(sql);

  /** Every table as the database prints it, what is said about them, and how many changes are told of. */
  async function state() {
    const names = await rows(
      "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME NOT LIKE 'platform\\_project%' ORDER BY 1",
    );
    const printed = await Promise.all(
      names.map(async ([name]) => (await rows(`SHOW CREATE TABLE ${name}`))[0]?.[1] as string),
    );
    const said = await Promise.all(
      [
        'SELECT collection, note FROM platform_collections ORDER BY 1',
        'SELECT collection, field FROM platform_fields ORDER BY 1, 2',
        'SELECT many_collection, many_field, one_field FROM platform_relations ORDER BY 1, 2',
        'SELECT * FROM parts',
      ].map(rows),
    );
    return { tables: printed.map((one) => one.replace(/ AUTO_INCREMENT=\d+/, '')), said };
  }

  const counts = async () =>
    (
      await rows(`SELECT (SELECT COUNT(*) FROM platform_project_migrations),
        (SELECT COUNT(*) FROM platform_activity WHERE collection LIKE 'platform\\_%'),
        (SELECT COUNT(*) FROM platform_project_changes)`)
    )[0];

  const send = ({ method, path, body }: Pick<Change, 'method' | 'path' | 'body'>, key?: string) =>
    platform.admin(path, {
      method,
      ...(body !== undefined && { body }),
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });

  async function goBack({ back, sql }: Change): Promise<void> {
    for (const [method, path, body] of back) expect((await send({ method, path, body })).status).toBeLessThan(300);
    if (sql !== undefined) await rows(sql);
  }

  describe.each(changes)('$name', (change) => {
    async function meet(told: string, before: unknown, after: unknown): Promise<void> {
      const [made = 0, said = 0] = (await counts()) as readonly number[];
      const key = `${change.name} ${told}`.replace(/\W+/g, '-').slice(0, 100);
      const { status, text } = await send(change, key);
      faulty.proxy().armAt('cut', Number.POSITIVE_INFINITY);
      expect([200, 204, 503], `${told}: ${text}`).toContain(status);
      // Whatever comes next settles it.
      await send({ method: 'PATCH', path: '/collections/nothing', body: { meta: {} } });
      const now = await state();
      const isDone = status !== 503 || JSON.stringify(now) === JSON.stringify(after);
      expect({ told, now }).toEqual({ told, now: isDone ? after : before });
      const [migrations, activities, underWay] = (await counts()) as readonly number[];
      const wanted = isDone ? [made + 1, said + (change.name.startsWith('two') ? 2 : 1)] : [made, said];
      expect([told, migrations, activities, underWay]).toEqual([told, ...wanted, 0]);
      // One that left nothing is done when it is sent again.
      if (!isDone) expect((await send(change, key)).status, told).toBeLessThan(300);
      await goBack(change);
    }

    it('is whole or not at all', async () => {
      expect((await send(change)).status).toBeLessThan(300);
      const after = await state();
      await goBack(change);
      const before = await state();
      for (const fault of ['cut', 'swallow'] as const) {
        for (const [place, moment] of moments.entries()) {
          if (!isWhole && (fault === 'cut') === (place % 2 === 0)) continue;
          faulty.proxy().arm(fault, moment);
          await meet(`${fault} at ${moment}`, before, after);
        }
        for (let flight = fault === 'cut' ? 1 : 3; isWhole; flight += 5) {
          faulty.proxy().armAt(fault, flight);
          const { done } = faulty.proxy();
          await meet(`${fault} at ${flight}`, before, after);
          if (done() === 0 && flight > 60) break;
        }
      }
    }, 600_000);
  });

  const migrate = (through: string) => runPlatform(['migrate', '--project', faulty.folder], { DATABASE_URL: through });

  it('what a server that was killed has begun to drop is dropped by `platform migrate`', async () => {
    const [before = 0, said = 0] = (await counts()) as readonly number[];
    const [, , going] = changes;
    faulty.proxy().arm('stall', /^.{5}ALTER TABLE `parts`/s);
    const answer = going === undefined ? undefined : send(going).catch(() => undefined);
    while (faulty.proxy().done() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    process.kill(platform.pid, 'SIGKILL');
    await answer;
    // The database learns of it.
    await faulty.renewProxy();
    expect(await counts()).toEqual([before, said, 1]);
    expect(await migrate(faulty.url)).toMatchObject({ code: 0 });
    expect(await counts()).toEqual([before + 1, said + 1, 0]);
    expect(await rows('SELECT * FROM parts')).toEqual([[1, 1, null]]);
  }, 60_000);

  it('a migration that was interrupted goes on where it was', async () => {
    const file = join(faulty.folder, 'migrations', '9000-own.sql');
    const text = `CREATE TABLE own (id int PRIMARY KEY, text varchar(20));
      INSERT INTO own VALUES (1, 'a;b'); -- It's a comment; no statement.
      ALTER TABLE own ADD COLUMN more int;
      UPDATE own SET more = COALESCE(more, 0) + 1;`;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    for (const moment of [/INSERT INTO own/, /ALTER TABLE own/]) {
      faulty.proxy().arm('swallow', moment);
      expect((await migrate(faulty.proxy().url)).code).not.toBe(0);
    }
    expect(await migrate(faulty.url)).toMatchObject({ code: 0 });
    expect(await rows('SELECT id, text, more FROM own')).toEqual([[1, 'a;b', 1]]);
    expect((await migrate(faulty.url)).stderr).toContain('up to date');
    // One that is wrong says so, and goes on when it was corrected behind what was done.
    const wrong = join(faulty.folder, 'migrations', '9001-wrong.sql');
    await writeFile(wrong, 'CREATE TABLE right_one (id int PRIMARY KEY); ALTER TABLE wrong_one ADD more int');
    expect((await migrate(faulty.url)).stderr).toMatch(/9001-wrong cannot be applied.*1 of its 2 statements were/s);
    await writeFile(wrong, 'CREATE TABLE other (id int PRIMARY KEY); ALTER TABLE own ADD most int');
    expect((await migrate(faulty.url)).stderr).toContain('has changed since');
    await writeFile(wrong, 'CREATE TABLE right_one (id int PRIMARY KEY); ALTER TABLE own ADD most int');
    expect(await migrate(faulty.url)).toMatchObject({ code: 0 });
    // The view reads what is not there, and the key leads to what is no key.
    for (const [name, body] of [
      ['9002-view', 'CREATE VIEW missed AS SELECT 1 FROM nowhere'],
      ['9003-call', 'CREATE VIEW missed AS SELECT nobody_s(1)'],
      ['9004-key', 'ALTER TABLE parts ADD CONSTRAINT missed FOREIGN KEY (second) REFERENCES things (name)'],
    ] as const) {
      const missed = join(faulty.folder, 'migrations', `${name}.sql`);
      await writeFile(missed, body);
      faulty.proxy().arm('cut', /^.{5}(?:CREATE VIEW|ALTER TABLE parts ADD CONSTRAINT) missed/s);
      expect((await migrate(faulty.proxy().url)).code).not.toBe(0);
      expect((await migrate(faulty.url)).stderr).toMatch(/cannot be applied: .*(?:nowhere|nobody_s|missed|parts)/);
      await rm(missed);
    }
    // The name of a key is taken where it was made.
    await writeFile(
      join(faulty.folder, 'migrations', '9005-key.sql'),
      'ALTER TABLE parts ADD CONSTRAINT found FOREIGN KEY (second) REFERENCES things (id)',
    );
    faulty.proxy().arm('swallow', /^.{5}ALTER TABLE parts ADD CONSTRAINT found/s);
    expect((await migrate(faulty.proxy().url)).code).not.toBe(0);
    expect(await migrate(faulty.url)).toMatchObject({ code: 0 });
  }, 60_000);
});
