/** Statements about what works once: tokens that are mailed, and passwords of second factors. */
import { createScript, requireRow, returnRow, returnRows } from '../../../database/own-statements/script.ts';
import {
  type MailedStatement,
  type MailedTokenStatements,
  mailedStatuses,
  type SecondFactorStatements,
} from '../../own-statements.ts';
import { type MysqlTables, mysqlAfter } from './tables.ts';

/** The statements of mailed tokens on MySQL and MariaDB: the same parameters and answers as on PostgreSQL. */
export function mysqlMailedTokens({ table, lock, exactly, list, text }: MysqlTables): MailedTokenStatements {
  const users = table('platform_users');
  const tokens = table('platform_single_use_tokens');
  const mails = table('platform_mails');
  const proof = "SHA2(COALESCE(u.password, ''), 256)";
  const held = (kind: MailedStatement): string => `${users} AS u JOIN ${tokens} AS t ON t."user" = u.id
WHERE u.id = $1 AND u.status = '${mailedStatuses[kind]}' AND u.provider = 'default'
  AND ${exactly(proof)} = $3 AND t.hash = UNHEX(SHA2($2, 256)) AND t.purpose = '${kind}' AND t.used_at IS NULL`;
  const invited = `(
  SELECT a.n, a.v FROM ${list('$1[]', 'a')}
  UNION ALL SELECT b.n + JSON_LENGTH($1[]), b.v FROM ${list('$2[]', 'b')}
) AS i JOIN ${list('$3[]', 'k')} ON k.n = i.n JOIN ${users} AS u ON u.id = i.v`;
  return {
    requestReset: createScript(
      requireRow(
        `SELECT CAST(u.id AS CHAR), u.email, ${proof} FROM ${users} AS u
WHERE u.email_key = $1:email AND u.status = 'active' AND u.provider = 'default'`,
        ['user', 'email', 'proof'],
      ),
      `INSERT INTO ${tokens} (hash, purpose, "user", expires_at)
VALUES (UNHEX(SHA2($2, 256)), 'password_reset', $user, ${mysqlAfter('$3')})`,
      `INSERT INTO ${mails} (template, recipient, template_values)
VALUES ('password-reset', $email, JSON_OBJECT('user', $user, 'key', $2, 'proof', $proof, 'url', $4))`,
    ),
    meant: createScript(
      returnRows(`SELECT CAST(w.place AS CHAR), CAST(u.id AS CHAR),
  CASE WHEN u.id IS NOT NULL THEN IF(u.status = 'invited' AND u.provider = 'default', 'true', 'false') END
FROM JSON_TABLE($1:emails, '$[*]' COLUMNS (place INT PATH '$.place', normal ${text('VARCHAR(512)')} PATH '$.normal')) AS w
LEFT JOIN ${users} AS u ON u.email_key = ${exactly('w.normal')} ORDER BY w.place${lock('u')}`),
    ),
    invite: createScript(
      requireRow(`INSERT INTO ${tokens} (hash, purpose, "user", expires_at)
SELECT UNHEX(SHA2(k.v, 256)), 'invite', u.id, ${mysqlAfter('$4')} FROM ${invited}`),
      `INSERT INTO ${mails} (template, recipient, template_values)
SELECT 'invite', u.email, JSON_OBJECT('user', CAST(u.id AS CHAR), 'key', k.v, 'proof', ${proof}, 'url', $5)
FROM ${invited}`,
    ),
    role: createScript(
      returnRows(`SELECT NULL, ELT(admin_access + 1, 'false', 'true') FROM ${table('platform_roles')}
WHERE id = $1 LOCK IN SHARE MODE`),
    ),
    look: (kind) =>
      createScript(returnRows(`SELECT NULL, IF(t.expires_at <= NOW(6), 'true', 'false') FROM ${held(kind)}`)),
    use: (kind) =>
      createScript(
        requireRow(`SELECT '1' FROM ${held(kind)} AND t.expires_at > NOW(6) FOR UPDATE`),
        `UPDATE ${tokens} SET used_at = NOW(6) WHERE hash = UNHEX(SHA2($2, 256))`,
        `UPDATE ${users} SET password = $4, status = 'active', security_version = security_version + 1 WHERE id = $1`,
        returnRow('1', '$1'),
      ),
    purge: createScript(
      `DELETE FROM ${tokens} WHERE expires_at < NOW(6) - INTERVAL 7 DAY ORDER BY expires_at LIMIT $1:integer`,
    ),
  };
}

/** The statements of second factors on MySQL and MariaDB: the same parameters and answers as on PostgreSQL. */
export function mysqlSecondFactors({ table, list }: MysqlTables): SecondFactorStatements {
  const users = table('platform_users');
  const tfa = table('platform_tfa');
  const codes = table('platform_recovery_codes');
  const hash = 'UNHEX(SHA2($2, 256))';
  const waiting = `"user" = $1 AND pending_hash = ${hash} AND pending_until > NOW(6)`;
  return {
    offer: createScript(
      requireRow(`SELECT '1' FROM ${users} WHERE id = $1 AND tfa_secret IS NULL FOR UPDATE`),
      `INSERT INTO ${tfa} ("user", pending_hash, pending_until) VALUES ($1, ${hash}, NOW(6) + INTERVAL 10 MINUTE)
ON DUPLICATE KEY UPDATE pending_hash = VALUES(pending_hash), pending_until = VALUES(pending_until)`,
    ),
    pending: createScript(returnRows(`SELECT NULL, 'true' FROM ${tfa} WHERE ${waiting}`)),
    enable: createScript(
      requireRow(`UPDATE ${tfa} SET pending_hash = NULL, pending_until = NULL, last_step = $3
WHERE ${waiting} AND (last_step IS NULL OR last_step < $3)`),
      requireRow(`UPDATE ${users} SET tfa_secret = $2, security_version = security_version + 1
WHERE id = $1 AND tfa_secret IS NULL AND status = 'active'`),
    ),
    use: createScript(
      `INSERT IGNORE INTO ${tfa} ("user") VALUES ($1)`,
      requireRow(`UPDATE ${tfa} SET last_step = $2 WHERE "user" = $1 AND (last_step IS NULL OR last_step < $2)`),
    ),
    useCode: createScript(
      requireRow(`UPDATE ${codes} SET used_at = NOW(6) WHERE "user" = $1 AND hash = ${hash} AND used_at IS NULL`),
    ),
    disable: createScript(
      requireRow(`UPDATE ${users} SET tfa_secret = NULL, security_version = security_version + 1
WHERE id = $1 AND tfa_secret IS NOT NULL AND ($2 IS NULL OR tfa_secret = $2)`),
    ),
    forgetPending: createScript(`UPDATE ${tfa} SET pending_hash = NULL, pending_until = NULL WHERE "user" = $1`),
    hold: createScript(requireRow(`SELECT '1' FROM ${users} WHERE id = $1 AND tfa_secret = $2 FOR UPDATE`)),
    replaceCodes: createScript(
      `DELETE FROM ${codes} WHERE "user" = $1`,
      `INSERT INTO ${codes} ("user", hash) SELECT $1, UNHEX(SHA2(c.v, 256)) FROM ${list('$2[]', 'c')}`,
    ),
    exists: createScript(returnRows(`SELECT NULL, 'true' FROM ${users} WHERE id = $1`)),
    forgetCodes: createScript(`DELETE FROM ${codes} WHERE "user" = $1`),
  };
}
