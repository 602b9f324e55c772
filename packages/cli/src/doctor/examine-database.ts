/** Findings about a database: clock, rights, ability to write, and settings that some feature needs. */
import type { Schema } from '@tablewright/introspect/schema';
import { examineRowSecurity } from '@tablewright/runtime/explain';
import { familyOf } from '@tablewright/runtime/language';
import { hostUrls } from '@tablewright/runtime/tools';
import { reasonOf } from '../errors/exit-codes.ts';
import { writableApi } from '../explain/role.ts';
import type { ConnectionFacts } from '../sources/commands.ts';
import { sources } from '../sources/dialects.ts';
import type { Finding } from '../sources/finding.ts';
import type { Source } from '../sources/source.ts';

/** Asks the database; every question stands alone, so one that is refused hides no other. */
export async function examineDatabase(source: Source, schema: Schema): Promise<readonly Finding[]> {
  const { examinations } = await sources[source.family].commands();
  const found: Finding[] = [];
  for (const examine of examinations(schema)) found.push(...(await examine(source).catch(unanswered)));
  return [...found, ...(await examinePassedCallers(source, schema).catch(unanswered))];
}

/** Reads an address of a database as the driver does. */
export async function connectionFacts(url: string): Promise<ConnectionFacts> {
  const [first = url] = hostUrls(url);
  return (await sources[familyOf(url)].commands()).connection(first);
}

/** Connections that the role of a database may have at once; null where there is no limit. */
export async function connectionLimit({ family, run }: Source): Promise<number | null> {
  const { limitsSql } = await sources[family].commands();
  const [row = []] = await run(limitsSql, []);
  const limits = row.map(Number).filter((limit) => limit > 0);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** A failed examination is reported, as its result is unknown. */
function unanswered(error: unknown): readonly Finding[] {
  const message = `The database did not answer a question of the doctor: ${reasonOf(error)}.`;
  const advice = 'Ask again as a role that may ask it.';
  return [{ check: 'unanswered', severity: 'note', message, advice }];
}

/** Looks at them as a server does when it starts. */
async function examinePassedCallers({ run, embedded }: Source, schema: Schema): Promise<readonly Finding[]> {
  if (schema.rowSecurity === undefined) return [];
  const found = await examineRowSecurity(writableApi(schema), { query: run }, embedded !== null);
  return found.map(({ code, refused, message, advice }) => ({
    ...{ check: code, message, advice },
    severity: refused ? ('problem' as const) : ('warning' as const),
  }));
}
