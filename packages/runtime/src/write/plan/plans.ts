/** Planned writes by their shape, in a bounded cache per access class. */

import { sqlTrue } from '../../dialects/fragment.ts';
import { type BoundedCache, longestCachedStatement } from '../../language/values/bounded-cache.ts';
import { derivedOnce, once } from '../../language/values/once.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { listedForm } from '../../sql/operand.ts';
import type { WriteGrant } from '../access/scope.ts';
import { conditionFields } from '../checks/ahead.ts';
import { type Check, type CheckedRow, changedNames, type Written } from '../checks/check.ts';
import {
  checksFirst,
  checksOf,
  linkChecksAhead,
  linkChecksFirst,
  linkChecksLate,
  ruleChecksAhead,
  tenantLinkChecks,
} from '../checks/checks.ts';
import type { Removal } from '../checks/presets.ts';
import type { Batch } from '../decode/batch.ts';
import type { InputColumn } from './inputs.ts';
import { planCreate, planReturnedCreate } from './plan-create.ts';
import { planChange, planChangeable, planInsert, planRemoval } from './plan-several.ts';
import { lockOfUpdate, planDelete, planFound, planUpdateMany, planUpdateOne } from './plan-update.ts';
import { planRulesAhead } from './rules-ahead.ts';
import {
  type CompleteStep,
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  manyAnswers,
  matchInputs,
  presenceInputs,
  returnedOf,
  rowColumns,
  ruleRow,
  type StepPlans,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Form of the items of a step: as one, as several, or as several with the same data. */
export type StepForm = 'one' | 'many' | 'shared';

export type StepPlanCache = BoundedCache<StepPlans>;

/**
 * The plans of a create or an update; `all` is the grant before rules were left out that the caller cannot use. With a
 * planned answer the write returns that itself, where it can; `keyed` tells whether new items have to tell their keys, too.
 */
export function plansOf(
  cache: StepPlanCache,
  written: Written,
  all: WriteGrant,
  form: StepForm,
  plan?: ReadPlan,
  keyed = false,
  completeStep?: CompleteStep,
): StepPlans {
  return remembered(cache, shapeOf(written, all, form, plan), () => {
    const plans = plannerOf(written).plan(written, form, plan, keyed);
    if (plan === undefined || plans.answer === undefined) return plans;
    return completeStep?.(plans, { written, plan, keyed }) ?? plans;
  });
}

interface StepPlanner {
  plan(written: Written, form: StepForm, plan: ReadPlan | undefined, keyed: boolean): StepPlans;
  planDelete(written: Written, removed: Removal, many: boolean): StepPlans;
}

/** A write that is part of a query does everything in one statement. */
const together: StepPlanner = {
  plan(written, form, plan, keyed) {
    const returning = plan === undefined ? undefined : planReturned(written, form, plan, keyed);
    if (returning !== undefined) return { ...returning, ...aheadOf(written, form) };
    // Several rules are told apart on rows that are looked up first.
    const many = form !== 'one' || (written.action === 'update' && written.grant.rules.length > 1);
    const update = () => (many ? planUpdateMany(written, form !== 'many') : planUpdateOne(written));
    const write = written.action === 'create' ? planCreate(written, many) : update();
    return { write, many, permissionCheck: planPermissionCheck(written), ...linkChecksOf(written, form) };
  },
  planDelete: (written, removed, many) => ({
    write: planDelete(written, removed, many),
    many,
    permissionCheck: undefined,
  }),
};

/** Else it is told apart from what looks before it, and from what judges after it. */
const apart: StepPlanner = {
  plan(written, form) {
    const plans = written.action === 'create' ? { write: planInsert(written) } : planChange(written, form !== 'many');
    const single = written.action === 'create' && form === 'one';
    const verify = planPermissionCheck(written, false);
    const rulesAhead = planRulesAhead(written, form === 'shared');
    return {
      ...plans,
      many: true,
      ...(rulesAhead && { rulesAhead }),
      ...(single && { single }),
      ...(verify && { verify }),
      permissionCheck: planPermissionCheck(written),
      ...linkChecksOf(written, form),
    };
  },
  planDelete: (written, removed) => ({ ...planRemoval(written, removed), many: true, permissionCheck: undefined }),
};

/** Plans beside the write: of checks before it or behind it. */
type PlansBeside = Omit<StepPlans, 'write' | 'many' | 'permissionCheck'>;

function linkChecksOf(written: Written, form: StepForm): PlansBeside {
  const linkCheck = planLinkCheck(written);
  const isPartly = (check: { readonly link: { readonly isPartly: boolean } }): boolean => check.link.isPartly;
  const ahead = linkChecksAhead(written);
  const linksAhead = planLinksAhead(
    written,
    form,
    ahead.filter((check) => !isPartly(check)),
  );
  const linksBelow = planLinksAhead(written, form, ahead.filter(isPartly));
  const stated = linkChecksLate(written);
  return {
    ...(linkCheck && { linkCheck }),
    ...(linksAhead && { linksAhead }),
    ...(linksBelow && { linksBelow }),
    ...(stated.length > 0 && { planStated: once(() => planLinksAhead(written, form, stated)) }),
    planLinks: once(() => planLinksAhead(written, form, linkChecksFirst(written))),
    planEarly: once(() =>
      planChecks(
        written,
        ruleChecksAhead(written, () => true),
      ),
    ),
    ...aheadOf(written, form),
  };
}

/** Plans the check before a write: the database refuses few. */
function aheadOf(written: Written, form: StepForm): PlansBeside {
  return {
    planFirst: once(() => planRulesAhead(written, form === 'shared', checksFirst(written))),
    planMet(where) {
      const asks = conditionFields(written, where);
      const permissionCheck = { kind: 'refused', requirement: null } as const;
      const fails = ({ row }: CheckedRow) => row.statement.print.condition(row, where);
      const met: Check = { permissionCheck, late: false, rules: [], columns: [], fails };
      const plan = planRulesAhead(written, form === 'shared', [met]);
      return asks && plan && { plan, asks };
    },
    ...(written.action === 'update' && {
      planFound: once(() => planLook(written, form !== 'many')),
      ...(form !== 'one' && { changesMany: true }),
    }),
    mayBeTaken: mayBeTaken(written),
  };
}

/** Plans the look for stored rows that may be changed so. */
function planLook(written: Written, shared: boolean): WriteStatement {
  return written.scope.open.dialect.returnsWrites ? planFound(written, shared) : planChangeable(written);
}

/** True if a unique key, or another constraint between rows, may refuse these. */
function mayBeTaken(written: Written): boolean {
  const names = new Set(changedNames(written));
  const { constraints = [] } = written.writable.collection.descriptor;
  return constraints.some(
    ({ type, fields, exclusive = type === 'unique' && fields.some((name) => names.has(name)) }) => exclusive,
  );
}

/** True if something can be judged of the rows of a step before they are written: of several, whether all are there. */
export function hasChecksFirst({ planFirst, changesMany, checksBelow }: StepPlans): boolean {
  return planFirst?.() !== undefined || changesMany === true || checksBelow === true;
}

/** True if rules are judged at the end, so that a unique key comes before them, though the payload may tell that they break. */
export function mayBreakLate({ permissionCheck, mayBeTaken }: StepPlans): boolean {
  return permissionCheck !== undefined && mayBeTaken === true;
}

/** True if some of it is otherwise judged at the end, which earlier refusals leave out. */
export function hasChecksLate(plans: StepPlans): boolean {
  return plans.permissionCheck !== undefined && hasChecksFirst(plans);
}

function plannerOf({ scope }: Written): StepPlanner {
  return scope.open.dialect.returnsWrites ? together : apart;
}

/** A write that answers its items itself; undefined where it cannot, or not all is judged when it is done. */
function planReturned(written: Written, form: StepForm, plan: ReadPlan, keyed: boolean): StepPlans | undefined {
  const { writable, action, scope, grant } = written;
  const returned = returnedOf(plan, writable, scope);
  if (returned === undefined || checksOf(written).some(({ late }) => late)) return undefined;
  const { answer: result } = returned;
  if (action === 'create') {
    const many = form !== 'one';
    const write = planReturnedCreate(written, many, returned, keyed);
    return write && { write: many ? write : briefly(write), many, permissionCheck: undefined, answer: result };
  }
  // A unique key that changes may change the same row once more.
  const changed = changedNames(written);
  if (lockOfUpdate(writable.collection.descriptor, changed) === 'UPDATE') return undefined;
  const many = form !== 'one' || grant.rules.length > 1;
  // The items that it returns would not tell which key has found two.
  if (many && (changed.length === 0 || writable.collection.descriptor.inherited === true)) return undefined;
  if (many)
    return {
      write: planUpdateMany(written, form !== 'many', returned),
      many,
      permissionCheck: undefined,
      answer: result,
    };
  return { write: briefly(planUpdateOne(written, returned)), many, permissionCheck: undefined, answer: result };
}

/** A write of one item, which takes too little time to keep others waiting. */
function briefly(write: WriteStatement): WriteStatement {
  return { ...write, statement: { ...write.statement, brief: true } };
}

export function deletePlan(cache: StepPlanCache, written: Written, removed: Removal, many: boolean): StepPlans {
  const { name } = written.writable.collection.descriptor;
  const shape = JSON.stringify(['delete', name, many, removed.purge]);
  return remembered(cache, shape, () => {
    const rules = removed.rules.map((rule) => ({ ...rule, check: null, presets: [] }));
    const planFound = once(() => planLook({ ...written, grant: { ...written.grant, rules } }, true));
    return { ...plannerOf(written).planDelete(written, removed, many), ...(!removed.purge && { planFound }) };
  });
}

function remembered(cache: StepPlanCache, shape: string, plan: () => StepPlans): StepPlans {
  const cached = cache.get(shape);
  if (cached !== undefined) return cached;
  const plans = plan();
  if (plans.write.statement.text.length <= longestCachedStatement) cache.set(shape, plans);
  return plans;
}

/** Cache key of the plans of a step: everything that they depend on. */
export function shapeOf(
  { writable, grant, action, columns, named, collections, postponed, made }: Written,
  all: WriteGrant,
  form: StepForm,
  plan: ReadPlan | undefined,
): string {
  let shape = `${action} ${form} ${postponed} ${plan === undefined ? 0 : numberOf(plan)}`;
  for (const rule of all.rules) shape += grant.rules.includes(rule) ? '+' : '-';
  for (const { field, complete, linked } of columns) shape += `${end}${complete} ${linked} ${field.descriptor.name}`;
  const written = [
    writable.collection.descriptor.name,
    JSON.stringify([named, [...(made ?? [])]]),
    ...[...collections].sort(),
  ];
  return [shape, ...written].join(end + end);
}

/** Ends a name, none of which holds it. */
const end = '\0';

let numbered = 0;

/** Tells planned answers apart, also those that are one statement under other names. */
const numberOf = derivedOnce<ReadPlan, number>(() => ++numbered);

/** The columns of a batch as far as plans depend on them. */
export function writtenColumns({ columns }: Batch): Written['columns'] {
  return columns.map(({ field, present, linked }) => ({ field, complete: present === null, linked }));
}

/** Plans the check of items by their keys; `waiting` selects checks at the end. Undefined when there are none. */
function planPermissionCheck(written: Written, waiting = true): WriteStatement | undefined {
  return planChecks(
    written,
    checksOf(written).filter(({ late, ahead }) => late === waiting && (waiting || ahead !== true)),
  );
}

/** Plans the check of links before a step. A field that a change leaves alone has its stored value. */
function planLinksAhead(written: Written, form: StepForm, checks: readonly Check[]): WriteStatement | undefined {
  if (checks.length === 0) return undefined;
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const { table } = written.writable.collection.descriptor;
  const alias = drafting.statement.alias();
  const stored = rowColumns(written, alias);
  const columns = new Map<string, InputColumn>();
  const flags = new Set(checks.flatMap((check) => check.columns));
  let isStored = false;
  function column(quoted: string): string {
    const index = written.columns.findIndex(({ field }) => field.descriptor.column === quoted);
    const { field: { descriptor } = {}, complete = false } = written.columns[index] ?? {};
    const value = descriptor === undefined ? undefined : input.sought(`i.c${index}`, descriptor);
    if (descriptor !== undefined) {
      columns.set(quoted, { name: `c${index}`, source: { kind: 'values', column: index }, ...listedForm(descriptor) });
    }
    if (complete && value !== undefined) return value;
    if (value !== undefined) flags.add(index);
    isStored ||= written.action === 'update';
    const kept = written.action === 'update' ? stored(quoted) : 'NULL';
    return value === undefined ? kept : `CASE WHEN i.p${index} THEN ${value} ELSE ${kept} END`;
  }
  const judged: CheckedRow = {
    row: ruleRow(drafting, column),
    matched: () => sqlTrue,
    present: (index) => `i.p${index}`,
  };
  const answers = manyAnswers(drafting, checks, judged, 'i.n');
  const batch = inputTable(drafting, [...columns.values(), ...presenceInputs([...flags])], 'i');
  const keys = keyInputs(drafting);
  const keyNames = keys.map(({ name }) => `k.${name}`);
  const paired = form === 'shared' ? sqlTrue : 'k.n = i.n';
  const from = isStored
    ? `${batch}${input.join}${inputTable(drafting, keys, 'k')} ON ${paired}${input.join}${table} AS ${alias} ON ${keysMatch(drafting, stored, keyNames)}`
    : batch;
  const text = `SELECT ${['NULL', input.count(), ...answers].join(', ')} FROM ${from}`;
  return finishWrite(drafting, text, { judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}

/** Plans the check of links to rows of other tenants, right after a step. Undefined when there is nothing to check. */
function planLinkCheck(written: Written): WriteStatement | undefined {
  return planChecks(written, tenantLinkChecks(written));
}

function planChecks(written: Written, checks: readonly Check[]): WriteStatement | undefined {
  if (checks.length === 0) return undefined;
  const drafting = startWrite(written);
  const { statement } = drafting;
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const rules = [...new Set(checks.flatMap((check) => check.rules))];
  const flags = [...new Set(checks.flatMap((check) => check.columns))];
  const keys = keyInputs(drafting);
  const judged: CheckedRow = {
    row: ruleRow(drafting, column),
    matched: (rule) => (rules.includes(rule) ? `i.m${rule}` : 'TRUE'),
    present: (index) => `i.p${index}`,
  };
  const answers = manyAnswers(drafting, checks, judged, 'i.n');
  const input = inputTable(drafting, [...keys, ...matchInputs(rules), ...presenceInputs(flags)], 'i');
  const condition = keysMatch(
    drafting,
    column,
    keys.map(({ name }) => `i.${name}`),
  );
  const { table } = written.writable.collection.descriptor;
  const { join, count } = statement.dialect.input;
  const selected = ['NULL', count(), ...answers];
  const text = `SELECT ${selected.join(', ')} FROM ${input}${join}${table} AS ${alias} ON ${condition}`;
  return finishWrite(drafting, text, { judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}
