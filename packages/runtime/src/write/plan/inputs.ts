/** The parameters of a write: where each finds its value when the statement runs. */
import { castStored, hasParts } from '../../dialects/fragment.ts';
import { arrayLiteral, type FieldDescriptor } from '../../language/index.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import type { Batch } from '../decode/batch.ts';
import type { Keys } from '../decode/keys.ts';

/** Source of the value of a parameter. Columns are those of the batch by their positions. */
export type Source =
  /** A part of the key: one value for one item, else an array. */
  | { readonly kind: 'key'; readonly part: number }
  /** The value of the first item. */
  | { readonly kind: 'value'; readonly column: number }
  | { readonly kind: 'values'; readonly column: number }
  /** An array with a generated value for each item, for one of the fields that get such values. */
  | { readonly kind: 'drawn'; readonly field: number }
  /** Items that have the field, as an array. */
  | { readonly kind: 'present'; readonly column: number }
  /** Stored rows that a rule matched, as an array that an earlier statement answered; `allowed`: those that may be changed. */
  | { readonly kind: 'matched'; readonly rule: number | typeof allowed }
  /** Number of items. */
  | { readonly kind: 'count' }
  /** For items that hold keys of items made by the same statement: their positions; `of` counts relations. */
  | { readonly kind: 'place'; readonly of: number };

/** The position, among those of rules, of what all of them together say of a row. */
export const allowed = -1;

export interface WriteValues {
  readonly batch: Batch;
  readonly keys: Keys | null;
  /** By the positions of rules. */
  readonly matched: ReadonlyMap<number, string>;
  /** By the fields that get what is drawn; made anew for every statement. */
  readonly drawn?: readonly (readonly (string | null)[])[];
  /** By relations to others that the same statement makes: the position of the one whose key each item holds, from 1. */
  readonly places?: readonly (readonly number[])[];
}

/** Hands out the parameters of one statement. */
export type Inputs = ReturnType<typeof createInputs>;

/** Starts the inputs of a statement, or of a part of it whose values stand after others: so many. */
export function createInputs(statement: StatementBuilder, before = 0) {
  const sources: Source[] = [];
  const add = (source: Source): number => before + sources.push(source) - 1;
  return {
    sources,
    /** Index of a source among the values of the statement. */
    place: add,
    /** A placeholder with its cast for a value of that source. */
    take: (source: Source, native: string): string =>
      statement.parameter({ kind: 'value', index: add(source) }, native),
  };
}

export function valuesOf(sources: readonly Source[], values: WriteValues): readonly (string | null)[] {
  return sources.map((source) => readSource(source, values));
}

function readSource(source: Source, values: WriteValues): string | null {
  const { batch, keys, matched, drawn, places = [] } = values;
  switch (source.kind) {
    case 'key':
      return keys?.values[source.part] ?? null;
    case 'value':
      return batch.columns[source.column]?.values[0] ?? null;
    case 'values':
      return arrayLiteral(batch.columns[source.column]?.values ?? []);
    case 'drawn':
      return arrayLiteral(drawn?.[source.field] ?? []);
    case 'present':
      return arrayLiteral((batch.columns[source.column]?.present ?? []).map(String));
    case 'matched':
      return matched.get(source.rule) ?? null;
    case 'count':
      return String(batch.count);
    case 'place':
      return arrayLiteral((places[source.of] ?? []).map(String));
  }
}

/** Types an expression as a field is stored. A form with a place for the value is no type: what it makes has one. */
export function typedAsStored({ dialect }: StatementBuilder, expression: string, { stored, native }: FieldDescriptor) {
  return stored?.includes('{}') ? expression : dialect.input.typed(expression, stored ?? native);
}

export function scalarInput(inputs: Inputs, field: FieldDescriptor, column: number): string {
  const value = inputs.take({ kind: 'value', column }, field.native);
  return field.stored === undefined ? value : castStored(value, field);
}

/** Several values of a field, as a column of input. Arrays in arrays and composites go as their texts. */
export function listInput(name: string, field: FieldDescriptor, column: number): InputColumn {
  const native = hasParts(field) ? 'pg_catalog.text' : field.native;
  return { name, source: { kind: 'values', column }, native, stored: true };
}

/** A column of an input table: the name, source and SQL type of its elements. */
export interface InputColumn {
  readonly name: string;
  readonly source: Source;
  readonly native: string;
  /** As that of `InputField`. */
  readonly cast?: string;
  /** True if its values are stored, and not compared with stored ones. */
  readonly stored?: true;
}
