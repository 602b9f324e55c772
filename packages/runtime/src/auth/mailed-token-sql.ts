/**
 * The statements of mailed tokens, for a schema that is quoted. Each answers at most one row of texts, the transaction's
 * number first where it writes.
 */
import { transactionNumber } from '../write/statement.ts';

const now = 'pg_catalog.statement_timestamp()';

function sha256(text: string): string {
  return `pg_catalog.sha256(pg_catalog.convert_to(${text}, 'UTF8'))`;
}

/** What proves that a user `u` still has the password of then. */
const proof = `pg_catalog.encode(${sha256("COALESCE(u.password, '')")}, 'hex')`;

/** The users who may use each kind of token. */
const statuses = { password_reset: 'active', invite: 'invited' } as const;

/** Prints the statements. */
export function mailedTokenStatements(schema: string) {
  const users = `${schema}.platform_users`;
  const roles = `${schema}.platform_roles`;
  const tokens = `${schema}.platform_single_use_tokens`;
  const mails = `${schema}.platform_mails`;
  const normal = (email: string): string => `${schema}.platform_normal_email(${email})`;

  /** Puts a mail down for each of `made`, which has a user, a recipient, a key and a proof. */
  const issue = (kind: keyof typeof statuses, template: string, ttl: string, url: string): string => `t AS (
  INSERT INTO ${tokens} (hash, purpose, "user", expires_at)
  SELECT ${sha256('made.key')}, '${kind}', made.id, ${now} + ${ttl}::pg_catalog.interval FROM made
), m AS (
  INSERT INTO ${mails} (template, recipient, template_values)
  SELECT '${template}', made.email,
    pg_catalog.jsonb_build_object('user', made.id, 'key', made.key, 'proof', made.proof, 'url', ${url}::text) FROM made
  RETURNING 1
)
SELECT ${transactionNumber}, (SELECT pg_catalog.json_agg(id)::pg_catalog.text FROM made)`;

  /** $1 user, $2 key of the token, $3 proof. */
  const holder = (kind: keyof typeof statuses): string => `u.id = $1::pg_catalog.uuid
  AND u.status = '${statuses[kind]}' AND u.provider = 'default' AND ${proof} = $3::text`;
  const token = (kind: keyof typeof statuses): string => `t.hash = ${sha256('$2::text')} AND t.purpose = '${kind}'
  AND t."user" = u.id AND t.used_at IS NULL`;

  return {
    /** $1 the address as it was sent, $2 key, $3 how long the token works, $4 where the link leads or null. */
    requestReset: `WITH made AS (
  SELECT u.id, u.email, $2::text AS key, ${proof} AS proof FROM ${users} AS u
  WHERE ${normal('u.email')} = ${normal('$1::text')} AND u.status = 'active' AND u.provider = 'default'
), ${issue('password_reset', 'password-reset', '$3', '$4')}`,

    /**
     * $1 array of {email, key}, $2 role, $3 how long the tokens work, $4 where the links lead or null, $5 whether invited
     * administrators may be given the role, too. Answers the keys of who was invited.
     */
    invite: `WITH wanted AS MATERIALIZED (
  SELECT DISTINCT ON (${normal('w.email')}) w.email, w.key, ${normal('w.email')} AS normal
  FROM pg_catalog.json_to_recordset($1::json) AS w(email text, key text) ORDER BY ${normal('w.email')}
), i AS (
  INSERT INTO ${users} AS u (email, status, role)
  SELECT email, 'invited', $2::pg_catalog.uuid FROM wanted ORDER BY normal
  ON CONFLICT (${normal('email')}) DO UPDATE SET role = excluded.role
  WHERE u.status = 'invited' AND u.provider = 'default' AND ($5::pg_catalog.bool OR NOT EXISTS (
    SELECT FROM ${roles} AS r WHERE r.id = u.role AND r.admin_access))
  RETURNING u.id, u.email, ${proof} AS proof
), made AS (
  SELECT i.id, i.email, w.key, i.proof FROM i JOIN wanted AS w ON w.normal = ${normal('i.email')}
), ${issue('invite', 'invite', '$3', '$4')}`,

    /** Whether an address of $1 is that of an invited user with a role of administrators. */
    invitedAdministrator: `SELECT NULL, 'true' FROM ${users} AS u JOIN ${roles} AS r ON r.id = u.role
WHERE r.admin_access AND u.status = 'invited'
  AND ${normal('u.email')} IN (SELECT ${normal('e.email')} FROM pg_catalog.json_array_elements_text($1::json) AS e(email))
LIMIT 1`,

    /** The role $1, held so that it stays what it is: whether it is one of administrators. */
    role: `SELECT NULL, admin_access::pg_catalog.text FROM ${roles} WHERE id = $1::pg_catalog.uuid FOR SHARE`,

    /** Whether the token of $1 to $3 can be used still, and whether nothing but its time is against it. */
    look: (kind: MailedStatement): string => `SELECT NULL, (t.expires_at <= ${now})::pg_catalog.text
FROM ${users} AS u JOIN ${tokens} AS t ON ${token(kind)} WHERE ${holder(kind)}`,

    /**
     * Uses the token of $1 to $3 up and gives its user the password $4. Of any number at once, with whatever tokens of the
     * user, one waits for the other at the user's row and finds the password or the status changed.
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
    sweep: `DELETE FROM ${tokens} WHERE hash IN (SELECT hash FROM ${tokens}
WHERE expires_at < ${now} - '7 days'::pg_catalog.interval ORDER BY expires_at LIMIT $1::pg_catalog.int4
FOR UPDATE SKIP LOCKED)`,
  };
}

/** The kinds of tokens whose users get a password. */
export type MailedStatement = keyof typeof statuses;
