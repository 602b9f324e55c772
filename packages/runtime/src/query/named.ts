/** Answers to reads whose statement counts the items that were named by key in front of everything else. */
import type { Answer, AnswerWriter } from './answer.ts';
import type { ReadPlan } from './plan/plan.ts';

/**
 * Takes the count off the front of every row, and lets another writer write the rest.
 *
 * Without `meta` the column that tells an item from an empty answer is taken off too, because only answers with `meta`
 * know it.
 */
export function withNamed({ meta }: ReadPlan, start: AnswerWriter): AnswerWriter {
  const flagged = meta.length === 0;
  return () => new NamedAnswer(start(), flagged);
}

class NamedAnswer implements Answer {
  found = 0;
  readonly #inner: Answer;
  readonly #flagged: boolean;

  constructor(inner: Answer, flagged: boolean) {
    this.#inner = inner;
    this.#flagged = flagged;
  }

  get items(): number {
    return this.#inner.items;
  }

  row(buffer: Buffer, offset: number, length: number): void {
    // A count is an int8 that is never null.
    this.found = Number(buffer.readBigInt64BE(offset + 4));
    const rest = offset + 12;
    const item = this.#flagged ? rest + 5 : rest;
    if (!this.#flagged || buffer[rest + 4] !== 0) this.#inner.row(buffer, item, length - (item - offset));
  }

  read(): Buffer {
    return this.#inner.read();
  }

  end(): Buffer {
    return this.#inner.end();
  }
}
