/** DELETE: one item by its key, or several by their keys or by a query. */
import { allOf } from '../dialects/fragment.ts';
import { forbidden, invalidQuery } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import { parseKeySegment } from '../query/parse/keys.ts';
import { parseQueryString } from '../query/parse/parse-query-string.ts';
import type { Row } from '../sql/row.ts';
import type { WritableCollection } from './access/scope.ts';
import { sparesAdministrators } from './access/system-access.ts';
import { type Removal, removable } from './checks/presets.ts';
import { namedKeys, oneKey } from './decode/keys.ts';
import { parseDelete } from './decode/parse-body.ts';
import { findHeld, prepareTargets } from './execute/targets.ts';
import type { AffectedConstraints } from './execute/violation.ts';
import { runDelete } from './tree/removal.ts';
import { guardOf, namedItems, returningOf, type WriteContext, type WritePlan, writableOf } from './write-plan.ts';

/** Prepares the removal of the item that an address names. */
export function prepareDeleteOne(context: WriteContext, key: string): WritePlan {
  const { writable, removed } = deletable(context);
  const keys = oneKey(parseKeySegment(writable.collection, key));
  const plan = planOf(context, writable, (running) => runDelete(context, writable, removed, running, keys, false));
  const named = namedItems(writable.collection, keys);
  return { ...plan, ...named, ...guardOf(context, writable.collection, keys, () => returningOf(context, 'one')) };
}

/** Prepares the removal of the items that a body names. */
export function prepareDelete(context: WriteContext, body: JsonValue | undefined): WritePlan {
  const named = parseDelete(body, context.maxItems);
  const { writable, removed } = deletable(context);
  if (named.kind === 'keys') {
    const keys = namedKeys(writable, named.keys);
    const plan = planOf(context, writable, (running) => runDelete(context, writable, removed, running, keys, false));
    return { ...plan, ...namedItems(writable.collection, keys) };
  }
  const permitted = (row: Row): string => allOf([removable(row, removed), ...sparesAdministrators(context.scope, row)]);
  const targets = prepareTargets({ ...context, query: named.query, targets: { permitted, lock: 'UPDATE' } });
  return planOf(context, writable, async (running) => {
    const { collection } = writable;
    const keys = await findHeld(running, targets, { collection, lock: 'UPDATE', maxCount: context.maxItems });
    return keys === null ? null : runDelete(context, writable, removed, running, keys, true);
  });
}

function deletable(context: WriteContext): {
  readonly writable: WritableCollection;
  readonly removed: Removal;
} {
  const purges = asksPurge(context);
  const writable = writableOf(context);
  if (writable.delete === undefined) throw forbidden();
  const purge = purges && writable.collection.descriptor.softDelete !== undefined;
  const rules = writable.delete.filter((rule) => !purge || context.scope.admin || rule.purge === true);
  if (rules.length === 0) throw forbidden();
  return { writable, removed: { rules, purge } };
}

const purgeNames: ReadonlySet<string> = new Set(['purge']);

/** True if a request removes items for good where DELETE archives them. Throws INVALID_QUERY for another value. */
function asksPurge({ query, limits }: WriteContext): boolean {
  if (!query.includes('purge') && !query.includes('%')) return false;
  const value = parseQueryString(query, limits, purgeNames).get('purge')?.value ?? 'false';
  if (value !== 'true' && value !== 'false') throw invalidQuery('"purge" takes true and false.');
  return value === 'true';
}

function planOf({ scope }: WriteContext, { collection }: WritableCollection, work: WritePlan['work']): WritePlan {
  const affected: AffectedConstraints = { scope, collection, names: new Set(), writable: new Set() };
  return { returning: null, affected: () => [affected], work };
}
