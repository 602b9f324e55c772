/** The statements by which the command line reads and writes roles and rules in the platform's own tables. */
import { type ModelTables, type OwnSql, ownTables, type SystemPlace } from '@tablewright/runtime/tools';

/** Statements by their names. */
export type PermissionStatements = ModelTables &
  Readonly<Record<'lock' | 'addRole' | 'changeRole' | 'usersOf' | 'removeRole' | 'removeRules' | 'addRule', OwnSql>>;

/** The statements by their names; `$1` is the name of a role. */
export function permissionStatements(location: SystemPlace): PermissionStatements {
  const { table, text, boolean, same, rows, write, turn, statements } = ownTables(location);
  const [roles, rules, users] = ['platform_roles', 'platform_permissions', 'platform_users'].map(table);
  const named = `(SELECT id FROM ${roles} WHERE name = $1::text)`;
  return {
    ...statements.model,
    lock: turn(),
    /** $2 description, $3 and $4 admin and app access. */
    addRole: write(`INSERT INTO ${roles} (name, description, admin_access, app_access)
VALUES ($1::text, $2::text, ${boolean('$3')}, ${boolean('$4')})`),
    changeRole:
      write(`UPDATE ${roles} SET description = $2::text, admin_access = ${boolean('$3')}, app_access = ${boolean('$4')}
WHERE name = $1::text`),
    usersOf: rows(`SELECT ${text('COUNT(*)')} FROM ${users} AS u JOIN ${roles} AS r ON r.id = u.role
WHERE r.name = $1::text`),
    removeRole: write(`DELETE FROM ${roles} WHERE name = $1::text`),
    /** $2 collection, $3 action; a null name is that of the public role. */
    removeRules: write(
      `DELETE FROM ${rules} WHERE ${same('role', named)} AND collection = $2::text AND action = $3::text`,
    ),
    /** $4 to $6 the parts that are JSON, $7 fields. */
    addRule: write(`INSERT INTO ${rules} (role, collection, action, permissions, validation, presets, fields)
VALUES (${named}, $2::text, $3::text, $4::jsonb, $5::jsonb, $6::jsonb, $7::text)`),
  };
}
