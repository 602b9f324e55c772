/** Statements about accounts: sessions, mailed tokens and second factors that work once, and counters of attempts. */

import { createHash } from 'node:crypto';
import type { OwnSql } from '../../../database/own-statements.ts';
import {
  createScript,
  generateKey,
  proveCommit,
  requireRow,
  returnRow,
  returnRows,
} from '../../../database/own-statements.ts';
import { normalEmail } from '../../../language/values/lowercase.ts';
import {
  type Counter,
  type CounterStatements,
  type Counting,
  type MailedStatement,
  type MailedTokenStatements,
  mailedStatuses,
  type SecondFactorStatements,
  type SessionStatements,
} from '../../own-tables.ts';
import { type MysqlTables, mysqlAfter } from './tables.ts';

/** The statements of sessions on MySQL and MariaDB: the same parameters and answers as on PostgreSQL. */
export function mysqlSessions({ table }: MysqlTables, account: string): SessionStatements {
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
      returnRows(`SELECT '1', CAST(s.id AS CHAR), ${account} FROM ${sessions} AS s
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
  };
}

/** The statements of mailed tokens on MySQL and MariaDB: the same parameters and answers as on PostgreSQL. */
export function mysqlMailedTokens({ table, lock, exactly, list, text }: MysqlTables): MailedTokenStatements {
  const users = table('platform_users');
  const tokens = table('platform_single_use_tokens');
  const mails = table('platform_mails');
  const proof = "SHA2(COALESCE(u.password, ''), 256)";
  const held = (kind: MailedStatement): string => `${users} AS u JOIN ${tokens} AS t ON t."user" = u.id
WHERE u.id = $1 AND u.status = '${mailedStatuses[kind]}' AND u.provider = 'default'
  AND ${exactly(proof)} = $3 AND t.hash = UNHEX(SHA2($2, 256)) AND t.purpose = '${kind}' AND t.used_at IS NULL`;
  const spend = (kind: MailedStatement, values: string): OwnSql =>
    createScript(
      requireRow(`SELECT '1' FROM ${held(kind)} AND t.expires_at > NOW(6) FOR UPDATE`),
      `UPDATE ${tokens} SET used_at = NOW(6) WHERE hash = UNHEX(SHA2($2, 256))`,
      `UPDATE ${users} SET ${values}, status = 'active', security_version = security_version + 1 WHERE id = $1`,
      returnRow('1', '$1'),
    );
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
    use: (kind) => spend(kind, 'password = $4'),
    link: spend('invite', 'provider = $4, external_identifier = $5, password = NULL'),
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
    replaceCodes: createScript(
      `DELETE FROM ${codes} WHERE "user" = $1`,
      `INSERT INTO ${codes} ("user", hash) SELECT $1, UNHEX(SHA2(c.v, 256)) FROM ${list('$2[]', 'c')}`,
    ),
  };
}

/** SQL statements of counters. Subjects are hashed here: MySQL and MariaDB cannot normalize to NFKC. */
export function mysqlCounters({ table, exactly, text }: MysqlTables, maxPurged: number): CounterStatements {
  const attempts = table('platform_auth_attempts');
  const requested = `JSON_TABLE($1, '$[*]' COLUMNS (
  purpose ${text('VARCHAR(32)')} PATH '$.purpose', subject ${text('CHAR(64)')} PATH '$.subject', length BIGINT PATH '$.window',
  last_attempts BIGINT PATH '$.lastAttempts', last_length BIGINT PATH '$.lastWindow'
)) AS w`;
  const same = `a.purpose = ${exactly('w.purpose')} AND a.subject = UNHEX(w.subject)`;
  const left = 'CEIL(TIMESTAMPDIFF(MICROSECOND, NOW(6), a.expires_at) / 1000)';
  const counts = `JSON_ARRAYAGG(JSON_ARRAY(a.purpose, a.attempts, ${left}))`;
  const after = (length: string): string => `TIMESTAMPADD(MICROSECOND, ${length} * 1000, NOW(6))`;
  const ended = `${attempts}.expires_at <= NOW(6)`;
  const answered = returnRows(`SELECT ${counts}, '1' FROM ${requested} JOIN ${attempts} AS a ON ${same}`);
  return {
    input: (counters) => JSON.stringify(inputOf(counters)),
    read: createScript(
      returnRows(`SELECT ${counts} FROM ${requested} JOIN ${attempts} AS a ON ${same} WHERE a.expires_at > NOW(6)`),
    ),
    // Assignments are made from left to right: the second one sees the attempts of the first.
    count: createScript(
      `INSERT INTO ${attempts} (purpose, subject, attempts, expires_at)
SELECT w.purpose, UNHEX(w.subject), 1, ${after('w.length')} FROM ${requested} ORDER BY w.purpose, w.subject
ON DUPLICATE KEY UPDATE
  attempts = IF(${ended}, 1, LEAST(${attempts}.attempts, 1000000000) + 1),
  expires_at = CASE WHEN w.last_attempts <= ${attempts}.attempts THEN ${after('w.last_length')}
    WHEN ${ended} THEN VALUES(expires_at) ELSE ${attempts}.expires_at END`,
      answered,
    ),
    giveBack: createScript(
      `UPDATE ${attempts} AS a JOIN ${requested} ON ${same} SET a.attempts = GREATEST(a.attempts - 1, 0)`,
      answered,
    ),
    clear: createScript(`DELETE a FROM ${attempts} AS a JOIN ${requested} ON ${same}`, answered),
    purge: createScript(`DELETE FROM ${attempts} WHERE expires_at <= NOW(6) ORDER BY expires_at LIMIT ${maxPurged}`),
  };
}

/** Parameters of the statements for one counter. */
interface CounterInput {
  readonly purpose: string;
  readonly subject: string;
  readonly window?: number | undefined;
  readonly lastAttempts?: number | undefined;
  readonly lastWindow?: number | undefined;
}

/** Returns each counter once, in the same order everywhere, so that transactions cannot deadlock. */
function inputOf(counters: readonly (Counter | Counting)[]): readonly CounterInput[] {
  const inputs = counters.map((counter): CounterInput => {
    const { purpose, email, user = '', client = '' } = counter;
    const subject = [email === undefined ? '' : normalEmail(email), user, client].join('\u0001');
    const { window, last } = 'window' in counter ? counter : {};
    const hash = createHash('sha256').update(subject).digest('hex');
    return { purpose, subject: hash, window, lastAttempts: last?.attempts, lastWindow: last?.window };
  });
  const once = new Map(inputs.map((input) => [`${input.purpose} ${input.subject}`, input]));
  return [...once].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, input]) => input);
}
