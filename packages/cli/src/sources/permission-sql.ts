/** The statements by which the command line reads and writes roles and rules in the platform's own tables. */
import {
  isQuotedSchema,
  mysqlPermissionRowsSql,
  mysqlRoleRowsSql,
  permissionRowsSql,
  roleRowsSql,
} from '@tablewright/runtime/language';
import { give, type MysqlTables, mysqlTurn, type OwnSql, script, transactionLock } from '@tablewright/runtime/tools';
import type { Source } from './source.ts';

/** The statements by their names; `$1` is the name of a role. */
export interface PermissionTexts {
  /** True if both tables exist and are readable. */
  areReadable(source: Source): Promise<boolean>;
  readonly roles: string;
  readonly rules: string;
  readonly lock: OwnSql;
  /** $2 description, $3 and $4 admin and app access. */
  readonly addRole: OwnSql;
  readonly changeRole: OwnSql;
  readonly usersOf: OwnSql;
  readonly removeRole: OwnSql;
  /** $2 collection, $3 action; a null name is that of the public role. */
  readonly removeRules: OwnSql;
  /** $4 to $6 the parts that are JSON, $7 fields. */
  readonly addRule: OwnSql;
}

/** A table in a schema that the role may not use counts as missing. */
const readableSql = `SELECT COALESCE(pg_catalog.bool_and(pg_catalog.has_table_privilege(found.oid, 'SELECT')
  AND pg_catalog.has_schema_privilege(found.relnamespace, 'USAGE')), false) AND pg_catalog.count(*) = 2
FROM pg_catalog.pg_class AS found JOIN pg_catalog.pg_namespace AS n ON n.oid = found.relnamespace
WHERE found.relname IN ('platform_permissions', 'platform_roles') AND ${isQuotedSchema('n.nspname', '$1')}`;

/** Those for PostgreSQL. */
export function postgresPermissions(schema: string): PermissionTexts {
  const named = `(SELECT id FROM ${schema}.platform_roles WHERE name = $1::text)`;
  return {
    async areReadable({ run }) {
      const [row] = await run(readableSql, [schema]);
      return /^t(rue)?$/.test(row?.[0] ?? '');
    },
    roles: roleRowsSql(schema),
    rules: permissionRowsSql(schema),
    lock: transactionLock,
    addRole: `INSERT INTO ${schema}.platform_roles (name, description, admin_access, app_access)
         VALUES ($1::text, $2::text, $3::boolean, $4::boolean)`,
    changeRole: `UPDATE ${schema}.platform_roles SET description = $2::text, admin_access = $3::boolean, app_access = $4::boolean
         WHERE name = $1::text`,
    usersOf: `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_users AS u JOIN ${schema}.platform_roles AS r ON r.id = u.role
     WHERE r.name = $1::text`,
    removeRole: `DELETE FROM ${schema}.platform_roles WHERE name = $1::text`,
    removeRules: `DELETE FROM ${schema}.platform_permissions
     WHERE role IS NOT DISTINCT FROM ${named} AND collection = $2::text AND action = $3::text`,
    addRule: `INSERT INTO ${schema}.platform_permissions (role, collection, action, permissions, validation, presets, fields)
       VALUES (${named}, $2::text, $3::text, $4::jsonb, $5::jsonb, $6::jsonb, $7::text)`,
  };
}

/** Those for MySQL and MariaDB. */
export function mysqlPermissions(tables: MysqlTables): PermissionTexts {
  const [roles, permissions] = ['platform_roles', 'platform_permissions'].map(tables.table);
  const named = `(SELECT id FROM ${roles} WHERE name = $1)`;
  return {
    async areReadable({ run }) {
      // The servers hide tables that the user may not read, and name the reason if they are asked for their rows.
      return run(`SELECT '1' FROM ${roles} LEFT JOIN ${permissions} ON FALSE LIMIT 1`, []).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Error && 'errno' in error && missing.has(error.errno)) return false;
          throw error;
        },
      );
    },
    roles: mysqlRoleRowsSql(roles ?? ''),
    rules: mysqlPermissionRowsSql(permissions ?? ''),
    lock: mysqlTurn(tables),
    addRole: script(`INSERT INTO ${roles} (name, description, admin_access, app_access)
VALUES ($1, $2, $3 = 'true', $4 = 'true')`),
    changeRole: script(`UPDATE ${roles} SET description = $2, admin_access = $3 = 'true', app_access = $4 = 'true'
WHERE name = $1`),
    usersOf: script(
      give(`SELECT CAST(COUNT(*) AS CHAR) FROM ${tables.table('platform_users')} AS u JOIN ${roles} AS r ON r.id = u.role
WHERE r.name = $1`),
    ),
    removeRole: script(`DELETE FROM ${roles} WHERE name = $1`),
    removeRules: script(`DELETE FROM ${permissions} WHERE role <=> ${named} AND collection = $2 AND action = $3`),
    addRule: script(`INSERT INTO ${permissions} (role, collection, action, permissions, validation, presets, fields)
VALUES (${named}, $2, $3, $4, $5, $6, $7)`),
  };
}

/** No such database, no such table, no right to read it. */
const missing: ReadonlySet<unknown> = new Set([1049, 1146, 1044, 1142]);
