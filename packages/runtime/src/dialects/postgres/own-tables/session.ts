import { transactionNumber } from '../../fragment.ts';
import type { SessionStatements } from '../../own-statements.ts';

/** A used token is forgiven for as long as two tabs may need to see that the other one was faster. */
const grace = "'10 seconds'::pg_catalog.interval";

const now = 'pg_catalog.statement_timestamp()';

function hashOf(parameter: string): string {
  return `pg_catalog.decode(${parameter}::text, 'hex')`;
}

/** The statements of sessions. */
export function postgresSessions(schema: string): SessionStatements {
  return { ...tokenStatements(schema), ...sessionStatements(schema) };
}

/** Statements that make tokens. */
function tokenStatements(schema: string) {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  const sessions = `${schema}.platform_sessions`;
  const tokens = `${schema}.platform_refresh_tokens`;
  return {
    /**
     * The user must be unchanged since the check. $1 is the key, $2 the new hash of the password or null, $3 the
     * security version. $4 to $6 are address, agent and page, $7 and $8 the lifetime of session and token, $9 is the
     * hash of the token.
     */
    begin: `WITH u AS (
  UPDATE ${users} SET last_access = ${now}, password = COALESCE($2::text, password)
  WHERE id = $1::pg_catalog.uuid AND status = 'active' AND security_version = $3::pg_catalog.int4
  RETURNING id, security_version
), s AS (
  INSERT INTO ${sessions} ("user", security_version, ip, user_agent, expires_at)
  SELECT id, security_version, pg_catalog."left"($4::text, 50), pg_catalog."left"($5::text, 255),
    ${now} + $7::pg_catalog.interval FROM u
  RETURNING id, expires_at
), t AS (
  INSERT INTO ${tokens} (hash, session, expires_at)
  SELECT ${hashOf('$9')}, id, LEAST(expires_at, ${now} + $8::pg_catalog.interval) FROM s
), a AS (
  INSERT INTO ${schema}.platform_activity (action, "user", ip, user_agent, origin, collection, item)
  SELECT 'login', id, pg_catalog."left"($4::text, 50), pg_catalog."left"($5::text, 255),
    pg_catalog."left"($6::text, 255), 'platform_users', id::text FROM u
)
SELECT ${transactionNumber}, id::text FROM s`,

    /**
     * Only one of concurrent requests finds the token unused: $1 its hash, $2 the hash of the next, $3 the next one's
     * lifetime.
     */
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
SELECT ${transactionNumber}, s.id::text, ${postgresAccountColumns}
FROM s JOIN ${users} AS u ON u.id = s."user" LEFT JOIN ${roles} AS r ON r.id = u.role`,
  } satisfies Partial<SessionStatements>;
}

function sessionStatements(schema: string) {
  const users = `${schema}.platform_users`;
  const sessions = `${schema}.platform_sessions`;
  const tokens = `${schema}.platform_refresh_tokens`;
  return {
    /** Why a token was not rotated: $1 its hash. One that was used a while ago has been copied, so its session ends. */
    refuse: `WITH seen AS (
  SELECT s.id, s."user", t.rotated_at, u.status, t.expires_at <= ${now} OR s.expires_at <= ${now} AS expired
  FROM ${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session JOIN ${users} AS u ON u.id = s."user"
  WHERE t.hash = ${hashOf('$1')}
), ended AS (
  DELETE FROM ${sessions} WHERE id IN (SELECT id FROM seen WHERE rotated_at < ${now} - ${grace}) RETURNING "user"
)
SELECT (SELECT ${transactionNumber} FROM ended), (SELECT "user"::text FROM ended),
  (rotated_at IS NULL AND status = 'active' AND expired)::text FROM seen`,

    /** Ends the session of a token: $1 its hash. */
    end: `DELETE FROM ${sessions} WHERE id = (SELECT session FROM ${tokens} WHERE hash = ${hashOf('$1')})
RETURNING ${transactionNumber}, "user"::text`,

    /** Outdates every session of the user who has a token: $1 its hash. */
    outdate: `UPDATE ${users} SET security_version = security_version + 1
WHERE id = (SELECT s."user" FROM ${tokens} AS t JOIN ${sessions} AS s ON s.id = t.session WHERE t.hash = ${hashOf('$1')})
RETURNING ${transactionNumber}, id::text`,

    /** Ends the sessions of a user ($1), but for one where $2 is its key. */
    endAll: `DELETE FROM ${sessions} WHERE "user" = $1::pg_catalog.uuid AND id IS DISTINCT FROM $2::pg_catalog.uuid`,

    /** Lets a session ($1) carry on under the present security version of its user. */
    confirm: `UPDATE ${sessions} AS s SET security_version = u.security_version FROM ${users} AS u
WHERE s.id = $1::pg_catalog.uuid AND u.id = s."user"`,

    /** Removes sessions that ended long ago, at most $1. */
    purge: `DELETE FROM ${sessions} WHERE id IN (SELECT id FROM ${sessions}
WHERE expires_at < ${now} - '7 days'::pg_catalog.interval ORDER BY expires_at LIMIT $1::pg_catalog.int4
FOR UPDATE SKIP LOCKED)`,

    /** Notes that a user ($1) was here, once a minute. */
    touch: `UPDATE ${users} SET last_access = ${now} WHERE id = $1::pg_catalog.uuid
AND (last_access IS NULL OR last_access < ${now} - '1 minute'::pg_catalog.interval) RETURNING ${transactionNumber}`,
  } satisfies Partial<SessionStatements>;
}

/** Columns of an account, of the tables `u` (users) and `r` (roles, which may be missing), as `readAccount` reads them. All are texts. */
const postgresAccountColumns = `u.id::text, u.email::text, u.status::text, u.provider::text, u.security_version::text,
  (u.tfa_secret IS NOT NULL)::text, r.id::text, r.name::text, r.admin_access::text, r.app_access::text,
  r.enforce_tfa::text, r.ip_access::text`;
