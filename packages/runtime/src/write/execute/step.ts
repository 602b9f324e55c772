/** One step of a write: one action on one collection, in a transaction. */
import { ServerError } from '../../database/errors.ts';
import { PlatformError } from '../../errors.ts';
import { failedValidation } from '../../json/problems.ts';
import type { Condition } from '../../language/index.ts';
import type { Answer } from '../../query/answer.ts';
import { readRows } from '../../sql/array-text.ts';
import { asMany, asOne, type Keys } from '../decode/keys.ts';
import type { WriteValues } from '../plan/inputs.ts';
import { draw } from '../plan/plan-create.ts';
import type { WriteStatement } from '../plan/statement.ts';
import {
  check,
  type JudgedPayload,
  type ReturnedAnswer,
  runReturned,
  runWrite,
  type Verdict,
  type WriteAnswer,
} from './run.ts';
import type { Running, Step, StepItem } from './running.ts';
import { isOfRows } from './violation.ts';

/** A step that was written, and what is left to judge when everything is. */
export interface StepDone {
  readonly collection: string;
  readonly keys: Keys;
  /** Checks links to rows of other tenants, which look like missing ones. */
  checkLinks(): Promise<void>;
  /** True if links of its rows are judged when everything is written. */
  readonly waitsForLinks: boolean;
  /** Checks these links as the step has stated them, since another step may have replaced them. */
  checkStated(): Promise<void>;
  /** Checks what rules say by now, before another step that they might depend on. */
  checkEarly(): Promise<void>;
  checkLate(): Promise<void>;
}

/** Checks the links of a step, and runs it. Throws FORBIDDEN and FAILED_VALIDATION for what the rows say. */
export async function runStep(running: Running, step: Step): Promise<StepDone> {
  await checkLinksAhead(running, step, step.plans.linksAhead);
  return writeStep(running, step);
}

/** Checks links before anything is written, or before the step. Throws FORBIDDEN. */
export async function checkLinksAhead(
  running: Running,
  { batch, keys, payload }: Step,
  plan: WriteStatement | undefined,
): Promise<void> {
  if (plan === undefined) return;
  const values = { batch, keys: keys && asMany(keys), matched: nothing };
  checkVerdicts(running, await verify(running, plan, values), payload);
}

/** Runs a step whose links are checked. Throws as `runStep`. */
export async function writeStep(running: Running, step: Step): Promise<StepDone> {
  const { plans, batch, keys, payload } = step;
  const { write } = plans;
  running.driftGuard(write.statement);
  running.begin?.(plans);
  const guarded = await running.systemHooks.get(payload.collection)?.watch(running, step);
  const named = keys !== null && plans.many ? asMany(keys) : keys;
  const watch = running.history?.watch(step.action, payload.collection, keys, step.archives) ?? null;
  const { transaction, caller } = running;
  const requested = keys?.count ?? batch.count;
  const looked =
    plans.look && (await runWrite(transaction, plans.look, { batch, keys: named, matched: nothing }, caller));
  if (looked !== undefined && looked.count !== requested && !step.lenient) throw missingRows(keys, payload);
  if (looked === undefined && running.judgesFirst === true && plans.changesMany && !step.lenient && keys !== null) {
    if (!(await findsAll(running, { ...step, keys }))) throw missingRows(keys, payload);
  }
  const values = { batch, keys: named, matched: looked?.matched ?? nothing };
  const rulesFirst = running.judgesFirst === true ? plans.planFirst?.() : plans.rulesAhead;
  if (rulesFirst !== undefined) {
    const judged = { ...values, keys: keys && asMany(keys) };
    checkVerdicts(running, await settledNow(running, await verify(running, rulesFirst, judged), step), payload);
  }
  // Ended here, it answers the same whether the database takes the rows or not.
  if (running.judgesFirst === true) running.endBroken?.(plans);
  const writing: Promise<WriteAnswer & { readonly rows?: Answer }> =
    plans.answer === undefined
      ? runWrite(transaction, write, values, caller)
      : runReturned(transaction, write, values, caller, plans.answer, plans.many).then(unmatched);
  if (plans.answer === undefined) watch?.follow();
  const result = await writing;
  if (result.count < 0 || (result.count !== requested && !step.lenient)) throw missingRows(keys, payload);
  const made: Keys = { count: result.count, many: plans.many, values: result.keys };
  const written = keys ?? (plans.single === true ? asOne(made) : made);
  const matched = looked?.matched ?? result.matched;
  const verified = plans.verify && { ...values, keys: asMany(written), matched };
  const verdicts = verified === undefined ? result.verdicts : await verify(running, plans.verify, verified);
  checkVerdicts(running, verdicts, payload);
  await guarded?.(written);
  if (result.wrote) await watch?.resolve(written, result.count, result.rows);
  const done = { ...values, keys: asMany(written), matched };
  return {
    collection: payload.collection,
    keys: written,
    checkLinks: () => checkLate(running, step, plans.linkCheck, done),
    waitsForLinks: plans.planStated !== undefined,
    checkStated: () => checkLinksAhead(running, step, plans.planStated?.()),
    checkEarly: () => checkLate(running, step, plans.permissionCheck && plans.planEarly?.(), done),
    checkLate: () => checkLate(running, step, plans.permissionCheck, done),
  };
}

