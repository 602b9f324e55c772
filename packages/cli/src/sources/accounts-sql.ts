/** The statements by which the command line looks at users and roles and changes them. */
import { ownTables, rowsBeside, type SystemPlace } from '@tablewright/runtime/tools';

/**
 * The statements by their names; `$1` is the address of the user, or the name of the role, and each of them that
 * changes a user finds one.
 */
export function accountStatements(location: SystemPlace) {
  const { table, text, flag, iso, boolean, fromNothing, rows, write, update, remove, ...sql } = ownTables(location);
  const users = table('platform_users');
  const roles = table('platform_roles');
  const user = { target: `${users} AS u`, alias: 'u', where: sql.hasEmail('u', '$1') };
  const usersOf = text(`(SELECT COUNT(*) FROM ${users} AS u WHERE u.role = r.id)`);
  return {
    /** Address, status, role, last access. */
    users: rows(`SELECT COALESCE(u.email, ${text('u.id')}), u.status, r.name, ${iso('u.last_access')}
FROM ${users} AS u LEFT JOIN ${roles} AS r ON r.id = u.role ORDER BY 1`),
    /** Name, number of users, admin and app access. */
    roles: rows(`SELECT r.name, ${usersOf}, ${flag('r.admin_access')}, ${flag('r.app_access')}
FROM ${roles} AS r ORDER BY r.name`),
    roleNames: rows(`SELECT name FROM ${roles}`),
    /** $2 description, $3 and $4 admin and app access. */
    addRole: write(`INSERT INTO ${roles} (name, description, admin_access, app_access)
SELECT $1::text, $2::text, ${boolean('$3')}, ${boolean('$4')}${fromNothing}
WHERE NOT EXISTS (SELECT 1 FROM ${roles} WHERE name = $1::text)`),
    roleNamed: rows(`SELECT ${text('id')} FROM ${roles} WHERE name = $1::text`),
    policy: rows(`SELECT auth_password_policy FROM ${table('platform_settings')}`),
    /** $2 hash of the password, $3 key of the role; a row unless the address is taken. */
    addUser: sql.statements.addUser,
    setPassword: write(update(user, { password: '$2::text', security_version: 'u.security_version + 1' })),
    endSessions: write(remove(rowsBeside(`${table('platform_sessions')} AS s`, 's', user, 'u.id = s.user'))),
    setToken: write(update(user, { token: '$2::text' })),
  };
}
