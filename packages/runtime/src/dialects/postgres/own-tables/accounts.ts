/** Statements about accounts: sessions, and mailed tokens and second factors that work once. */
import { transactionNumber } from '../../fragment.ts';
import {
  type MailedStatement,
  type MailedTokenStatements,
  mailedStatuses,
  type SecondFactorStatements,
  type SessionStatements,
} from '../../own-tables.ts';

/** A used token is forgiven for as long as two tabs may need to see that the other one was faster. */
const grace = "'10 seconds'::pg_catalog.interval";

const now = 'pg_catalog.statement_timestamp()';

function hashOf(parameter: string): string {
  return `pg_catalog.decode(${parameter}::text, 'hex')`;
}

/**
 * The user must be unchanged since the check. $1 is the key, $2 the new hash of the password or null, $3 the security
 * version. $4 to $6 are address, agent and page, $7 and $8 the lifetime of session and token, $9 the hash of the token.
 */
function beginSession(schema: string): string {
  const users = `${schema}.platform_users`;
  return `WITH u AS (
  UPDATE ${users} SET last_access = ${now}, password = COALESCE($2::text, password)
  WHERE id = $1::pg_catalog.uuid AND status = 'active' AND security_version = $3::pg_catalog.int4
  RETURNING id, security_version
), s AS (
  INSERT INTO ${schema}.platform_sessions ("user", security_version, ip, user_agent, expires_at)
  SELECT id, security_version, pg_catalog."left"($4::text, 50), pg_catalog."left"($5::text, 255),
    ${now} + $7::pg_catalog.interval FROM u
  RETURNING id, expires_at
), t AS (
  INSERT INTO ${schema}.platform_refresh_tokens (hash, session, expires_at)
  SELECT ${hashOf('$9')}, id, LEAST(expires_at, ${now} + $8::pg_catalog.interval) FROM s
), a AS (
  INSERT INTO ${schema}.platform_activity (action, "user", ip, user_agent, origin, collection, item)
  SELECT 'login', id, pg_catalog."left"($4::text, 50), pg_catalog."left"($5::text, 255),
    pg_catalog."left"($6::text, 255), 'platform_users', id::text FROM u
)
SELECT ${transactionNumber}, id::text FROM s`;
}

/** `account` are the columns of `accountColumns`. */
export function postgresSessions(schema: string, account: string): SessionStatements {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  const sessions = `${schema}.platform_sessions`;
  const tokens = `${schema}.platform_refresh_tokens`;
  return {
    begin: beginSession(schema),

    /** Only one request finds the token unused: $1 its hash, $2 the hash of the next, $3 the next one's lifetime. */
    rotate: `WITH used AS (
  UPDATE ${tokens} AS t SET rotated_at = ${now}
  FROM ${sessions} AS s JOIN ${users} AS u ON u.id = s."user"
  WHERE t.hash = ${hashOf('$1')} AND t.rotated_at IS NULL AND t.expires_at > ${now}
    AND s.id = t.session AND s.expires_at > ${now} AND u.status = 'active'
  RETURNING t.session
), s AS (
  UPDATE ${sessions} AS s SET security_version = u.security_version
  FROM used, ${users} AS u WHERE s.id = used.session AND u.id = s."user"
  RETURNING s.id, s."user", s.expires_at
), n AS (
  INSERT INTO ${tokens} (hash, session, expires_at)
  SELECT ${hashOf('$2')}, id, LEAST(expires_at, ${now} + $3::pg_catalog.interval) FROM s
)
SELECT ${transactionNumber}, s.id::text, ${account}
FROM s JOIN ${users} AS u ON u.id = s."user" LEFT JOIN ${roles} AS r ON r.id = u.role`,

    /** Reason why a token was not rotated: $1 its hash. One that was used a while ago has been copied, so its session ends. */
    refuse: `WITH seen AS (
  SELECT s.id, s."user", t.rotated_at, u.status, t.expires_at <= ${now} OR s.expires_at <= ${now} AS expired
  FROM ${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session JOIN ${users} AS u ON u.id = s."user"
  WHERE t.hash = ${hashOf('$1')}
), ended AS (
  DELETE FROM ${sessions} WHERE id IN (SELECT id FROM seen WHERE rotated_at < ${now} - ${grace}) RETURNING "user"
)
SELECT (SELECT ${transactionNumber} FROM ended), (SELECT "user"::text FROM ended),
  (rotated_at IS NULL AND status = 'active' AND expired)::text FROM seen`,
  };
}

