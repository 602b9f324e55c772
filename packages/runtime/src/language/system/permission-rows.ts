/** How roles and rules are read from the platform's own tables: by the compiler, and by servers that watch them. */

/**
 * Name of the advisory lock, of a transaction, under which everything that is compiled is written: otherwise two
 * writers would each compile without the changes of the other. Its number is `hashtextextended(name, 0)`.
 */
export const modelLock = 'platform.model';

/**
 * The statement that reads roles by name: key, name, description, and whether they have admin and app access as `1` or
 * `0`. `schema` is quoted.
 */
export function roleRowsSql(schema: string): string {
  return `SELECT id::pg_catalog.text, name::pg_catalog.text, description::pg_catalog.text,
  admin_access::pg_catalog.int4::pg_catalog.text, app_access::pg_catalog.int4::pg_catalog.text
FROM ${schema}.platform_roles ORDER BY name COLLATE "C", id`;
}

/**
 * The statement that reads rules in their order: key, key of the role, collection, action, the three parts that are JSON,
 * and the fields as csv, all as texts or null. `schema` is quoted.
 */
export function permissionRowsSql(schema: string): string {
  return `SELECT id::pg_catalog.text, role::pg_catalog.text, collection::pg_catalog.text, action::pg_catalog.text,
  permissions::pg_catalog.text, validation::pg_catalog.text, presets::pg_catalog.text, fields::pg_catalog.text
FROM ${schema}.platform_permissions ORDER BY id`;
}

/** `roleRowsSql` on MySQL and MariaDB, of a table as SQL names it. */
export function mysqlRoleRowsSql(roles: string): string {
  return `SELECT CAST(id AS CHAR), name, description, CAST(admin_access AS CHAR), CAST(app_access AS CHAR)
FROM ${roles} ORDER BY name, id`;
}

/** `permissionRowsSql` on MySQL and MariaDB, of a table as SQL names it. */
export function mysqlPermissionRowsSql(permissions: string): string {
  return `SELECT CAST(id AS CHAR), CAST(role AS CHAR), collection, action, CAST(permissions AS CHAR),
  CAST(validation AS CHAR), CAST(presets AS CHAR), fields FROM ${permissions} ORDER BY id`;
}
