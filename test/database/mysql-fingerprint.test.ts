/** What MariaDB and MySQL say of the tables that an API was compiled for, and what it costs them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { readMysqlFingerprint } from '../../packages/runtime/src/dialects/mysql/live-objects.ts';
import { compareFingerprint } from '../../packages/runtime/src/drift.ts';
import type { Fingerprint } from '../../packages/runtime/src/language/index.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';

const tables = `
  CREATE TABLE links (note varchar(20), second_id int NOT NULL, first_id int NOT NULL, PRIMARY KEY (first_id, second_id));
  CREATE TABLE parted (id int) PARTITION BY LIST (id) (PARTITION one VALUES IN (1));
  CREATE VIEW notes AS SELECT note FROM links;`;

const columns = {
  links: [
    { name: 'note', type: 'varchar(20)', nullable: true },
    { name: 'second_id', type: expect.stringMatching(/^int/), nullable: false },
    { name: 'first_id', type: expect.stringMatching(/^int/), nullable: false },
  ],
  notes: [{ name: 'note', type: 'varchar(20)', nullable: true }],
  parted: [{ name: 'id', type: expect.stringMatching(/^int/), nullable: true }],
};
const plain = { schema: 'public', rowSecurity: false, key: [] };

describe.each(servers)('$name', ({ name, missing, start }) => {
  if (missing) return void it.skip('is not there');

  let database: Database;
  let url: string;
  let server: MysqlServer;
  beforeAll(async () => {
    server = await start();
    url = await createMysqlDatabase(server, tables);
    database = await connectMysql({ url, poolMax: 1 });
  }, 60_000);
  afterAll(async () => {
    await database?.close(0);
    await server?.stop();
  });

  /** As it was compiled; the types are those that this server writes. */
  async function fingerprint(): Promise<Fingerprint> {
    const live = await readMysqlFingerprint(database, { objects: [{ schema: plain.schema, name: 'links' }] });
    return { hash: '', objects: live.map((object) => ({ ...object, collections: [object.name] })) };
  }

  it('tells of kinds, columns in their order, and keys in theirs', async () => {
    const { objects } = await fingerprint();
    expect(objects.map(({ collections: _, ...object }) => object)).toEqual([
      { ...plain, name: 'links', kind: 'r', key: ['first_id', 'second_id'], columns: columns.links },
      { ...plain, name: 'notes', kind: 'v', columns: columns.notes },
      { ...plain, name: 'parted', kind: 'p', columns: columns.parted },
    ]);
  });

  it('shows what has changed', async () => {
    const before = await fingerprint();
    await withMysql(url, (connection) =>
      connection.query(`ALTER TABLE links DROP PRIMARY KEY, ADD PRIMARY KEY (second_id, first_id), MODIFY note text;
        DROP TABLE parted; CREATE TABLE others (id int)`),
    );
    const drifts = compareFingerprint(before, await readMysqlFingerprint(database, before), 'mariadb');
    expect(drifts.map(({ object }) => object)).toEqual([
      'table links',
      'column links.note',
      'column notes.note',
      'table parted',
    ]);
  });

  // MySQL looks into tables that have indexes.
  it.runIf(name === 'MariaDB')('compares no table with all others', async () => {
    const plan: (string | null)[] = [];
    const explaining: Pick<Database, 'query'> = {
      async query(text, parameters) {
        const rows = await database.query(`EXPLAIN ${text}`, parameters);
        plan.push(...rows.map((row) => row.at(-1) ?? ''));
        return [];
      },
    };
    await readMysqlFingerprint(explaining, await fingerprint());
    expect(plan.length).toBeGreaterThan(2);
    for (const extra of plan) expect(extra).not.toContain('join');
  });
});
