/** Rules of a role that reach one item: each is asked of the database on its own, and each part of its condition. */

import { conditionText } from '@tablewright/compiler';
import type { AccessRule, Caller, Condition } from '@tablewright/runtime';
import type { ReadableApi } from '@tablewright/runtime/explain';
import { PlatformError, planRead } from '@tablewright/runtime/explain';
import { partsOf, systemCollection } from '@tablewright/runtime/language';
import type { Source } from '../sources/source.ts';

/** An item, and who asks for it. */
export interface ItemQuestion {
  readonly api: ReadableApi;
  readonly caller: Caller;
  readonly collection: string;
  /** As in a path, percent-encoded; null for a singleton. */
  readonly key: string | null;
}

async function meets(
  { api, caller, collection, key }: ItemQuestion,
  where: Condition,
  source: Source,
): Promise<boolean> {
  const descriptor = api.collections.find(({ name }) => name === collection);
  const fields = descriptor?.key ?? [];
  const rule = { fields: fields.length > 0 ? fields : (descriptor?.fields ?? []).map(({ name }) => name), where };
  const access = { name: 'judged', roles: [], admin: false, collections: [{ collection, read: [rule] }] };
  const path = systemCollection(collection)?.path ?? `/items/${encodeURIComponent(collection)}`;
  const target = key === null ? path : `${path}/${key}`;
  const planned = planRead({ ...api, access: [access] }, target, { ...caller, accessClass: 'judged' });
  const rows = await source.read(planned.statement, planned.parameters);
  return rows.length > 0;
}

/** True if the item exists. A text that cannot be a key, such as letters for a number, names none. */
async function isThere(item: ItemQuestion, source: Source): Promise<boolean> {
  try {
    return await meets(item, { kind: 'and', of: [] }, source);
  } catch (error) {
    if (error instanceof PlatformError && ['FORBIDDEN', 'ROUTE_NOT_FOUND'].includes(error.code)) return false;
    throw error;
  }
}

/** Verdict on one rule: for an item, whether it meets the rule, and which parts it does not meet. */
export interface CheckedRule<Rule extends AccessRule = AccessRule> {
  readonly rule: Rule;
  /** Null where no item was asked about. */
  readonly holds: boolean | null;
  readonly failing: readonly string[];
}

/** A rule without a verdict. */
export function unchecked<Rule extends AccessRule>(rule: Rule): CheckedRule<Rule> {
  return { rule, holds: null, failing: [] };
}

/** Checks an item against each rule; null when there is no such item. */
export async function checkRules<Rule extends AccessRule>(
  item: ItemQuestion,
  rules: readonly Rule[],
  source: Source,
): Promise<readonly CheckedRule<Rule>[] | null> {
  if (!(await isThere(item, source))) return null;
  const checkedRules: CheckedRule<Rule>[] = [];
  for (const rule of rules) {
    const holds = await meets(item, rule.where, source);
    const failing = holds ? [] : await failingParts(item, rule.where, source);
    checkedRules.push({ rule, holds, failing });
  }
  return checkedRules;
}

/** The rules, checked for the item that a path names, if it names one and a connection is at hand. */
export async function checkNamedRules<Rule extends AccessRule>(
  { api, caller, target }: Pick<ItemQuestion, 'api' | 'caller'> & { readonly target: string },
  rules: readonly Rule[],
  source: Source | null,
): Promise<readonly CheckedRule<Rule>[]> {
  const { collection, key } = itemIn(target);
  if (source === null || key === null || rules.length === 0) return rules.map(unchecked);
  return (await checkRules({ api, caller, collection, key }, rules, source)) ?? rules.map(unchecked);
}

/** The collection of `/items/articles/1?fields=id`, and its key as it was sent; null on the path of the whole collection. */
export function itemIn(target: string): Pick<ItemQuestion, 'collection' | 'key'> {
  const [, collection = '', key = null] = /^\/items\/([^/?]*)(?:\/([^/?]+))?/.exec(target) ?? [];
  return { collection: decodeURIComponent(collection), key };
}

async function failingParts(item: ItemQuestion, where: Condition, source: Source): Promise<readonly string[]> {
  const failing: string[] = [];
  for (const part of partsOf(where)) {
    if (!(await meets(item, part, source))) failing.push(conditionText(part));
  }
  return failing;
}
