/** Identifiers that new items get where the database's own would tell the time and the machine. */
import { randomUUID } from 'node:crypto';
import type { FieldDescriptor } from '../contract/index.ts';
import type { Written } from './checks.ts';
import type { InputColumn, Source } from './inputs.ts';
import { presetsOf } from './presets.ts';

/** A field that gets one where an item brings none. */
export interface RandomField {
  readonly field: FieldDescriptor;
  /** The column of input that holds them. */
  readonly input: InputColumn;
}

/** The fields of new items for which neither all items nor rules bring a value. */
export function randomFields(written: Written): readonly RandomField[] {
  const { fields } = written.writable.collection.descriptor;
  const random = fields.filter((field) => field.random === true);
  if (random.length === 0) return [];
  const known = new Set([
    ...presetsOf({ written }).map(({ field }) => field.name),
    ...written.columns.flatMap(({ field, complete }) => (complete ? [field.descriptor.name] : [])),
  ]);
  return random
    .filter(({ name }) => !known.has(name))
    .map((field, place) => {
      const source: Source = { kind: 'random', field: place };
      return { field, input: { name: `r${place}`, source, native: field.native, stored: true } };
    });
}

/** Identifiers for so many items, by the fields that a statement's sources name. */
export function drawRandom(sources: readonly Source[], items: number): readonly (readonly string[])[] {
  const fields = sources.filter(({ kind }) => kind === 'random');
  return fields.map(() => Array.from({ length: items }, () => randomUUID()));
}
