/** The servers of MySQL's family that tests compare with PostgreSQL. */
import { noMariadb, startHeld, startMariadb, withoutMariadb } from './mariadb.ts';
import { noMysql, startMysql, withoutMysql } from './mysql.ts';

/**
 * `exact` is the collation that tells all texts apart, `uuid` the type of identifiers, and `json` the type of PostgreSQL
 * that answers JSON in the same form. `startFolding` starts one of its own that keeps names of tables in lower case.
 */
export const servers = [
  {
    name: `MariaDB${withoutMariadb}`,
    dialect: 'mariadb',
    missing: noMariadb,
    start: startMariadb,
    startFolding: () => startHeld('mariadb-server.ts', 'lower case'),
    exact: 'utf8mb4_nopad_bin',
    uuid: 'uuid',
    json: 'json',
  },
  {
    name: `MySQL${withoutMysql}`,
    dialect: 'mysql',
    missing: noMysql,
    start: startMysql,
    startFolding: () => startHeld('mysql-server.ts', 'lower case'),
    exact: 'utf8mb4_0900_bin',
    uuid: 'char(36)',
    json: 'jsonb',
  },
] as const;

/** All servers: PostgreSQL is that of the run. */
export const allServers = [{ name: 'PostgreSQL', dialect: null, missing: false }, ...servers] as const;

/** Each of them as it is. PostgreSQL alone has other ways to write, so there the same is asked without optimisations, too. */
export const serverForms = allServers.flatMap((server) => [
  { ...server, environment: {}, form: 'as it is' },
  ...(server.dialect === null
    ? [{ ...server, environment: { PLATFORM_OPTIMIZE: 'none' }, form: 'without optimisations' }]
    : []),
]);
