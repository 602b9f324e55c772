/** Planned writes by their shape, in a bounded cache per access class. */
import { createPlanCache, longestCachedStatement, type PlanCache } from '../query/plan-cache.ts';
import type { Batch } from './batch.ts';
import type { Written } from './checks.ts';
import { planCreate } from './plan-create.ts';
import { planDelete } from './plan-delete.ts';
import { planJudge } from './plan-judge.ts';
import { planUpdateOne } from './plan-update.ts';
import { planUpdateMany } from './plan-update-many.ts';
import type { WriteGrant } from './scope.ts';
import type { WritePlan } from './statement.ts';

/** The plans of one step: the write itself, and the judgement that waits until everything is written. */
export interface StepPlans {
  readonly write: WritePlan;
  /** Whether the write takes its keys as arrays. */
  readonly many: boolean;
  readonly judge: WritePlan | undefined;
}

/** How the items of a step come: as one, as several, or as several with the same data. */
export type StepForm = 'one' | 'many' | 'shared';

/** A cache of the plans of one access class. */
export type StepPlanCache = PlanCache<StepPlans>;

/** Makes the cache: so many shapes are kept. */
export function createStepPlans(size: number): StepPlanCache {
  return createPlanCache<StepPlans>(size);
}

/** The plans of a create or an update; `all` is the grant before rules were left out that the caller cannot use. */
export function plansOf(cache: StepPlanCache, written: Written, all: WriteGrant, form: StepForm): StepPlans {
  return remembered(cache, shapeOf(written, all, form), () => {
    // Several rules are told apart on rows that are looked up first.
    const many = form !== 'one' || (written.action === 'update' && written.grant.rules.length > 1);
    const update = () => (many ? planUpdateMany(written, form !== 'many') : planUpdateOne(written));
    const write = written.action === 'create' ? planCreate(written, many) : update();
    return { write, many, judge: planJudge(written) };
  });
}

/** The plan of a delete. */
export function deletePlan(
  cache: StepPlanCache,
  written: Written,
  rules: Parameters<typeof planDelete>[1],
  many: boolean,
): WritePlan {
  const { name } = written.writable.collection.descriptor;
  const shape = JSON.stringify(['delete', name, many]);
  return remembered(cache, shape, () => ({ write: planDelete(written, rules, many), many, judge: undefined })).write;
}

function remembered(cache: StepPlanCache, shape: string, plan: () => StepPlans): StepPlans {
  const known = cache.get(shape);
  if (known !== undefined) return known;
  const plans = plan();
  if (plans.write.statement.text.length <= longestCachedStatement) cache.set(shape, plans);
  return plans;
}

function shapeOf(
  { writable, grant, action, columns, named, collections, postponed }: Written,
  all: WriteGrant,
  form: StepForm,
): string {
  return JSON.stringify([
    action,
    writable.collection.descriptor.name,
    form,
    all.rules.map((rule) => (grant.rules.includes(rule) ? 1 : 0)),
    columns.map(({ field, complete, linked }) => [field.descriptor.name, complete, linked]),
    named,
    [...collections].sort(),
    postponed,
  ]);
}

/** The columns of a batch as far as plans depend on them. */
export function writtenColumns({ columns }: Batch): Written['columns'] {
  return columns.map(({ field, present, linked }) => ({ field, complete: present === null, linked }));
}