function sha256(text: string): string {
  return `pg_catalog.sha256(pg_catalog.convert_to(${text}, 'UTF8'))`;
}

/** Proof that a user `u` still has the password of the time when the token was asked for. */
const proof = `pg_catalog.encode(${sha256("COALESCE(u.password, '')")}, 'hex')`;

export function postgresMailedTokens(schema: string): MailedTokenStatements {
  return { ...issuing(schema), ...usage(schema) };
}

function issuing(schema: string) {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  const tokens = `${schema}.platform_single_use_tokens`;
  const mails = `${schema}.platform_mails`;
  const normal = (email: string): string => `${schema}.platform_normal_email(${email})`;

  /** Puts a mail down for each of `made`, which has a user, a recipient, a key and a proof. */
  const issue = (kind: MailedStatement, template: string, ttl: string, url: string): string => `t AS (
  INSERT INTO ${tokens} (hash, purpose, "user", expires_at)
  SELECT ${sha256('made.key')}, '${kind}', made.id, ${now} + ${ttl}::pg_catalog.interval FROM made
), m AS (
  INSERT INTO ${mails} (template, recipient, template_values)
  SELECT '${template}', made.email,
    pg_catalog.jsonb_build_object('user', made.id, 'key', made.key, 'proof', made.proof, 'url', ${url}::text) FROM made
  RETURNING 1
)
SELECT ${transactionNumber} FROM made LIMIT 1`;

  return {
    /** $1 the address as it was sent, $2 key, $3 how long the token works, $4 where the link leads or null. */
    requestReset: `WITH made AS (
  SELECT u.id, u.email, $2::text AS key, ${proof} AS proof FROM ${users} AS u
  WHERE ${normal('u.email')} = ${normal('$1::text')} AND u.status = 'active' AND u.provider = 'default'
), ${issue('password_reset', 'password-reset', '$3', '$4')}`,

    /**
     * The users of the addresses $1, an array: one row for each distinct address, with its position from 0. If a user
     * has the address, the row has its key, and whether it is still invited; the user is locked.
     */
    meant: `WITH wanted AS MATERIALIZED (
  SELECT DISTINCT ON (normal) w.place - 1 AS place, ${normal('w.email')} AS normal
  FROM pg_catalog.json_array_elements_text($1::json) WITH ORDINALITY AS w(email, place) ORDER BY normal, place
), held AS MATERIALIZED (
  SELECT w.place, u.id, u.status = 'invited' AND u.provider = 'default' AS invited
  FROM wanted AS w JOIN ${users} AS u ON ${normal('u.email')} = w.normal ORDER BY u.id FOR NO KEY UPDATE OF u
) SELECT place::pg_catalog.text, held.id::pg_catalog.text, held.invited::pg_catalog.text
FROM wanted LEFT JOIN held USING (place) ORDER BY place`,

    /** Mails the users $1 and $2, arrays, tokens with the keys $3 that work for $4; $5 where the links lead or null. */
    invite: `WITH made AS (
  SELECT u.id, u.email, k.key, ${proof} AS proof
  FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.uuid[] || $2::pg_catalog.uuid[]), pg_catalog.unnest($3::text[]))
    AS k(id, key) JOIN ${users} AS u ON u.id = k.id
), ${issue('invite', 'invite', '$4', '$5')}`,

    /** Locks the role $1 so that it cannot change, and tells if it is an administrator's. */
    role: `SELECT NULL, admin_access::pg_catalog.text FROM ${roles} WHERE id = $1::pg_catalog.uuid FOR SHARE`,
  } satisfies Partial<MailedTokenStatements>;
}

