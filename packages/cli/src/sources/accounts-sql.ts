/** The statements by which the command line looks at users and roles and changes them. */
import { give, type MysqlTables, make, need, type OwnSql, script } from '@tablewright/runtime/tools';

/**
 * The statements by their names; `$1` is the address of the user, or the name of the role, and each of them that
 * changes a user finds one.
 */
export interface AccountTexts {
  /** Address, status, role, last access. */
  readonly users: OwnSql;
  /** Name, number of users, admin and app access. */
  readonly roles: OwnSql;
  readonly roleNames: OwnSql;
  /** $2 description, $3 and $4 admin and app access. */
  readonly addRole: OwnSql;
  readonly roleNamed: OwnSql;
  readonly policy: OwnSql;
  /** $2 hash of the password, $3 key of the role; a row unless the address is taken. */
  readonly addUser: OwnSql;
  readonly setPassword: OwnSql;
  readonly endSessions: OwnSql;
  readonly setToken: OwnSql;
}

/** Those for PostgreSQL. */
export function postgresAccounts(schema: string): AccountTexts {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  const same = `${schema}.platform_normal_email(email) = ${schema}.platform_normal_email($1::text)`;
  return {
    users: `SELECT COALESCE(u.email, u.id::text), u.status, r.name,
           pg_catalog.to_char(u.last_access AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
         FROM ${users} AS u LEFT JOIN ${roles} AS r ON r.id = u.role ORDER BY 1`,
    roles: `SELECT r.name, (SELECT pg_catalog.count(*) FROM ${users} AS u WHERE u.role = r.id)::text, r.admin_access, r.app_access
         FROM ${roles} AS r ORDER BY r.name`,
    roleNames: `SELECT name FROM ${roles}`,
    addRole: `INSERT INTO ${roles} (name, description, admin_access, app_access)
       SELECT $1::text, $2::text, $3::boolean, $4::boolean WHERE NOT EXISTS (SELECT FROM ${roles} WHERE name = $1::text)`,
    roleNamed: `SELECT id::text FROM ${roles} WHERE name = $1`,
    policy: `SELECT auth_password_policy FROM ${schema}.platform_settings`,
    addUser: `INSERT INTO ${users} (email, password, role) SELECT $1::text, $2::text, $3::uuid
         WHERE NOT EXISTS (SELECT FROM ${users} WHERE ${same}) RETURNING id::text`,
    setPassword: `UPDATE ${users} SET password = $2::text, security_version = security_version + 1 WHERE ${same} RETURNING 1`,
    endSessions: `DELETE FROM ${schema}.platform_sessions WHERE "user" = (SELECT id FROM ${users} WHERE ${same})`,
    setToken: `UPDATE ${users} SET token = $2::text WHERE ${same} RETURNING 1`,
  };
}

/** Those for MySQL and MariaDB. */
export function mysqlAccounts({ table }: MysqlTables): AccountTexts {
  const users = table('platform_users');
  const roles = table('platform_roles');
  return {
    users: script(
      give(`SELECT COALESCE(u.email, CAST(u.id AS CHAR)), u.status, r.name,
  DATE_FORMAT(u.last_access, '%Y-%m-%dT%H:%i:%sZ')
FROM ${users} AS u LEFT JOIN ${roles} AS r ON r.id = u.role ORDER BY 1`),
    ),
    roles: script(
      give(`SELECT r.name, CAST((SELECT COUNT(*) FROM ${users} AS u WHERE u.role = r.id) AS CHAR),
  ELT(r.admin_access + 1, 'false', 'true'), ELT(r.app_access + 1, 'false', 'true') FROM ${roles} AS r ORDER BY r.name`),
    ),
    roleNames: script(give(`SELECT name FROM ${roles}`)),
    addRole: script(`INSERT INTO ${roles} (name, description, admin_access, app_access)
SELECT $1, $2, $3 = 'true', $4 = 'true' FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${roles} WHERE name = $1)`),
    roleNamed: script(give(`SELECT CAST(id AS CHAR) FROM ${roles} WHERE name = $1`)),
    policy: script(give(`SELECT auth_password_policy FROM ${table('platform_settings')}`)),
    addUser: script(
      make('id'),
      need(`INSERT INTO ${users} (id, email, email_normal_of, email_normal, password, role)
SELECT $id, $1, $1, $1:email, $2, $3 FROM DUAL WHERE NOT EXISTS (SELECT 1 FROM ${users} WHERE email_key = $1:email)`),
    ),
    setPassword: script(
      need(`UPDATE ${users} SET password = $2, security_version = security_version + 1 WHERE email_key = $1:email`),
    ),
    endSessions: script(`DELETE s FROM ${table('platform_sessions')} AS s JOIN ${users} AS u ON u.id = s.user
WHERE u.email_key = $1:email`),
    setToken: script(need(`UPDATE ${users} SET token = $2 WHERE email_key = $1:email`)),
  };
}
