import { transactionNumber } from '../../fragment.ts';
import { type MailedStatement, type MailedTokenStatements, mailedStatuses } from '../../own-statements.ts';

const now = 'pg_catalog.statement_timestamp()';

function sha256(text: string): string {
  return `pg_catalog.sha256(pg_catalog.convert_to(${text}, 'UTF8'))`;
}

/** Proof that a user `u` still has the password of the time when the token was asked for. */
const proof = `pg_catalog.encode(${sha256("COALESCE(u.password, '')")}, 'hex')`;

/** The statements of mailed tokens. */
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

  return {
    /** Tells if the token of $1 to $3 can still be used, and if only its expiry is against it. */
    look: (kind: MailedStatement): string => `SELECT NULL, (t.expires_at <= ${now})::pg_catalog.text
FROM ${users} AS u JOIN ${tokens} AS t ON ${token(kind)} WHERE ${holder(kind)}`,

    /**
     * Uses the token of $1 to $3 up and gives its user the password $4. Concurrent uses, also of other tokens of the
     * user, wait for each other at the user's row. The later ones find the password or the status changed.
     */
    use: (kind: MailedStatement): string => `WITH u AS (
  SELECT u.id FROM ${users} AS u WHERE ${holder(kind)} FOR UPDATE
), used AS (
  UPDATE ${tokens} AS t SET used_at = ${now} FROM u WHERE ${token(kind)} AND t.expires_at > ${now} RETURNING t."user"
), changed AS (
  UPDATE ${users} AS u SET password = $4::text, status = 'active', security_version = u.security_version + 1
  FROM used WHERE u.id = used."user" RETURNING u.id
) SELECT ${transactionNumber}, id::pg_catalog.text FROM changed`,

    /** Removes tokens whose time was over long ago, at most $1. */
    purge: `DELETE FROM ${tokens} WHERE hash IN (SELECT hash FROM ${tokens}
WHERE expires_at < ${now} - '7 days'::pg_catalog.interval ORDER BY expires_at LIMIT $1::pg_catalog.int4
FOR UPDATE SKIP LOCKED)`,
  } satisfies Partial<MailedTokenStatements>;
}
