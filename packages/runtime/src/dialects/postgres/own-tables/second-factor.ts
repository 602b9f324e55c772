import { transactionNumber } from '../../fragment.ts';
import type { SecondFactorStatements } from '../../own-statements.ts';

const now = 'pg_catalog.statement_timestamp()';

function sha256(parameter: string): string {
  return `pg_catalog.sha256(pg_catalog.convert_to(${parameter}::text, 'UTF8'))`;
}

/** The statements of second factors. */
export function postgresSecondFactors(schema: string): SecondFactorStatements {
  const users = `${schema}.platform_users`;
  const tfa = `${schema}.platform_tfa`;
  return {
    ...recoveryCodes(schema),

    /** Remembers the secret $2, in place of another that waits, until it is confirmed or 10 minutes have passed. */
    offer: `INSERT INTO ${tfa} ("user", pending_hash, pending_until)
SELECT id, ${sha256('$2')}, ${now} + pg_catalog.interval '10 minutes' FROM ${users}
WHERE id = $1::pg_catalog.uuid AND tfa_secret IS NULL
ON CONFLICT ("user") DO UPDATE SET pending_hash = excluded.pending_hash, pending_until = excluded.pending_until
RETURNING ${transactionNumber}`,

    /** Tells if the secret $2 waits to be confirmed. */
    pending: `SELECT NULL, 'true' FROM ${tfa}
WHERE "user" = $1::pg_catalog.uuid AND pending_hash = ${sha256('$2')} AND pending_until > ${now}`,

    /** Confirms the secret $2 by an accepted step $3, which counts for everything else, too. */
    enable: `WITH t AS (
  UPDATE ${tfa} SET pending_hash = NULL, pending_until = NULL, last_step = $3::pg_catalog.int8
  WHERE "user" = $1::pg_catalog.uuid AND pending_hash = ${sha256('$2')} AND pending_until > ${now}
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

    /** Takes the second factor away; where $2 is not null only when that is its secret. */
    disable: `UPDATE ${users} SET tfa_secret = NULL, security_version = security_version + 1
WHERE id = $1::pg_catalog.uuid AND tfa_secret IS NOT NULL AND ($2::text IS NULL OR tfa_secret = $2::text)
RETURNING ${transactionNumber}`,

    /** Removes a secret that waits to be confirmed. The last step stays, so that it cannot be used again. */
    forgetPending: `UPDATE ${tfa} SET pending_hash = NULL, pending_until = NULL WHERE "user" = $1::pg_catalog.uuid`,

    /** Tells if the user exists. */
    exists: `SELECT NULL, 'true' FROM ${users} WHERE id = $1::pg_catalog.uuid`,
  };
}

function recoveryCodes(schema: string) {
  const users = `${schema}.platform_users`;
  const codes = `${schema}.platform_recovery_codes`;
  return {
    /** Uses up the recovery code $2. */
    useCode: `UPDATE ${codes} SET used_at = ${now}
WHERE "user" = $1::pg_catalog.uuid AND hash = ${sha256('$2')} AND used_at IS NULL
RETURNING ${transactionNumber}`,

    /**
     * Locks the user while the secret is still $2, so that each request for new codes sees those that the one before
     * has made.
     */
    hold: `SELECT NULL, 'true' FROM ${users} WHERE id = $1::pg_catalog.uuid AND tfa_secret = $2::text FOR NO KEY UPDATE`,

    /** Puts the recovery codes $2, an array, in place of all others. Runs after `hold`. */
    replaceCodes: `WITH gone AS (
  DELETE FROM ${codes} WHERE "user" = $1::pg_catalog.uuid
), made AS (
  INSERT INTO ${codes} ("user", hash)
  SELECT $1::pg_catalog.uuid, ${sha256('c.code')} FROM pg_catalog.unnest($2::text[]) AS c(code) RETURNING 1
) SELECT ${transactionNumber} FROM made LIMIT 1`,

    forgetCodes: `DELETE FROM ${codes} WHERE "user" = $1::pg_catalog.uuid`,
  } satisfies Partial<SecondFactorStatements>;
}
