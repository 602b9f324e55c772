/** Several writes as one: in order, in one transaction, with one answer. Source: API specification, section 14.1. */
import { type PlatformError, toPlatformError } from '../errors.ts';
import type { Ask } from './ask.ts';
import type { KeyedRequest } from './idempotency.ts';
import type { Performer, Work, Written } from './perform.ts';

/** Functions that build the response to several writes. */
export interface Telling {
  /** The answers in order, each as it would be alone: `{"data":…}`, null for none. */
  readonly answer: (answers: readonly (Buffer | null)[]) => Buffer;
  readonly failure: (position: number, error: PlatformError) => Buffer;
}

/** Prepares all writes, so that what is wrong with one is known before any of them runs, and runs them. */
export async function runInOrder(
  performer: Performer,
  prepare: (ask: Ask) => Promise<Work>,
  asks: readonly Ask[],
  telling: Telling,
  keyed: KeyedRequest | undefined,
): Promise<Buffer> {
  const cursor = { place: 0 };
  const tell = (error: unknown): Buffer => telling.failure(cursor.place, toPlatformError(error));
  const together = async (): Promise<Work> =>
    joined(performer, await prepareAll(prepare, asks, cursor), telling, cursor);
  try {
    if (keyed !== undefined) {
      const { body } = await performer.keyed(keyed, together, (error) => ({ status: 200, body: tell(error) }));
      return body ?? telling.answer([]);
    }
    const [only] = asks;
    if (only !== undefined && asks.length === 1) {
      // Alone, its answer is read together with COMMIT.
      return telling.answer([await performer.once(await prepare(only))]);
    }
    return (await performer.once(await together())) ?? telling.answer([]);
  } catch (error) {
    // An error about the key itself is not the fault of a write.
    if (keyed !== undefined && toPlatformError(error).status < 500) throw error;
    return tell(error);
  }
}

async function prepareAll(
  prepare: (ask: Ask) => Promise<Work>,
  asks: readonly Ask[],
  cursor: { place: number },
): Promise<readonly Work[]> {
  const works: Work[] = [];
  for (const [index, ask] of asks.entries()) {
    cursor.place = index;
    works.push(await prepare(ask));
  }
  return works;
}

/** The works as one, whose answer is made of theirs. `cursor` tells which of them runs. */
function joined(performer: Performer, works: readonly Work[], { answer }: Telling, cursor: { place: number }): Work {
  return {
    async run(transaction) {
      const answers: (Buffer | null)[] = [];
      for (const [index, work] of works.entries()) {
        cursor.place = index;
        answers.push(await performer.answer(transaction, await work.run(transaction)));
      }
      return made(answer(answers));
    },
    touched: () => works.flatMap((work) => work.touched()),
    // Calls every check: it is not known here which write failed.
    overtaken: (error) => works.map((work) => work.overtaken?.(error) === true).includes(true),
    committed() {
      for (const work of works) work.committed();
    },
  };
}

/** An answer that is there already. */
function made(body: Buffer): Written {
  const rows = { items: 1, row() {}, take: () => body, end: () => body };
  return { echo: null, keys: null, rows };
}
