/** DELETE: one item by its key, or several by their keys or by a query. */

import { allOf, anyOf } from '../dialects/fragment.ts';
import { forbidden } from '../errors.ts';
import type { AccessRule, JsonValue } from '../language/index.ts';
import { parseKeySegment } from '../query/parse/keys.ts';
import type { Row } from '../sql/row.ts';
import { ruleHolds } from '../sql/rules.ts';
import type { WritableCollection } from './access/scope.ts';
import { sparesAdministrators } from './access/spare-administrators.ts';
import { namedKeys, oneKey } from './decode/keys.ts';
import { parseDelete } from './decode/parse-body.ts';
import { findHeld } from './execute/held-targets.ts';
import { runDelete } from './execute/run-delete.ts';
import { prepareTargets } from './execute/targets.ts';
import type { AffectedConstraints } from './execute/violation.ts';
import { guardOf, returningOf, type WriteContext, type WritePlan, writableOf } from './write-plan.ts';

/** Prepares the removal of the item that an address names. */
export function prepareDeleteOne(context: WriteContext, key: string): WritePlan {
  const { writable, rules } = deletable(context);
  const keys = oneKey(parseKeySegment(writable.collection, key));
  const plan = planOf(context, writable, (running) => runDelete(context, writable, rules, running, keys, false));
  return { ...plan, ...guardOf(context, writable.collection, keys, () => returningOf(context, 'one')) };
}

/** Prepares the removal of the items that a body names. */
export function prepareDelete(context: WriteContext, body: JsonValue | undefined): WritePlan {
  const named = parseDelete(body, context.maxItems);
  const { writable, rules } = deletable(context);
  if (named.kind === 'keys') {
    const keys = namedKeys(writable, named.keys);
    return planOf(context, writable, (running) => runDelete(context, writable, rules, running, keys, false));
  }
  const permitted = (row: Row): string =>
    allOf([anyOf(rules.map(({ where }) => ruleHolds(row, where))), ...sparesAdministrators(context.scope, row)]);
  const targets = prepareTargets({ ...context, query: named.query, targets: { permitted, lock: 'UPDATE' } });
  return planOf(context, writable, async (running) => {
    const { collection } = writable;
    const keys = await findHeld(running, targets, { collection, lock: 'UPDATE', maxCount: context.maxItems });
    return keys === null ? null : runDelete(context, writable, rules, running, keys, true);
  });
}

function deletable(context: WriteContext): {
  readonly writable: WritableCollection;
  readonly rules: readonly AccessRule[];
} {
  const writable = writableOf(context);
  if (writable.delete === undefined) throw forbidden();
  return { writable, rules: writable.delete };
}

function planOf({ scope }: WriteContext, { collection }: WritableCollection, work: WritePlan['work']): WritePlan {
  const affected: AffectedConstraints = { scope, collection, names: new Set(), writable: new Set() };
  return { returning: null, affected: () => [affected], work };
}
