/** Which rules of a role reach one item: each is asked of the database on its own, and each part of its condition. */
import type { Caller, Condition, ReadableApi } from '@platform/runtime';
import { planRead } from '@platform/runtime';
import type { Source } from '../source.ts';

/** An item, and who asks for it. */
export interface ItemQuestion {
  readonly api: ReadableApi;
  readonly caller: Caller;
  readonly collection: string;
  /** As in a path, percent-encoded; null for a singleton. */
  readonly key: string | null;
}

/** Whether an item meets a condition under the values of the caller. */
export async function meets(
  { api, caller, collection, key }: ItemQuestion,
  where: Condition,
  source: Source,
): Promise<boolean> {
  const descriptor = api.collections.find(({ name }) => name === collection);
  const fields = descriptor?.key ?? [];
  const rule = { fields: fields.length > 0 ? fields : (descriptor?.fields ?? []).map(({ name }) => name), where };
  const access = { name: 'judged', roles: [], admin: false, collections: [{ collection, read: [rule] }] };
  const path = `/items/${encodeURIComponent(collection)}${key === null ? '' : `/${key}`}`;
  const planned = planRead({ ...api, access: [access] }, path, { ...caller, accessClass: 'judged' });
  const rows = await source.read(planned.plan.statement, planned.parameters);
  return rows.length > 0;
}

/** The parts of a condition that must all hold. */
export function partsOf(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of : [condition];
}
