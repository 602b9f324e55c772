/** DELETE: one item by its key, or several by their keys or by a query. */
import type { AccessRule, JsonValue } from '../contract/index.ts';
import { forbidden } from '../query/invalid.ts';
import { parseKeySegment } from '../query/keys.ts';
import { anyOf } from '../sql/fragment.ts';
import type { Row } from '../sql/row.ts';
import { ruleHolds } from '../sql/rules.ts';
import { createBatch } from './batch.ts';
import type { Written } from './checks.ts';
import { type Desk, type Job, writableOf } from './job.ts';
import { type Keys, namedKeys, oneKey } from './keys.ts';
import { checkCount, parseDelete } from './parse-body.ts';
import { deletePlan } from './plans.ts';
import { find } from './prepare-update.ts';
import type { WritableCollection } from './scope.ts';
import { type Running, runStep } from './step.ts';
import { prepareTargets } from './targets.ts';
import type { Touched } from './violation.ts';

/** Prepares the removal of the item that an address names. */
export function prepareDeleteOne(desk: Desk, key: string): Job {
  const { writable, rules } = deletable(desk);
  const keys = oneKey(parseKeySegment(writable.collection, key));
  return jobOf(desk, writable, (running) => runDelete(desk, writable, rules, running, keys, false));
}

/** Prepares the removal of the items that a body names. */
export function prepareDelete(desk: Desk, body: JsonValue | undefined): Job {
  const named = parseDelete(body, desk.mostItems);
  const { writable, rules } = deletable(desk);
  if (named.kind === 'keys') {
    const keys = namedKeys(writable.collection, named.keys);
    return jobOf(desk, writable, (running) => runDelete(desk, writable, rules, running, keys, false));
  }
  const permitted = (row: Row): string => anyOf(rules.map(({ where }) => ruleHolds(row, where)));
  const targets = prepareTargets({ ...desk, query: named.query, permitted });
  return jobOf(desk, writable, async (running) => {
    const { keys, count } = await find(running, targets);
    checkCount(count, desk.mostItems);
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
  return { echo: null, touched: [touched], work };
}

async function runDelete(
  desk: Desk,
  writable: WritableCollection,
  rules: readonly AccessRule[],
  running: Running,
  keys: Keys,
  lenient: boolean,
): Promise<Keys | null> {
  if (keys.count === 0) return null;
  const { descriptor } = writable.collection;
  const written: Written = {
    scope: desk.scope,
    writable,
    grant: { rules: [], fields: new Map(), listed: new Set() },
    action: 'update',
    columns: [],
    collections: new Set([descriptor.name]),
  };
  const plans = { write: deletePlan(desk.steps, written, rules, keys.many), many: keys.many, judge: undefined };
  const payload = { collection: descriptor.name, places: null, names: new Set<string>() };
  await runStep(running, { plans, batch: createBatch(descriptor).finish(0), keys, lenient, payload });
  return keys;
}