function usage(schema: string) {
  const users = `${schema}.platform_users`;
  const tokens = `${schema}.platform_single_use_tokens`;

  /** $1 user, $2 key of the token, $3 proof. */
  const holder = (kind: MailedStatement): string => `u.id = $1::pg_catalog.uuid
  AND u.status = '${mailedStatuses[kind]}' AND u.provider = 'default' AND ${proof} = $3::text`;
  const token = (kind: MailedStatement): string => `t.hash = ${sha256('$2::text')} AND t.purpose = '${kind}'
  AND t."user" = u.id AND t.used_at IS NULL`;

  const spend = (kind: MailedStatement, values: string): string => `WITH u AS (
  SELECT u.id FROM ${users} AS u WHERE ${holder(kind)} FOR UPDATE
), used AS (
  UPDATE ${tokens} AS t SET used_at = ${now} FROM u WHERE ${token(kind)} AND t.expires_at > ${now} RETURNING t."user"
), changed AS (
  UPDATE ${users} AS u SET ${values}, status = 'active', security_version = u.security_version + 1
  FROM used WHERE u.id = used."user" RETURNING u.id
) SELECT ${transactionNumber}, id::pg_catalog.text FROM changed`;

  return {
    /** Tells if the token of $1 to $3 can still be used, and if only its expiry is against it. */
    look: (kind: MailedStatement): string => `SELECT NULL, (t.expires_at <= ${now})::pg_catalog.text
FROM ${users} AS u JOIN ${tokens} AS t ON ${token(kind)} WHERE ${holder(kind)}`,

    /**
     * Uses the token of $1 to $3 up and gives its user the password $4. Concurrent uses, also of other tokens of the
     * user, wait for each other at the user's row. The later ones find the password or the status changed.
     */
    use: (kind: MailedStatement): string => spend(kind, 'password = $4::text'),

    /** Uses the invitation of $1 to $3 up and gives its user the identifier $5 of the provider $4, and no password. */
    link: spend('invite', 'provider = $4::text, external_identifier = $5::text, password = NULL'),
  } satisfies Partial<MailedTokenStatements>;
}

export function postgresSecondFactors(schema: string): SecondFactorStatements {
  const users = `${schema}.platform_users`;
  const tfa = `${schema}.platform_tfa`;
  const codes = `${schema}.platform_recovery_codes`;
  return {
    /** Remembers the secret $2, in place of another that waits, until it is confirmed or 10 minutes have passed. */
    offer: `INSERT INTO ${tfa} ("user", pending_hash, pending_until)
SELECT id, ${sha256('$2::text')}, ${now} + pg_catalog.interval '10 minutes' FROM ${users}
WHERE id = $1::pg_catalog.uuid AND tfa_secret IS NULL
ON CONFLICT ("user") DO UPDATE SET pending_hash = excluded.pending_hash, pending_until = excluded.pending_until
RETURNING ${transactionNumber}`,

    /** Confirms the secret $2 by an accepted step $3, which counts for everything else, too. */
    enable: `WITH t AS (
  UPDATE ${tfa} SET pending_hash = NULL, pending_until = NULL, last_step = $3::pg_catalog.int8
  WHERE "user" = $1::pg_catalog.uuid AND pending_hash = ${sha256('$2::text')} AND pending_until > ${now}
    AND (last_step IS NULL OR last_step < $3::pg_catalog.int8)
  RETURNING "user"
), u AS (
  UPDATE ${users} AS u SET tfa_secret = $2::text, security_version = u.security_version + 1
  FROM t WHERE u.id = t."user" AND u.tfa_secret IS NULL AND u.status = 'active' RETURNING u.id
) SELECT ${transactionNumber} FROM u`,

    /** Uses up the step $2 and all before it. */
    use: `INSERT INTO ${tfa} AS t ("user", last_step) VALUES ($1::pg_catalog.uuid, $2::pg_catalog.int8)
ON CONFLICT ("user") DO UPDATE SET last_step = excluded.last_step
WHERE t.last_step IS NULL OR t.last_step < excluded.last_step
RETURNING ${transactionNumber}`,

    /** Puts the recovery codes $2, an array, in place of all others. Runs after `hold`. */
    replaceCodes: `WITH gone AS (
  DELETE FROM ${codes} WHERE "user" = $1::pg_catalog.uuid
), made AS (
  INSERT INTO ${codes} ("user", hash)
  SELECT $1::pg_catalog.uuid, ${sha256('c.code::text')} FROM pg_catalog.unnest($2::text[]) AS c(code) RETURNING 1
) SELECT ${transactionNumber} FROM made LIMIT 1`,
  };
}
