/** Reads a project's model from the platform's own tables on MySQL and MariaDB, and keeps its migrations. */
import { createScript } from '../../../database/own-statements.ts';
import { projectLedgerTable } from '../../../language/index.ts';
import { collections, fields, relations } from '../../migrations/model.ts';
import { columnOf } from '../../migrations/texts.ts';
import type { ModelParts, ModelTables } from '../../own-tables.ts';
import { namesIn } from '../texts.ts';
import { errorNumber, noAccess } from './errors.ts';
import { type MysqlTables, mysqlTurn, raiseCounter } from './tables.ts';

/** The table in which stands what is being changed, and how it is undone. */
const underWayTable = 'platform_project_changes';

const kinds = { collection: collections, field: fields, relation: relations };

/** Expressions of the values of columns by their types, in the order of their members. */
const expressions: readonly (readonly [type: RegExp, print: (name: string) => string])[] = [
  [/^(?:varchar|text)/, exactly],
  [/^integer$/, (name) => `one.\`${name}\``],
  // A flag is a number to the servers, and JSON is a text to MariaDB.
  [/^boolean$/, (name) => `IF(one.\`${name}\` IS NULL, NULL, JSON_EXTRACT(IF(one.\`${name}\`, 'true', 'false'), '$'))`],
  [/^json$/, (name) => `JSON_EXTRACT(${exactly(name)}, '$')`],
];

/** The same as `ModelTables.rows`. `schema` is quoted; empty for the database of the connection. */
function mysqlModelRowsSql(schema: string, hasLedger: boolean): string {
  const parts = Object.entries(kinds).map(([kind, table]) => {
    const columns = Object.keys(table.columns).filter((column) => column !== 'id');
    const members = expressions.flatMap(([type, print]) =>
      columns.filter((column) => type.test(columnOf(table, column).type)).map((name) => `'${name}', ${print(name)}`),
    );
    return `SELECT '${kind}' AS kind, CAST(JSON_OBJECT(${members.join(', ')}) AS CHAR) AS row_text FROM ${tableOf(schema, table.name)} AS one`;
  });
  const ledger = `SELECT 'migration', CAST(JSON_ARRAY(${exactly('name')}, ${exactly('checksum')}) AS CHAR) FROM ${tableOf(schema, projectLedgerTable)} AS one`;
  return `SELECT kind, row_text FROM (${[...parts, ...(hasLedger ? [ledger] : [])].join('\nUNION ALL ')}) AS every_row
ORDER BY kind, CAST(row_text AS BINARY)`;
}

/** As `ModelTables.readable`; a hidden ledger counts as absent. Parameter: database, null for the connection's. */
const mysqlModelTablesSql = `SELECT CAST(COUNT(CASE WHEN TABLE_NAME <> '${projectLedgerTable}' THEN 1 END) = 3 AS CHAR),
  MAX(CASE WHEN TABLE_NAME = '${projectLedgerTable}' THEN '1' END)
FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE(?, DATABASE())
  AND TABLE_NAME IN ('platform_collections', 'platform_fields', 'platform_relations', '${projectLedgerTable}')`;

/** Prints them. `schema` is quoted; empty for the database of the connection. */
export function mysqlProjectTables(schema: string) {
  const ledger = tableOf(schema, projectLedgerTable);
  const underWay = tableOf(schema, underWayTable);
  const options = 'ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';
  return {
    create: [
      `CREATE TABLE IF NOT EXISTS ${ledger} (
  name varchar(128) NOT NULL PRIMARY KEY,
  checksum char(64) NOT NULL,
  script longtext NOT NULL,
  applied_at timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  version varchar(32) NOT NULL
) ${options}`,
      `CREATE TABLE IF NOT EXISTS ${underWay} (
  name varchar(128) NOT NULL PRIMARY KEY,
  script longtext NOT NULL,
  begun int NOT NULL DEFAULT 0
) ${options}`,
    ],
    /** The beginning of the INSERT of a migration: name, checksum, text and version follow as values. */
    insert: `INSERT INTO ${ledger} (name, checksum, script, version)`,
    /** Reads name, checksum and text of every migration, by name. */
    migrations: `SELECT name, checksum, script FROM ${ledger} ORDER BY name`,
    underWay: {
      read: `SELECT name, script, CAST(begun AS CHAR) FROM ${underWay} ORDER BY name`,
      add: `INSERT INTO ${underWay} (name, script) VALUES (?, ?)`,
      note: `UPDATE ${underWay} SET begun = ? WHERE name = ?`,
      remove: `DELETE FROM ${underWay} WHERE name = ?`,
    },
  };
}

