/** The servers of MySQL's family that tests compare with PostgreSQL. */
import { noMariadb, startMariadb, withoutMariadb } from './mariadb.ts';
import { noMysql, startMysql, withoutMysql } from './mysql.ts';

/**
 * `exact` is the collation that tells all texts apart, `uuid` the type of identifiers, and `json` the type of PostgreSQL
 * that answers JSON in the same form.
 */
export const servers = [
  {
    name: `MariaDB${withoutMariadb}`,
    dialect: 'mariadb',
    missing: noMariadb,
    start: startMariadb,
    exact: 'utf8mb4_nopad_bin',
    uuid: 'uuid',
    json: 'json',
  },
  {
    name: `MySQL${withoutMysql}`,
    dialect: 'mysql',
    missing: noMysql,
    start: startMysql,
    exact: 'utf8mb4_0900_bin',
    uuid: 'char(36)',
    json: 'jsonb',
  },
] as const;
