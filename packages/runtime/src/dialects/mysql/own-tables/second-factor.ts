import { createScript, requireRow, returnRows } from '../../../database/own-statements/script.ts';
import type { SecondFactorStatements } from '../../own-statements.ts';
import type { MysqlTables } from './tables.ts';

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
