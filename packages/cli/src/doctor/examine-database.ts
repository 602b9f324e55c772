/** Findings about a database: clock, rights, ability to write, and settings that some feature needs. */
import type { Schema } from '@tablewright/introspect/schema';
import { isMysqlUrl } from '@tablewright/runtime/tools';
import { reasonOf } from '../errors/reason-of.ts';
import type { Source } from '../sources/source.ts';
import { mysqlExaminations } from './examine-mysql.ts';
import { postgresExaminations } from './examine-postgres.ts';
import type { Finding } from './finding.ts';
import type { ConnectionFacts } from './production/connection.ts';
import { mysqlConnection, mysqlLimitsSql } from './production/mysql-facts.ts';
import { postgresConnection, postgresLimitsSql } from './production/postgres-facts.ts';

/** Asks the database; every question stands alone, so one that is refused hides no other. */
export async function examineDatabase(source: Source, schema: Schema): Promise<readonly Finding[]> {
  const examinations = source.family === 'postgres' ? postgresExaminations(schema) : mysqlExaminations(schema);
  const found: Finding[] = [];
  for (const examine of examinations) found.push(...(await examine(source).catch(unanswered)));
  return found;
}

/** Reads an address of a database as the driver does. */
export function connectionFacts(url: string): ConnectionFacts {
  return isMysqlUrl(url) ? mysqlConnection(url) : postgresConnection(url);
}

/** Connections that the role of a database may have at once; null where there is no limit. */
export async function connectionLimit({ family, run }: Source): Promise<number | null> {
  const [row = []] = await run(family === 'postgres' ? postgresLimitsSql : mysqlLimitsSql, []);
  const limits = row.map(Number).filter((limit) => limit > 0);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** A failed examination is reported, as its result is unknown. */
function unanswered(error: unknown): readonly Finding[] {
  const message = `The database did not answer a question of the doctor: ${reasonOf(error)}.`;
  const advice = 'Ask again as a role that may ask it.';
  return [{ check: 'unanswered', severity: 'note', message, advice }];
}
