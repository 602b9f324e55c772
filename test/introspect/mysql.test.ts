/** What is read of a database of MariaDB or MySQL: every kind of column, key and table that has a meaning of its own. */
import { readFile } from 'node:fs/promises';
import {
  type CatalogStamps,
  type ChangedRelations,
  changedRelations,
  compareFacts,
  readStamps,
  readTables,
  rereadTables,
  type SchemaFacts,
} from '@tablewright/introspect';
import type { RowDataPacket } from 'mysql2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMysql } from '../../packages/cli/src/sources/mysql/source.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { mysqlFacts } from '../support/mysql-facts.ts';
import { servers } from '../support/servers.ts';
import { codesOf, columnOf, fixture, tableOf } from './facts.ts';

const id = 'public.everything';

/** Types that MySQL does not have. */
const ownTypes = [
  ['token', 'uuid', 'uuid'],
  ['address', 'inet6', 'string'],
] as const;

/** Changes of tables that MariaDB does not know. */
const ofMysqlAlone = [
  'ALTER TABLE notes ALTER CHECK notes_chk_1 NOT ENFORCED',
  'CREATE TABLE places (id int PRIMARY KEY, point point NOT NULL)',
  'ALTER TABLE places MODIFY point point NOT NULL SRID 4326',
];

/** The tables as MySQL has them, which knows no sequences either. */
function ofMysql(sql: string): string {
  return sql
    .replace('token UUID', 'token CHAR(36)')
    .replace('address INET6', 'address VARCHAR(45)')
    .replace(/CREATE SEQUENCE.*/, '');
}

