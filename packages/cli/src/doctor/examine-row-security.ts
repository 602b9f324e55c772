/** Findings about roles and rights under which callers are passed on to policies. */
import type { Schema } from '@tablewright/introspect/schema';
import { examineRowSecurity } from '@tablewright/runtime/explain';
import { writableApi } from '../explain/role.ts';
import type { Finding } from '../sources/finding.ts';
import type { Source } from '../sources/source.ts';

/** Looks at them as a server does when it starts. */
export async function examinePassedCallers({ run, embedded }: Source, schema: Schema): Promise<readonly Finding[]> {
  if (schema.rowSecurity === undefined) return [];
  const found = await examineRowSecurity(writableApi(schema), { query: run }, embedded !== null);
  return found.map(({ code, refused, message, advice }) => ({
    ...{ check: code, message, advice },
    severity: refused ? ('problem' as const) : ('warning' as const),
  }));
}