/** Texts of several collations are no part of one value. */
function exactly(name: string): string {
  return `CONVERT(one.\`${name}\` USING utf8mb4) COLLATE utf8mb4_bin`;
}

function tableOf(schema: string, table: string): string {
  return schema === '' ? table : `${schema}.${table}`;
}

function mysqlRoleRowsSql(roles: string): string {
  return `SELECT CAST(id AS CHAR), name, description, CAST(admin_access AS CHAR), CAST(app_access AS CHAR)
FROM ${roles} ORDER BY name, id`;
}

/** Rules of a table as SQL names it. */
function mysqlPermissionRowsSql(permissions: string): string {
  return `SELECT CAST(id AS CHAR), CAST(role AS CHAR), collection, action, CAST(permissions AS CHAR),
  CAST(validation AS CHAR), CAST(presets AS CHAR), fields FROM ${permissions} ORDER BY id`;
}

/** No such database, no such table, no right to read it. */
const missing: ReadonlySet<unknown> = new Set([1049, 1146, 1044, 1142]);

/** The model in a database. `schema` is quoted; empty for the database of the connection. */
export function mysqlModel(tables: MysqlTables, schema: string): ModelTables {
  return {
    lock: mysqlTurn(tables),
    announce: createScript(raiseCounter(tables, 'rules', "''")),
    version: `SELECT CAST(attempts AS CHAR) FROM ${tables.table('platform_auth_attempts')} WHERE purpose = 'rules' AND subject = ''`,
    readable: [mysqlModelTablesSql, [namesIn(schema)[0] ?? null]],
    mayBeHidden: (run) =>
      run(mysqlProjectTables(schema).migrations, []).then(
        () => false,
        (error: unknown) => errorNumber(error) === noAccess,
      ),
    // The servers hide tables that the user may not read, and name the reason if they are asked for their rows.
    arePermissionsReadable: (run) =>
      run(
        `SELECT '1' FROM ${tables.table('platform_roles')} LEFT JOIN ${tables.table('platform_permissions')} ON FALSE LIMIT 1`,
        [],
      ).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && 'errno' in error && missing.has(error.errno)) return false;
          throw error;
        },
      ),
    migrations: mysqlProjectTables(schema).migrations,
    underWay: mysqlProjectTables(schema).underWay.read,
    roles: mysqlRoleRowsSql(tables.table('platform_roles')),
    rules: mysqlPermissionRowsSql(tables.table('platform_permissions')),
    rows: (hasLedger) => mysqlModelRowsSql(schema, hasLedger),
    mark: (parts) => mysqlMark(tables, schema, parts),
  };
}

function mysqlMark({ table }: MysqlTables, schema: string, { permissions, model, ledger }: ModelParts): string {
  const digest = (columns: readonly string[], name: string): string => {
    // A null is told from an empty text, and the length in front tells where one value ends. As bytes, because JSON and
    // texts have collations that do not meet.
    const values = columns.map((column) => {
      const bytes = `CAST(CAST(${column} AS CHAR) AS BINARY)`;
      return `IFNULL(CONCAT(LENGTH(${bytes}), ':', ${bytes}), '~')`;
    });
    return `(SELECT SHA2(GROUP_CONCAT(CONCAT_WS(',', ${values.join(', ')}) ORDER BY id SEPARATOR '\\n'), 256) FROM ${table(name)})`;
  };
  const roleColumns = ['id', 'name', 'description', 'admin_access', 'app_access'];
  const ruleColumns = ['id', 'role', 'collection', 'action', 'permissions', 'validation', 'presets', 'fields'];
  const parts = [
    ...(permissions ? [digest(roleColumns, 'platform_roles'), digest(ruleColumns, 'platform_permissions')] : []),
    ...(model
      ? [
          `(SELECT SHA2(GROUP_CONCAT(CONCAT(kind, row_text) ORDER BY kind, CAST(row_text AS BINARY) SEPARATOR '\\n'), 256)
FROM (${mysqlModelRowsSql(schema, ledger)}) AS model_rows)`,
        ]
      : []),
  ];
  return `SELECT CONCAT_WS(' ', ${["'mark'", ...parts].join(', ')})`;
}