describe.each(servers)('introspection of $name', ({ dialect, missing, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let url: string;
  let facts: SchemaFacts;
  const statements: string[] = [];
  beforeAll(async () => {
    server = await start();
    const sql = (await readFile(fixture('mysql.sql'), 'utf8')).replaceAll('utf8mb4_nopad_bin', exact);
    url = await createMysqlDatabase(server, dialect === 'mysql' ? ofMysql(sql) : sql);
    facts = await mysqlFacts(url, {}, (sql) => statements.push(sql));
  });
  afterAll(() => server?.stop());

  it('takes six statements, and one for the rights of MySQL', () => {
    expect(statements).toHaveLength(dialect === 'mysql' ? 7 : 6);
  });

  // MySQL looks into tables that have indexes.
  it.runIf(dialect === 'mariadb')('has no list compared with all of another', async () => {
    for (const sql of statements) {
      const explained = await withMysql(url, (connection) =>
        connection.query<RowDataPacket[]>(
          `EXPLAIN ${sql.replace(/^SET STATEMENT .* FOR (?=SELECT)/, '').replaceAll('?', 'DATABASE()')}`,
        ),
      );
      expect(JSON.stringify(explained[0]), sql).not.toMatch(/join buffer|DEPENDENT SUBQUERY/);
    }
  });

  it.runIf(dialect === 'mysql')('makes the list of constraints once, and not for each check', async () => {
    const checks = statements.find((sql) => sql.includes('CHECK_CONSTRAINTS')) ?? '';
    const explained = await withMysql(url, (connection) =>
      connection.query<RowDataPacket[]>(`EXPLAIN FORMAT=TREE ${checks.replaceAll('?', 'DATABASE()')}`),
    );
    expect(JSON.stringify(explained[0])).toMatch(/Index lookup on [ct] using <auto_key/);
  });

  it('has marks that change with every table and with no row, and reads what changed as it reads everything', async () => {
    const own = await createMysqlDatabase(server, 'CREATE TABLE notes (id int PRIMARY KEY, body text)');
    const source = await openMysql(own, false);
    const marks = (options = {}): Promise<CatalogStamps> => readStamps(dialect, source.run, options);
    let reading = await readTables('mysql', source.run);
    const changes = async (sql: string): Promise<ChangedRelations | null> => {
      const before = await marks();
      await withMysql(own, (connection) => connection.query(sql));
      return changedRelations(before, await marks());
    };
    expect(await changes("INSERT INTO notes VALUES (1, 'one')")).toBeNull();
    for (const sql of [
      'ALTER TABLE notes ADD level int',
      "ALTER TABLE notes COMMENT 'Of people'",
      'CREATE INDEX levels ON notes (level)',
      'ALTER TABLE notes ADD CHECK (level > 0)',
      ...(dialect === 'mysql' ? ofMysqlAlone : []),
      'CREATE TABLE marks (id int PRIMARY KEY, note_id int, FOREIGN KEY (note_id) REFERENCES notes (id))',
      'DROP TABLE marks',
      'CREATE VIEW ranked AS SELECT id FROM notes',
      'ALTER VIEW ranked AS SELECT level FROM notes',
      'ALTER ALGORITHM = TEMPTABLE VIEW ranked AS SELECT level FROM notes',
      'CREATE TRIGGER marked BEFORE INSERT ON notes FOR EACH ROW SET NEW.level = 1',
      'ALTER TABLE notes ADD doubled int AS (level * 2) VIRTUAL',
      'ALTER TABLE notes MODIFY doubled int AS (level * 4) VIRTUAL',
      'CREATE INDEX bodies ON notes (body(5))',
      'ALTER TABLE notes DROP INDEX bodies, ADD INDEX bodies (body(6))',
      'CREATE TABLE parts (id int PRIMARY KEY, note_id int, FOREIGN KEY (note_id) REFERENCES notes (id) ON DELETE CASCADE)',
      'CREATE VIEW shown AS SELECT p.id, n.body FROM parts AS p LEFT JOIN notes AS n ON n.id = p.note_id',
      'ALTER TABLE notes MODIFY body varchar(20) NOT NULL',
      'RENAME TABLE notes TO texts',
      'ALTER TABLE texts RENAME COLUMN id TO code',
      'ALTER TABLE parts DROP COLUMN note_id, DROP FOREIGN KEY parts_ibfk_1',
      'DROP VIEW shown',
      'CREATE TABLE Parts_2 AS SELECT * FROM parts',
      'CREATE FUNCTION doubled_of(n int) RETURNS int DETERMINISTIC RETURN n * 2',
      'ALTER FUNCTION doubled_of NO SQL',
      'DROP FUNCTION doubled_of',
      'CREATE PROCEDURE tidy(n int) DELETE FROM parts WHERE id = n',
      'DROP PROCEDURE tidy',
    ]) {
      const changed = await changes(sql);
      expect(changed, sql).not.toBeNull();
      // Routines have no table. MySQL does not tell that of a check, and calls it after that.
      const ofNoTable = dialect === 'mysql' ? /ADD CHECK|RENAME TABLE|FUNCTION|PROCEDURE/ : /FUNCTION|PROCEDURE/;
      expect(changed === 'all', sql).toBe(ofNoTable.test(sql));
      const reread = changed === null ? null : await rereadTables(source.run, reading, changed);
      const whole = await readTables('mysql', source.run);
      if (changed !== 'all') expect(reread?.facts, sql).toEqual(whole.facts);
      reading = reread ?? whole;
    }
    const other = new URL(await createMysqlDatabase(server, 'CREATE TABLE tags (id int PRIMARY KEY)')).pathname.slice(
      1,
    );
    const schemas = ['public', other];
    const before = [await marks(), await marks({ schemas })] as const;
    await withMysql(own, (connection) => connection.query(`ALTER TABLE ${other}.tags ADD name text`));
    expect(changedRelations(before[0], await marks())).toBeNull();
    expect(changedRelations(before[1], await marks({ schemas }))).toEqual(new Set([JSON.stringify([other, 'tags'])]));
    await source.close();
  });

  it.runIf(dialect === 'mysql')('tells a check that is enforced no more, and one that is again', async () => {
    const own = await createMysqlDatabase(server, 'CREATE TABLE notes (id int PRIMARY KEY, n int CHECK (n > 0))');
    const enforced = await mysqlFacts(own);
    const alter = (how: string) =>
      withMysql(own, (connection) => connection.query(`ALTER TABLE notes ALTER CHECK notes_chk_1 ${how}`));
    await alter('NOT ENFORCED');
    const loose = await mysqlFacts(own);
    const object = 'check notes_chk_1 of notes';
    expect(compareFacts(enforced, loose)).toMatchObject([{ object, change: 'removed' }]);
    expect(codesOf(loose)).toEqual(['check-not-enforced table notes']);
    await alter('ENFORCED');
    expect(compareFacts(loose, await mysqlFacts(own))).toMatchObject([{ object, change: 'added' }]);
  });

  it('learns from the server what it is', () => expect(facts.dialect).toBe(dialect));

  it.each<readonly [name: string, base: string, portable: string]>([
    ['id', 'bigint unsigned', 'bigInteger'],
    ['tiny', 'tinyint', 'integer'],
    ['flag', 'tinyint(1)', 'boolean'],
    ['small', 'smallint unsigned', 'integer'],
    ['medium', 'mediumint', 'integer'],
    ['whole', 'int unsigned', 'integer'],
    ['large', 'bigint', 'bigInteger'],
    ['price', 'decimal', 'decimal'],
    ['ratio', 'double', 'float'],
    ['share', 'float', 'float'],
    ['one_bit', 'bit(1)', 'boolean'],
    ['bits', 'bit', 'binary'],
    ['letters', 'char', 'string'],
    ['words', 'varchar', 'string'],
    ['body', 'mediumtext', 'text'],
    ['state', 'enum', 'enum'],
    ['marks', 'set', 'csv'],
    ['raw', 'varbinary', 'binary'],
    ['picture', 'longblob', 'binary'],
    ['day', 'date', 'date'],
    ['moment', 'time', 'time'],
    ['happened', 'datetime', 'dateTime'],
    ['changed', 'timestamp', 'timestamp'],
    ['born', 'year', 'integer'],
    ['settings', 'json', 'json'],
    ...(dialect === 'mysql' ? [] : ownTypes),
    ['place', 'point', 'geometry'],
  ])('reads the type of %s', (name, base, portable) => {
    const { type } = columnOf(facts, id, name);
    expect([type.base, type.portable]).toEqual([base, portable]);
  });

  it('reads lengths, precisions and labels', () => {
    const type = (name: string) => columnOf(facts, id, name).type;
    expect([type('words').maxLength, type('letters').maxLength, type('body').maxLength]).toEqual([40, 3, null]);
    expect([type('price').precision, type('price').scale]).toEqual([12, 4]);
    expect([type('moment').precision, type('happened').precision, type('changed').precision]).toEqual([3, 6, 0]);
    expect(type('state').values).toEqual(['new', "it's", '(old)']);
    expect(type('marks').values).toEqual(['a', 'b', 'c']);
  });

  it('reads what fills a column', () => {
    const fill = (name: string) => columnOf(facts, id, name).fill;
    expect(fill('id')).toEqual({ kind: 'identity', always: false });
    expect(fill('words')).toEqual({ kind: 'default', expression: "'it''s'" });
    expect(fill('tiny')).toEqual({ kind: 'none' });
    expect(fill('doubled')).toMatchObject({ kind: 'generated', stored: true });
    expect(fill('shown')).toMatchObject({ kind: 'generated', stored: false });
    expect(fill('hidden')).toEqual({ kind: 'default', expression: '7' });
  });

  it('knows which texts a collation tells apart', () => {
    expect(columnOf(facts, id, 'words').folds).toBe(true);
    // Blanks at the end make no difference there.
    expect(columnOf(facts, 'public.languages', 'code').folds).toBe(true);
    expect(columnOf(facts, 'public.languages', 'name').folds).toBeUndefined();
    expect(columnOf(facts, id, 'settings').folds).toBeUndefined();
  });

  it('keeps names that need quoting, and comments', () => {
    expect(columnOf(facts, id, 'order').comment).toBe('a word of SQL');
    expect(columnOf(facts, id, 'strange `name"').nullable).toBe(true);
    expect(tableOf(facts, 'public.languages').comment).toBe('What people speak');
  });

  it('reads keys, foreign keys, checks and indexes', () => {
    const table = tableOf(facts, id);
    expect(table.primaryKey?.columns).toEqual(['id']);
    // The start of a text being unique says nothing of the text.
    expect(table.uniques.map(({ columns }) => columns)).toEqual([['words', 'tiny']]);
    expect(table.foreignKeys).toMatchObject([
      {
        columns: ['language'],
        target: 'public.languages',
        targetColumns: ['code'],
        onDelete: 'set null',
        onUpdate: 'cascade',
      },
    ]);
    expect(table.checks.map(({ name, columns }) => [name, columns])).toContainEqual(['positive', ['price']]);
    const indexes = new Map(table.indexes.map(({ name, columns }) => [name, columns]));
    expect(indexes.get('everything_start')).toEqual(['(left(body, 10))']);
    expect(indexes.get('everything_day')).toEqual(['day', 'moment']);
    expect(tableOf(facts, 'public.pairs').primaryKey?.columns).toEqual(['right', 'left']);
  });

  it.skipIf(dialect !== 'mariadb')(
    'leaves the end of a period out of keys, which the server adds to them',
    async () => {
      const period = `since timestamp(6) GENERATED ALWAYS AS ROW START, until timestamp(6) GENERATED ALWAYS AS ROW END,
      PERIOD FOR SYSTEM_TIME (since, until)`;
      await withMysql(url, (connection) =>
        connection.query(`CREATE TABLE kept (id int PRIMARY KEY, code int UNIQUE, ${period}) WITH SYSTEM VERSIONING`),
      );
      const table = tableOf(await mysqlFacts(url, { include: ['kept'] }), 'public.kept');
      expect([table.primaryKey, ...table.uniques].map((key) => key?.columns)).toEqual([['id'], ['code']]);
      await withMysql(url, (connection) => connection.query('DROP TABLE kept'));
    },
  );

  it('warns of foreign keys that the server hides from users that may only read', async () => {
    const { hostname, port, pathname } = new URL(url);
    await withMysql(url, async (connection) => {
      await connection.query("CREATE USER only_reads IDENTIFIED BY 'x'");
      await connection.query(`GRANT SELECT ON \`${pathname.slice(1)}\`.* TO only_reads`);
    });
    const read = () => mysqlFacts(`mysql://only_reads:x@${hostname}:${port}${pathname}`);
    const keysOf = ({ tables }: SchemaFacts) => tables.flatMap(({ foreignKeys }) => foreignKeys).length;
    const hidden = await read();
    const told = hidden.diagnostics.filter(({ code }) => code === 'foreign-key-hidden');
    expect(keysOf(hidden) + told.length).toBe(keysOf(facts));
    // MySQL shows them to everybody who may read the table.
    expect(told.length > 0).toBe(dialect === 'mariadb');
    await withMysql(url, (connection) =>
      connection.query(`GRANT REFERENCES ON \`${pathname.slice(1)}\`.* TO only_reads`),
    );
    expect(keysOf(await read())).toBe(keysOf(facts));
    await withMysql(url, (connection) => connection.query('DROP USER only_reads'));
  });

  it('tells tables, partitioned tables and views', () => {
    expect(facts.tables.map((table) => [table.name, table.kind])).toEqual([
      ['counted', 'view'],
      ['everything', 'table'],
      ['languages', 'table'],
      ['pairs', 'partitioned'],
      ['priced', 'view'],
    ]);
    expect(tableOf(facts, 'public.pairs').amended).toBe(true);
    expect(codesOf(facts)).toEqual([]);
  });

  it('reads other databases under their own names', async () => {
    const { pathname } = new URL(await createMysqlDatabase(server, 'CREATE TABLE far (id INT PRIMARY KEY)'));
    const other = pathname.slice(1);
    await withMysql(url, (connection) =>
      connection.query(
        `CREATE TABLE near (id INT PRIMARY KEY, far INT, FOREIGN KEY (far) REFERENCES ${other}.far (id))`,
      ),
    );
    const both = await mysqlFacts(url, { schemas: ['public', other], include: ['near', `${other}.far`] });
    expect(both.tables.map((table) => table.id)).toEqual(['public.near', `${other}.far`].sort());
    expect(tableOf(both, 'public.near').foreignKeys).toMatchObject([{ target: `${other}.far` }]);
    const alone = await mysqlFacts(url, { include: ['near', 'nothing*'] });
    expect(tableOf(alone, 'public.near').foreignKeys).toEqual([]);
    expect(codesOf(alone)).toContain('foreign-key-outside table near');
    expect(codesOf(alone)).toContain('pattern-without-match platform.config.ts');
    expect(codesOf(alone)).toContain('relation-excluded table everything');
  });
});
