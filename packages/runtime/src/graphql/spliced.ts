/** Answers of operations, spliced from the bytes of rows. */

import { type FieldNode, getLocation } from 'graphql';
import type { RowSink } from '../database/database.ts';
import { messageOf, type PlatformError } from '../errors.ts';
import { ByteWriter, giveBack } from '../json/byte-writer.ts';
import { createTranscoder, type Transcoder } from '../json/transcode.ts';
import type { JsonValue } from '../language/index.ts';
import { derivedOnce } from '../language/values/once.ts';
import type { ReadPlan } from '../query/plan/plan.ts';

/** Returns the transcoder that writes the rows of a plan. */
const transcoderOf = derivedOnce(({ fields }: ReadPlan) => createTranscoder(fields));

/** Rows that are collected into the value of one root field. */
export interface CollectedRows extends RowSink {
  readonly items: number;
  readonly bytes: number;
  /** The bytes; the same again when called again. */
  end(): Buffer;
}

/**
 * The value of one root field, between the text in front of it and the one after it.
 *
 * A writer that has begun and not ended owns a slab of memory. So nothing is written before the first row, and `end` is
 * called with the last one. Each of the many answers in one packet then uses the slab of the one before.
 */
export class SplicedRows implements CollectedRows {
  items = 0;
  readonly #out = new ByteWriter();
  readonly #transcode: Transcoder;
  readonly #many: boolean;
  readonly #prefix: Buffer;
  readonly #suffix: Buffer;
  #started = false;
  #ended: Buffer | undefined;

  constructor(plan: ReadPlan, prefix: Buffer = nothing, suffix: Buffer = nothing) {
    this.#transcode = transcoderOf(plan);
    this.#many = plan.many;
    this.#prefix = prefix;
    this.#suffix = suffix;
  }

  row(buffer: Buffer, offset: number): void {
    this.#start();
    if (this.items++ > 0) this.#put(comma);
    this.#transcode(buffer, offset, this.#out);
  }

  get bytes(): number {
    return this.#ended?.length ?? this.#out.length;
  }

  /** The bytes; without a row, one item is null. The same again when called again. */
  end(): Buffer {
    this.#ended ??= this.#complete();
    return this.#ended;
  }

  #complete(): Buffer {
    this.#start();
    if (this.#many) this.#put(closingBracket);
    else if (this.items === 0) this.#out.append(nullText);
    this.#out.append(this.#suffix);
    return this.#out.takeBytes();
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#out.append(this.#prefix);
    if (this.#many) this.#put(bracket);
  }

  #put(byte: number): void {
    this.#out.reserve(1);
    this.#out.bytes[this.#out.position++] = byte;
  }
}

const nothing = Buffer.alloc(0);
export const nullText = Buffer.from('null');
const comma = 44;
const bracket = 91;
const closingBracket = 93;

/** The text in front of the value of an operation's only root field, and the one after it. */
export function frameOf(key: string): { readonly prefix: Buffer; readonly suffix: Buffer } {
  return { prefix: Buffer.from(`{"data":{${JSON.stringify(key)}:`), suffix: Buffer.from('}}') };
}

export interface FieldValue {
  readonly key: string;
  readonly json: Buffer;
}

/** Puts an answer together. `values` null: an error reached the root. Values of failed fields are null already. */
export function spliceAnswer(values: readonly FieldValue[] | null, failures: readonly FieldFailure[]): Buffer {
  const out = new ByteWriter();
  const errors = failures.length === 0 ? '' : `"errors":${printErrors(failures)},`;
  out.append(Buffer.from(`{${errors}"data":${values === null ? 'null}' : '{'}`));
  if (values === null) return out.takeBytes();
  for (const [index, { key, json }] of values.entries()) {
    out.append(Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(key)}:`));
    out.append(json);
    giveBack(json);
  }
  out.append(Buffer.from('}}'));
  return out.takeBytes();
}

export interface FieldFailure {
  /** Response name. */
  readonly key: string;
  /** Every place of the document that asks for it. */
  readonly nodes: readonly FieldNode[];
  readonly error: PlatformError;
  /** True if the caller is told names that do not exist. Default: false. */
  readonly namesMissing?: boolean | undefined;
}

/** Prints the member `errors` of an answer: one entry per error, each with its place. */
function printErrors(failures: readonly FieldFailure[]): string {
  const entries = failures.flatMap(({ key, nodes, error, namesMissing }) =>
    [error, ...error.others].map((listed): JsonValue => {
      const locations = locationsOf(nodes);
      return {
        message: messageOf(listed, namesMissing),
        ...(locations.length > 0 && { locations }),
        path: [key],
        extensions: { code: listed.code, ...listed.extensions },
      };
    }),
  );
  return JSON.stringify(entries);
}

function locationsOf(nodes: readonly FieldNode[]): readonly { readonly line: number; readonly column: number }[] {
  return nodes.flatMap(({ loc }) => {
    if (loc === undefined) return [];
    const { line, column } = getLocation(loc.source, loc.start);
    return { line, column };
  });
}
