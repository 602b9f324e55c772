/** Rows of several requests in one transaction, made or changed by one statement. */
import { inBatches } from '../../batches.ts';
import {
  announceShared,
  type Parameter,
  type RowSink,
  type Statement,
  type Transaction,
} from '../../database/database.ts';
import { nameUnder } from '../../database/row-security/row-context.ts';
import { arrayLiteral } from '../../language/index.ts';
import { type RowBatch, rowBatchOf } from './batch-rows.ts';

/** A statement that waits for others of its kind. */
interface Waiting {
  readonly statement: Statement;
  readonly parameters: readonly Parameter[];
  readonly sink: RowSink;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that holds back statements that make or change rows until `send` is called. */
interface MergingTransaction extends Transaction {
  /**
   * Sends the statements that were held back, as one statement if only the rows differ. After it nothing is held back
   * any more.
   */
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
