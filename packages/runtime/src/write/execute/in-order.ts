/** Several writes as one: in order, in one transaction, with one answer. Source: API specification, section 14.1. */
import { type PlatformError, toPlatformError } from '../../errors.ts';
import type { PreparedCommand, WriteCommand } from '../write-command.ts';

type Command = WriteCommand | PreparedCommand;

import type { KeyedRequest } from './idempotency.ts';
import type { TransactionBody, Written } from './transaction-body.ts';
import { explainViolation } from './violation.ts';
import type { WriteExecutor } from './write-executor.ts';

/** Functions that build the response to several writes. */
export interface BatchResponses {
  /** The answers in order, each as it would be alone: `{"data":…}`, null for none. */
  readonly answer: (answers: readonly (Buffer | null)[]) => Buffer;
  readonly failure: (position: number, error: PlatformError) => Buffer;
}

/** Prepares all writes, so that what is wrong with one is known before any of them runs, and runs them. */
export async function runInOrder(
  executor: WriteExecutor,
  prepare: (command: Command) => Promise<TransactionBody>,
  commands: readonly Command[],
  responses: BatchResponses,
  keyed: KeyedRequest | undefined,
): Promise<Buffer> {
  const cursor = { place: 0 };
  const report = (error: unknown): Buffer => responses.failure(cursor.place, toPlatformError(error));
  const together = async (): Promise<TransactionBody> =>
    joined(executor, await prepareAll(prepare, commands, cursor), responses, cursor);
  try {
    if (keyed !== undefined) {
      const { body } = await executor.keyed(keyed, together, (error) => ({ status: 200, body: report(error) }));
      return body ?? responses.answer([]);
    }
    const [only] = commands;
    if (only !== undefined && commands.length === 1) {
      // Alone, its answer is read together with COMMIT.
      return responses.answer([await executor.once(await prepare(only))]);
    }
    return (await executor.once(await together())) ?? responses.answer([]);
  } catch (error) {
    // An error about the key itself is not the fault of a write.
    if (keyed !== undefined && toPlatformError(error).status < 500) throw error;
    return report(error);
  }
}

async function prepareAll(
  prepare: (command: Command) => Promise<TransactionBody>,
  commands: readonly Command[],
  cursor: { place: number },
): Promise<readonly TransactionBody[]> {
  const works: TransactionBody[] = [];
  for (const [index, command] of commands.entries()) {
    cursor.place = index;
    works.push(await prepare(command));
  }
  return works;
}

/** The works as one, whose answer is made of theirs. `cursor` tells which of them runs. */
function joined(
  executor: WriteExecutor,
  works: readonly TransactionBody[],
  { answer: result }: BatchResponses,
  cursor: { place: number },
): TransactionBody {
  return {
    async run(transaction) {
      const answers: (Buffer | null)[] = [];
      for (const [index, work] of works.entries()) {
        cursor.place = index;
        try {
          answers.push(await executor.answer(transaction, await work.run(transaction)));
        } catch (error) {
          // The database names no table with some errors, so it is that of the write which runs.
          throw explainViolation(error, work.affected());
        }
      }
      return made(result(answers));
    },
    affected: () => works.flatMap((work) => work.affected()),
    // Calls every check: it is not known here which write failed.
    isConflict: (error) => works.map((work) => work.isConflict?.(error) === true).includes(true),
    committed() {
      for (const work of works) work.committed();
    },
  };
}

/** An answer that is there already. */
function made(body: Buffer): Written {
  const rows = { items: 1, row() {}, read: () => body, end: () => body };
  return { returning: null, keys: null, rows };
}
