/** Integers and times that the lane to MySQL and MariaDB spells: each as the server itself would, to the last digit. */
import { describe, expect, it } from 'vitest';
import { connectMysql } from '../../packages/runtime/src/dialects/mysql/database.ts';
import { rawColumn } from '../../packages/runtime/src/dialects/mysql/json.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { servers } from '../support/servers.ts';

const sql = `
SET SESSION sql_mode = '';
CREATE TABLE samples (id int PRIMARY KEY, precise datetime(6), whole datetime, u bigint unsigned, m mediumint, s smallint,
  t timestamp(3) NULL);
INSERT INTO samples VALUES
  (1, '0000-00-00', '0000-00-00', 18446744073709551615, -5, -32768, '2026-01-02 03:04:05.120'),
  (2, '2026-00-00', '2026-01-00', 0, 8388607, 0, NULL),
  (3, '0001-01-01 00:00:00.000010', '9999-12-31 23:59:59', 9007199254740993, NULL, 7, '1970-01-01 00:00:01');
`;
const integer = (column: string): string => `CAST(t0."${column}" AS CHAR(20))`;
const time = (column: string): string => `DATE_FORMAT(t0."${column}", '%Y-%m-%dT%H:%i:%s')`;
const fraction = (column: string): string =>
  `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM DATE_FORMAT(t0."${column}", '%Y-%m-%dT%H:%i:%s.%f')))`;
const expressions = [
  ...['id', 'u', 'm', 's'].map(integer),
  time('whole'),
  fraction('precise'),
  `CONCAT(${fraction('t')}, '+00:00')`,
];

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  it('answers the same either way', async () => {
    const database = await connectMysql({ url: await createMysqlDatabase(await start(), sql) });
    try {
      const read = (columns: readonly (string | undefined)[]) =>
        database.query(`SELECT ${columns.join(', ')} FROM samples t0 ORDER BY t0."id"`, []);
      const byServer = await read(expressions);
      expect(byServer).toHaveLength(3);
      expect(await read(expressions.map(rawColumn))).toEqual(byServer);
    } finally {
      await database.close(0);
    }
  }, 120_000);
});
