import {
  createScript,
  generateKey,
  proveCommit,
  requireRow,
  returnRow,
  returnRows,
  run,
} from '../../../database/own-statements/script.ts';
import type { SessionStatements } from '../../own-statements.ts';
import { type MysqlTables, mysqlAfter } from './tables.ts';

/** The statements of sessions on MySQL and MariaDB: the same parameters and answers as on PostgreSQL. */
export function mysqlSessions(tables: MysqlTables): SessionStatements {
  return { ...tokenStatements(tables), ...sessionStatements(tables) };
}

/** Statements that make tokens, or tell why they do not. */
function tokenStatements({ table }: MysqlTables) {
  const users = table('platform_users');
  const roles = table('platform_roles');
  const sessions = table('platform_sessions');
  const tokens = table('platform_refresh_tokens');
  const addToken = (hash: string, ttl: string): string => `INSERT INTO ${tokens} (hash, session, expires_at)
SELECT UNHEX(${hash}), id, LEAST(expires_at, ${mysqlAfter(ttl)}) FROM ${sessions} WHERE id = $session`;
  const owned = `${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session JOIN ${users} AS u ON u.id = s."user"`;
  return {
    begin: createScript(
      requireRow(`UPDATE ${users} SET last_access = NOW(6), password = COALESCE($2, password)
WHERE id = $1 AND status = 'active' AND security_version = $3`),
      generateKey('session'),
      // From the moment that the user was there, as if it were one statement.
      `INSERT INTO ${sessions} (id, "user", security_version, ip, user_agent, created_at, expires_at)
SELECT $session, id, security_version, LEFT($4, 50), LEFT($5, 255), last_access, ${mysqlAfter('$7', 'last_access')}
FROM ${users} WHERE id = $1`,
      addToken('$9', '$8'),
      `INSERT INTO ${table('platform_activity')} (action, "user", ip, user_agent, origin, collection, item)
VALUES ('login', $1, LEFT($4, 50), LEFT($5, 255), LEFT($6, 255), 'platform_users', $1)`,
      proveCommit(`SELECT 1 FROM ${sessions} WHERE id = $session`),
      returnRow('1', '$session'),
    ),
    // The row is locked before it is checked, so that only one of concurrent requests finds the token unused.
    rotate: createScript(
      requireRow(
        `SELECT CAST(s.id AS CHAR) FROM ${owned}
WHERE t.hash = UNHEX($1) AND t.rotated_at IS NULL AND t.expires_at > NOW(6) AND s.expires_at > NOW(6)
  AND u.status = 'active' FOR UPDATE`,
        ['session'],
      ),
      `UPDATE ${tokens} SET rotated_at = NOW(6) WHERE hash = UNHEX($1)`,
      `UPDATE ${sessions} AS s JOIN ${users} AS u ON u.id = s."user" SET s.security_version = u.security_version
WHERE s.id = $session`,
      addToken('$2', '$3'),
      proveCommit(`SELECT 1 FROM ${tokens} WHERE hash = UNHEX($2)`),
      returnRows(`SELECT '1', CAST(s.id AS CHAR), ${mysqlAccountColumns} FROM ${sessions} AS s
JOIN ${users} AS u ON u.id = s."user" LEFT JOIN ${roles} AS r ON r.id = u.role WHERE s.id = $session`),
    ),
    refuse: createScript(
      requireRow(
        `SELECT CASE WHEN t.rotated_at < NOW(6) - INTERVAL 10 SECOND THEN CAST(s.id AS CHAR) END,
  CASE WHEN t.rotated_at < NOW(6) - INTERVAL 10 SECOND THEN CAST(s."user" AS CHAR) END,
  IF(t.rotated_at IS NULL AND u.status = 'active' AND (t.expires_at <= NOW(6) OR s.expires_at <= NOW(6)), 'true', 'false')
FROM ${owned} WHERE t.hash = UNHEX($1) FOR UPDATE`,
        ['copied', 'user', 'expired'],
      ),
      `DELETE FROM ${sessions} WHERE id = $copied`,
      returnRow('1', '$user', '$expired'),
    ),
  } satisfies Partial<SessionStatements>;
}

function sessionStatements({ table }: MysqlTables) {
  const users = table('platform_users');
  const sessions = table('platform_sessions');
  const tokens = table('platform_refresh_tokens');
  return {
    end: createScript(
      requireRow(
        `SELECT CAST(s.id AS CHAR), CAST(s."user" AS CHAR) FROM ${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session
WHERE t.hash = UNHEX($1)`,
        ['session', 'user'],
      ),
      requireRow(`DELETE FROM ${sessions} WHERE id = $session`),
      returnRow('1', '$user'),
    ),
    outdate: createScript(
      requireRow(
        `SELECT CAST(s."user" AS CHAR) FROM ${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session
WHERE t.hash = UNHEX($1)`,
        ['user'],
      ),
      `UPDATE ${users} SET security_version = security_version + 1 WHERE id = $user`,
      returnRow('1', '$user'),
    ),
    endAll: createScript(`DELETE FROM ${sessions} WHERE "user" = $1 AND NOT (id <=> $2)`),
    confirm: createScript(`UPDATE ${sessions} AS s JOIN ${users} AS u ON u.id = s."user"
SET s.security_version = u.security_version WHERE s.id = $1`),
    purge: createScript(
      run(`DELETE FROM ${sessions} WHERE expires_at < NOW(6) - INTERVAL 7 DAY ORDER BY expires_at LIMIT $1:integer`),
    ),
    touch: createScript(
      requireRow(`UPDATE ${users} SET last_access = NOW(6) WHERE id = $1
AND (last_access IS NULL OR last_access < NOW(6) - INTERVAL 1 MINUTE)`),
    ),
  } satisfies Partial<SessionStatements>;
}

/** Columns of an account, of the tables `u` (users) and `r` (roles, which may be missing), as `readAccount` reads them. */
const mysqlAccountColumns = `CAST(u.id AS CHAR), u.email, u.status, u.provider, CAST(u.security_version AS CHAR),
  IF(u.tfa_secret IS NOT NULL, 'true', 'false'), CAST(r.id AS CHAR), r.name, ELT(r.admin_access + 1, 'false', 'true'),
  ELT(r.app_access + 1, 'false', 'true'), ELT(r.enforce_tfa + 1, 'false', 'true'), r.ip_access`;
