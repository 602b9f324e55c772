import { createHash } from 'node:crypto';
import { createScript, returnRows } from '../../../database/own-statements/script.ts';
import { normalEmail } from '../../../language/values/lowercase.ts';
import type { Counter, CounterStatements, Counting } from '../../own-statements.ts';
import type { MysqlTables } from './tables.ts';

/**
 * SQL statements of counters on MySQL and MariaDB. Subjects are hashed here, because these servers cannot normalize to
 * NFKC.
 */
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
