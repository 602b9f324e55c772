/** What MariaDB and MySQL answer instead of rows, as errors of the API: statements that make them say so. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';
import { statement } from './statements.ts';

const tables = `SET SESSION innodb_strict_mode = 0;
  CREATE TABLE made (
    id int PRIMARY KEY, small tinyint, short varchar(3), day date, kind enum('a', 'b'), plain varchar(9) CHARACTER SET ascii,
    document json, above int, needed int NOT NULL, CHECK (small <> 13), FOREIGN KEY (above) REFERENCES made (id)
  );
  INSERT INTO made (id, needed) VALUES (1, 1), (2, 2);
  UPDATE made SET above = 1 WHERE id = 2;
  CREATE TABLE parted (id int) PARTITION BY LIST (id) (PARTITION one VALUES IN (1));
  CREATE TABLE raising (id int);
  CREATE TABLE wide (${Array.from({ length: 12 }, (_, n) => `c${n} varchar(1000)`).join()}) ROW_FORMAT = COMPACT;
  CREATE VIEW some AS SELECT id, needed FROM made WHERE needed < 10 WITH CHECK OPTION;
  CREATE VIEW short AS SELECT id FROM made;
  CREATE TABLE gone (id int);
  CREATE VIEW stale AS SELECT id FROM gone;
  DROP TABLE gone;`;
const trigger =
  "CREATE TRIGGER raises BEFORE INSERT ON raising FOR EACH ROW SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 30001";

/** What is said of a statement, by PostgreSQL's code and by that of the API. */
const values: readonly (readonly [text: string, sqlstate: string | RegExp, code: string])[] = [
  ['INSERT INTO made (id, needed) VALUES (1, 1)', '23505', 'FAILED_VALIDATION'],
  ['INSERT INTO made (id, needed, above) VALUES (3, 1, 9)', '23503', 'FAILED_VALIDATION'],
  ['DELETE FROM made WHERE id = 1', '23503', 'FAILED_VALIDATION'],
  ['INSERT INTO made (id) VALUES (3)', '23502', 'FAILED_VALIDATION'],
  ['INSERT INTO short (id) VALUES (3)', '23502', 'FAILED_VALIDATION'],
  ['UPDATE made SET needed = NULL', '23502', 'FAILED_VALIDATION'],
  ['UPDATE made SET small = 13', '23514', 'FAILED_VALIDATION'],
  ['INSERT INTO parted VALUES (2)', '23514', 'FAILED_VALIDATION'],
  ['UPDATE some SET needed = 11', '44000', 'SERVICE_UNAVAILABLE'],
  ['UPDATE made SET small = 1000', '22003', 'INVALID_QUERY'],
  ["UPDATE made SET short = 'long'", '22001', 'INVALID_QUERY'],
  // The platform refuses texts that are no dates itself. The servers say the same of dates beyond a column.
  ["UPDATE made SET day = 'someday'", '22008', 'INVALID_QUERY'],
  ["UPDATE made SET day = '2026-02-30'", '22008', 'INVALID_QUERY'],
  ["UPDATE made SET kind = 'c'", '22P02', 'INVALID_QUERY'],
  ["UPDATE made SET plain = '\u{1f600}'", '22P05', 'INVALID_QUERY'],
  ["UPDATE made SET small = 'x'", '22P02', 'INVALID_QUERY'],
  ["UPDATE made SET document = '{'", /^(?:22P02|23514)$/, ''],
  ["SELECT 'a' REGEXP '('", '2201B', 'INVALID_QUERY'],
  ['SELECT 9223372036854775807 + 1', '22003', 'INVALID_QUERY'],
  [
    `INSERT INTO wide VALUES (${Array.from({ length: 12 }, () => "REPEAT('x', 1000)").join()})`,
    '54000',
    'INVALID_QUERY',
  ],
  ['INSERT INTO raising VALUES (1)', 'P0001', 'SERVICE_UNAVAILABLE'],
  ['SELECT * FROM stale', '42P01', 'SERVICE_UNAVAILABLE'],
  ['SELECT * FROM nothing', '42P01', 'SERVICE_UNAVAILABLE'],
  ['SELECT nothing FROM made', '42703', 'SERVICE_UNAVAILABLE'],
  ['SELECT nothing()', '42883', 'SERVICE_UNAVAILABLE'],
  // Nobody but the author of such a statement can do anything about it.
  ['SELEKT 1', 'HY000', 'INTERNAL_SERVER_ERROR'],
  ['SELECT (SELECT id FROM made)', 'HY000', 'INTERNAL_SERVER_ERROR'],
  ["SELECT 'a' COLLATE utf8mb4_bin = 'a' COLLATE utf8mb4_general_ci", 'HY000', 'INTERNAL_SERVER_ERROR'],
  ['INSERT INTO raising VALUES (1, 2)', 'HY000', 'INTERNAL_SERVER_ERROR'],
];

describe.each(servers)('errors of $name', ({ missing, start, exact }) => {
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let database: Database;
  beforeAll(async () => {
    server = await start();
    const url = await createMysqlDatabase(server, tables, exact);
    await withMysql(url, (connection) => connection.query(trigger));
    database = await connectMysql({ url, poolMax: 2 });
  }, 60_000);
  afterAll(async () => {
    await database?.close(0);
    await server?.stop();
  });

  it.each(values)('%s is %s', async (text, sqlstate, code) => {
    const done = database.transaction(async (transaction) => {
      await transaction.run(statement(text), [], { row: () => {} });
      throw new Error('nothing was wrong');
    });
    const error = await done.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: { sqlstate: expect.stringMatching(sqlstate) } });
    if (code !== '') expect(error).toMatchObject({ code });
  });
});
