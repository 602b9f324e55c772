/** What a database tells of itself: clock, rights, whether it can be written, and settings that something needs. */
import type { Schema } from '@platform/introspect/schema';
import type { Source } from '../source.ts';
import { mysqlExaminations } from './examine-mysql.ts';
import { postgresExaminations } from './examine-postgres.ts';
import type { Finding } from './finding.ts';

/** Asks the database; every question stands alone, so one that is refused hides no other. */
export async function examineDatabase(source: Source, schema: Schema): Promise<readonly Finding[]> {
  const examinations = source.family === 'postgres' ? postgresExaminations(schema) : mysqlExaminations(schema);
  const found: Finding[] = [];
  for (const examine of examinations) found.push(...(await examine(source).catch(() => [])));
  return found;
}
