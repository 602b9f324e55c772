/** DELETE: one item by its key, or several by their keys or by a query. */
import type { AccessRule, JsonValue } from '../contract/index.ts';
import { forbidden } from '../query/invalid.ts';
import { parseKeySegment } from '../query/keys.ts';
import { allOf, anyOf } from '../sql/fragment.ts';
import type { Row } from '../sql/row.ts';
import { ruleHolds } from '../sql/rules.ts';
import { sparesAdministrators } from '../users/spare-administrators.ts';
import { findHeld } from './held-targets.ts';
import { type Desk, echoOf, guardOf, type Job, writableOf } from './job.ts';
import { namedKeys, oneKey } from './keys.ts';
import { parseDelete } from './parse-body.ts';
import { runDelete } from './run-delete.ts';
import type { WritableCollection } from './scope.ts';
import { prepareTargets } from './targets.ts';
import type { Touched } from './violation.ts';

/** Prepares the removal of the item that an address names. */
export function prepareDeleteOne(desk: Desk, key: string): Job {
  const { writable, rules } = deletable(desk);
  const keys = oneKey(parseKeySegment(writable.collection, key));
  const job = jobOf(desk, writable, (running) => runDelete(desk, writable, rules, running, keys, false));
  return { ...job, ...guardOf(desk, writable.collection, keys, () => echoOf(desk, 'one')) };
}

/** Prepares the removal of the items that a body names. */
export function prepareDelete(desk: Desk, body: JsonValue | undefined): Job {
  const named = parseDelete(body, desk.mostItems);
  const { writable, rules } = deletable(desk);
  if (named.kind === 'keys') {
    const keys = namedKeys(writable, named.keys);
    return jobOf(desk, writable, (running) => runDelete(desk, writable, rules, running, keys, false));
  }
  const permitted = (row: Row): string =>
    allOf([anyOf(rules.map(({ where }) => ruleHolds(row, where))), ...sparesAdministrators(desk.scope, row)]);
  const targets = prepareTargets({ ...desk, query: named.query, targets: { permitted, lock: 'UPDATE' } });
  return jobOf(desk, writable, async (running) => {
    const { collection } = writable;
    const keys = await findHeld(running, targets, { collection, lock: 'UPDATE', most: desk.mostItems });
    return keys === null ? null : runDelete(desk, writable, rules, running, keys, true);
  });
}

function deletable(desk: Desk): { readonly writable: WritableCollection; readonly rules: readonly AccessRule[] } {
  const writable = writableOf(desk);
  if (writable.delete === undefined) throw forbidden();
  return { writable, rules: writable.delete };
}

function jobOf({ scope }: Desk, { collection }: WritableCollection, work: Job['work']): Job {
  const touched: Touched = { scope, collection, names: new Set(), writable: new Set() };
  return { echo: null, touched: () => [touched], work };
}