/** Checks links of a refused write before anything is written, but for those to what the request writes. */
export async function checkLinksFirst(running: Running, step: Step): Promise<void> {
  const { plans, batch, keys, payload } = step;
  const values = { batch, keys: keys && asMany(keys), matched: nothing };
  const verdicts = await verify(running, plans.planLinks?.(), values);
  checkVerdicts(running, await settledNow(running, verdicts, step), payload);
}

/** Checks rules of a refused write before anything is written, as far as only fields of its items decide which are known. */
export async function checkRulesFirst(
  running: Running,
  step: Step,
  isKnown: (field: string, item: number) => boolean,
): Promise<void> {
  const { plans, batch, keys, payload } = step;
  const plan = plans.planFirst?.();
  const verdicts = await verify(running, plan, { batch, keys: keys && asMany(keys), matched: nothing });
  const knownVerdicts = verdicts.map(({ permissionCheck, items }) => {
    const { asks } = permissionCheck;
    const left = asks === undefined ? [] : items.filter((item) => asks.every((field) => isKnown(field, item)));
    return { permissionCheck, items: left };
  });
  checkVerdicts(running, await settledNow(running, knownVerdicts, step), payload);
}

/** Items that may meet a condition as a step is about to write them; `isKnown` tells of what fields are known. */
export async function findMet(
  running: Running,
  { plans, batch, keys }: Step,
  where: Condition,
  isKnown: (field: string) => boolean,
): Promise<readonly number[]> {
  const { plan, asks } = plans.planMet?.(where) ?? {};
  const count = keys?.count ?? batch.count;
  if (plan === undefined || asks?.every(isKnown) !== true) return Array.from({ length: count }, (_, item) => item);
  const verdicts = await verify(running, plan, { batch, keys: keys && asMany(keys), matched: nothing });
  return verdicts.flatMap(({ items }) => items);
}

/** True if the stored rows of a change are all there, and may be changed so. */
export async function findsAll(
  { transaction, caller, driftGuard }: Running,
  { plans, batch, keys }: Pick<Step, 'plans' | 'batch'> & { readonly keys: Keys },
): Promise<boolean> {
  const plan = plans.planFound?.();
  if (plan === undefined) return true;
  driftGuard(plan.statement);
  const { count } = await runWrite(transaction, plan, { batch, keys: asMany(keys), matched: nothing }, caller);
  return count === keys.count;
}

/** Checks rows by a statement before or after the write. */
async function verify(
  { transaction, caller, driftGuard }: Running,
  plan: WriteStatement | undefined,
  values: WriteValues,
): Promise<readonly Verdict[]> {
  if (plan === undefined) return [];
  driftGuard(plan.statement);
  const drawn = draw(plan.sources, values.batch.count, nothing);
  return (await runWrite(transaction, plan, { ...values, drawn }, caller)).verdicts;
}

/** Verdicts without the items whose rules other steps may make hold: by what they are linked to, or by items below them. */
async function settledNow(
  { awaits, findChanged }: Running,
  verdicts: readonly Verdict[],
  { batch, keys, nodes }: Step,
): Promise<readonly Verdict[]> {
  const settled: Verdict[] = [];
  for (const { permissionCheck, items } of verdicts) {
    const { awaits: links = [], below } = permissionCheck;
    const left = items.filter((item) => !links.some((link) => awaits?.(link, batch, item)));
    if (left.length === 0 || (findChanged === undefined && below?.isAlone === true)) continue;
    const rows = below === undefined || keys === null ? [] : readRows(asMany(keys).values);
    const stepItems = left.map((item): StepItem => ({ key: rows[item], node: nodes?.[item] }));
    const changed = below && (await findChanged?.(below, stepItems));
    settled.push({ permissionCheck, items: left.filter((_, position) => changed?.has(position) !== true) });
  }
  return settled.filter(({ items }) => items.length > 0);
}

const nothing: ReadonlyMap<number, string> = new Map();

/** A write that returns its items leaves nothing to judge for which it would matter which rules matched. */
function unmatched(result: ReturnedAnswer): ReturnedAnswer & Pick<WriteAnswer, 'matched'> {
  return { ...result, matched: nothing };
}

/** Rows that are missing, hidden or not to be changed look the same; a row that was not made a trigger has refused. */
export function missingRows(keys: Keys | null, { collection }: JudgedPayload): PlatformError {
  if (keys !== null) return new PlatformError('FORBIDDEN');
  // Servers report no row that a trigger leaves out; it counts as one that a trigger refuses (raise_exception).
  const cause = new ServerError(new Map([['C', 'P0001']]));
  return failedValidation({ collection, index: undefined }, null, 'check', 'is refused by the database', cause);
}

function checkVerdicts({ collect }: Running, verdicts: readonly Verdict[], payload: JudgedPayload): void {
  try {
    check(verdicts, payload);
  } catch (error) {
    const isRule = error instanceof PlatformError && error.code === 'FAILED_VALIDATION' && !isOfRows(error);
    if (collect === undefined || !isRule) throw error;
    collect(error);
  }
}

async function checkLate(
  running: Running,
  { payload, lenient }: Step,
  plan: WriteStatement | undefined,
  values: Parameters<typeof runWrite>[2],
): Promise<void> {
  const { transaction, caller, driftGuard } = running;
  if (plan === undefined) return;
  driftGuard(plan.statement);
  const result = await runWrite(transaction, plan, values, caller);
  if (result.count !== values.keys?.count && !lenient) throw new PlatformError('FORBIDDEN');
  checkVerdicts(running, result.verdicts, payload);
}
