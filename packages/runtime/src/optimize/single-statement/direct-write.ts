/** Writes that one statement does, and that also gives their answer. */
import { createNote } from '../../database/database.ts';
import type { Answer, AnswerWriter } from '../../query/answer.ts';
import { asMany, type Keys } from '../../write/decode/keys.ts';
import { check, runReturned } from '../../write/execute/run.ts';
import type { Running } from '../../write/execute/running.ts';
import { missingRows } from '../../write/execute/step.ts';
import { isRefusal, type TransactionBody } from '../../write/execute/transaction-body.ts';
import type { PreparedStep, WriteContext, WritePlan, WriteRequest } from '../../write/write-plan.ts';

/** Context in which such a statement runs. */
type DirectRunning = Pick<Running, 'transaction' | 'caller' | 'driftGuard'>;

export interface DirectWrite {
  run(running: DirectRunning): Promise<Answer>;
  /** Most rows that it writes, where it is brief; absent where it may take long. */
  readonly rows?: number;
  /** True if the steps explain a refusal, and run in its place. Default: false. */
  readonly isExplained?: true;
}

/** The statement of a plan that has one. */
export const directWrite = createNote<DirectWrite>('direct write');

/** True if nothing keeps a write from answering its items itself: no history and no If-Match. */
export function isFree({ images, ifMatch }: WriteContext): boolean {
  return images === null && ifMatch === undefined;
}

/** The statement of a step that answers its items itself. `keys` null: items are made. */
export function directStep(
  context: WriteContext,
  { returning }: WritePlan,
  prepare: (plan: NonNullable<WritePlan['returning']>['plan']) => PreparedStep,
  keys: Keys | null,
): DirectWrite | undefined {
  if (!isFree(context) || returning === null) return undefined;
  const step = prepare(returning.plan);
  const { answer: result, write } = step.plans;
  if (result === undefined) return undefined;
  const rows = write.statement.brief === true ? { rows: 1 } : {};
  return { ...rows, run: (running) => runStep(running, { ...step, keys }, result) };
}

/** Runs the statement of a plan in the place of its steps. */
export function runDirectly(
  body: TransactionBody,
  plan: WritePlan,
  { caller }: WriteRequest,
  driftGuard: Running['driftGuard'],
): TransactionBody {
  const direct = directWrite.of(plan);
  if (direct === undefined) return body;
  let goesStepByStep = false;
  return {
    ...body,
    async run(transaction) {
      if (goesStepByStep) return body.run(transaction);
      const rows = await direct.run({ transaction, caller, driftGuard });
      return { returning: plan.returning, keys: null, rows };
    },
    brief: () => (goesStepByStep ? undefined : direct.rows),
    isConflict(error) {
      const isConflict = body.isConflict?.(error) === true;
      if (isConflict) goesStepByStep = true;
      if (!direct.isExplained || goesStepByStep || !isRefusal(error)) return isConflict;
      goesStepByStep = true;
      return true;
    },
  };
}

const nothing: ReadonlyMap<number, string> = new Map();

/** Runs a step whose write answers its items itself. Throws for what the written rows say. */
async function runStep(
  { transaction, caller, driftGuard }: DirectRunning,
  { plans, batch, keys, payload }: PreparedStep & { readonly keys: Keys | null },
  result: AnswerWriter,
): Promise<Answer> {
  driftGuard(plans.write.statement);
  const named = keys !== null && plans.many ? asMany(keys) : keys;
  const values = { batch, keys: named, matched: nothing };
  const { count, verdicts, rows } = await runReturned(transaction, plans.write, values, caller, result, plans.many);
  if (count !== (keys?.count ?? batch.count)) throw missingRows(keys, payload);
  check(verdicts, payload);
  return rows;
}
