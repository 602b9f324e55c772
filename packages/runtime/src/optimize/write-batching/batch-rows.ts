import {
  announceShared,
  createNote,
  type Parameter,
  type RowSink,
  type Statement,
  type Transaction,
} from '../../database/database.ts';
import type { Binder } from '../../database/parameter-forms.ts';
import { nameUnder } from '../../database/row-context.ts';
import { arrayLiteral } from '../../language/index.ts';
import { batchKey } from '../../query/plan/plan-keys.ts';
import { changedNames } from '../../write/checks/check.ts';
import type { Source } from '../../write/plan/inputs.ts';
import { planReturnedCreate } from '../../write/plan/plan-create.ts';
import { planUpdateMany } from '../../write/plan/plan-update.ts';
import { type CompleteStep, type PlannedStep, returnedOf, type WriteStatement } from '../../write/plan/statement.ts';
import { inBatches } from '../single-statement/sharing.ts';

/** Statement that makes or changes several rows, and answers one for each in their order. */
interface RowBatch {
  readonly statement: Statement;
  /** Its parameters by those of the other statement: one for all rows, or the list of each row's value. */
  readonly parameters: readonly { readonly of: number; readonly list: boolean }[];
  /** For a change: index of the parameter that is the key of the stored row, which must not come twice. */
  readonly key?: number;
}

/** The batch of a statement that makes or changes one row, and may do so with several at once. */
export const rowBatchOf = createNote<RowBatch>('row batch');

/** Adds the statement for several rows to writes of one item. */
export const planRowBatch: CompleteStep = (plans, planned) => {
  const rows = plans.many ? undefined : batchRows(plans.write, planMany(planned));
  if (rows === undefined) return plans;
  return { ...plans, write: { ...plans.write, statement: rowBatchOf.on(plans.write.statement, rows) } };
};

function planMany({ written, plan, keyed }: PlannedStep): WriteStatement | undefined {
  const returned = returnedOf(plan, written.writable, written.scope);
  if (returned === undefined) return undefined;
  if (written.action === 'create') return planReturnedCreate(written, true, returned, keyed);
  // Requires keys whose texts tell whether they are equal. Requests that share a transaction never wait for locks.
  const mayJoin = changedNames(written).length > 0 && batchKey(written.writable.collection) !== undefined;
  return mayJoin ? planUpdateMany(written, false, returned, true) : undefined;
}

/**
 * Batch in which the statement for many items makes or changes the items of several requests. Its parameters come from
 * those that each would have of its own for `single`. Undefined where an item takes more than its key, its values and
 * what is the same for all of them.
 */
function batchRows(single: WriteStatement, many: WriteStatement | undefined): RowBatch | undefined {
  if (many === undefined) return undefined;
  const parameters = many.binders.map((binder) => ({
    of: placeOf(single, many, binder),
    list: binder.kind === 'value',
  }));
  const isWhole = parameters.some(({ list }) => list) && parameters.every(({ of: index }) => index >= 0);
  if (!isWhole) return undefined;
  const key = single.binders.findIndex((binder) => sourceOf(single, binder)?.kind === 'key');
  return { statement: { ...many.statement, brief: true }, parameters, ...(key >= 0 && { key }) };
}

/** Source of the value of a parameter that a request brings. */
function sourceOf({ sources }: WriteStatement, binder: Binder): Source | undefined {
  return binder.kind === 'value' ? sources[binder.index] : undefined;
}

/** Index of the parameter for one item that has the value of one for many, or that of each item; -1 where none has. */
function placeOf(single: WriteStatement, many: WriteStatement, binder: Binder): number {
  if (binder.kind !== 'value') {
    const text = JSON.stringify(binder);
    return single.binders.findIndex((other) => JSON.stringify(other) === text);
  }
  const source = sourceOf(many, binder);
  return single.binders.findIndex((other) => {
    const candidate = sourceOf(single, other);
    if (source?.kind === 'key') return candidate?.kind === 'key' && candidate.part === source.part;
    return source?.kind === 'values' && candidate?.kind === 'value' && candidate.column === source.column;
  });
}

interface Waiting {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that holds back statements that make or change rows until `send` is called. */
interface MergingTransaction extends Transaction {
  /** Sends the statements that were held back, as one if only the rows differ, and holds no more back. */
  send(): void;
}

/** Makes such a transaction of one that several requests share. */
export function mergeRows(transaction: Transaction): MergingTransaction {
  const held = new Map<string, Waiting[]>();
  const others: (() => void)[] = [];
  let sent = false;
  const merging: MergingTransaction = {
    identify: (id) => transaction.identify(id),
    proof: (commitProof) => transaction.proof?.(commitProof),
    begun: (send) => void others.push(send),
    run(statement, parameters, sink) {
      const rows = rowBatchOf.of(statement);
      if (sent || rows === undefined) return transaction.run(statement, parameters, sink);
      return new Promise((resolve, reject) => {
        const name = nameUnder(statement, nameOf(statement, rows, parameters));
        const waiting = { statement, parameters, sink, resolve, reject };
        const others = held.get(name);
        if (others === undefined) held.set(name, [waiting]);
        else others.push(waiting);
      });
    },
    send() {
      sent = true;
      delete merging.begun;
      for (const all of held.values()) {
        for (const together of apart(all)) sendAll(transaction, together);
      }
      for (const send of others) send();
    },
  };
  return merging;
}

/** Name of a group: statements go together if all their parameters that are not lists are the same. */
function nameOf({ name }: Statement, rows: RowBatch, parameters: readonly Parameter[]): string {
  const common = rows.parameters.filter(({ list }) => !list).map(({ of: index }) => parameters[index]);
  return common.length === 0 ? name : JSON.stringify([name, common]);
}

/** Statements in rounds, in none of which a row is changed twice. */
function apart(all: readonly Waiting[]): readonly (readonly Waiting[])[] {
  const [first] = all;
  const key = first && rowBatchOf.of(first.statement)?.key;
  return key === undefined ? [all] : inBatches(all, ({ parameters }) => parameters[key] ?? null);
}

function sendAll(transaction: Transaction, all: readonly Waiting[]): void {
  const [first] = all;
  const rows = first && rowBatchOf.of(first.statement);
  if (first === undefined || rows === undefined) return;
  if (all.length === 1) {
    transaction.run(first.statement, first.parameters, first.sink).then(first.resolve, first.reject);
    return;
  }
  const parameters = rows.parameters.map(({ of: position, list }) => {
    return list
      ? arrayLiteral(all.map((write) => write.parameters[position] ?? null))
      : (first.parameters[position] ?? null);
  });
  const ended = announceShared(rows.statement, all);
  let count = 0;
  const row: RowSink['row'] = (buffer, offset, length) => {
    const sink = all[count++]?.sink;
    sink?.row(buffer, offset, length);
    sink?.end?.();
  };
  const { runsAs } = first.statement;
  const written = runsAs === undefined ? rows.statement : { ...rows.statement, runsAs };
  transaction.run(written, parameters, { row }).then(
    () => {
      // It is unknown which request got no row, so each has to run alone.
      const refusal = count === all.length ? undefined : new Error('A row was not written.');
      ended?.(refusal && { error: refusal });
      for (const { resolve, reject } of all) refusal === undefined ? resolve() : reject(refusal);
    },
    (error: unknown) => {
      ended?.({ error });
      for (const { reject } of all) reject(error);
    },
  );
}
