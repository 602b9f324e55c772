/** Values that new items get although neither they nor the database bring them: they are drawn before the items are made. */
import { randomUUID } from 'node:crypto';
import type { FieldDescriptor, Operand } from '../../language/index.ts';
import type { Written } from '../checks/check.ts';
import { presetsOf } from '../checks/presets.ts';
import type { InputColumn, Source } from './inputs.ts';
import { keysOf } from './statement.ts';

/** A field that gets one where an item brings none. */
export interface DrawnField {
  readonly field: FieldDescriptor;
  /** The column of input that holds them. */
  readonly input: InputColumn;
  /** Value that a rule sets, the same for all items; absent where each item gets a new identifier. */
  readonly preset?: Operand;
}

/**
 * The fields of new items whose values are drawn. Identifiers, where the database's own would reveal the time and the
 * machine, and neither all items nor rules bring one. Also parts of the key that a rule sets, where the server does not
 * return the written values.
 */
export function drawnFields(written: Written): readonly DrawnField[] {
  const { fields } = written.writable.collection.descriptor;
  const presets = new Map(presetsOf({ written }).map((preset) => [preset.field.name, preset.values[0]?.value]));
  const complete = new Set(written.columns.flatMap(({ field, complete }) => (complete ? [field.descriptor.name] : [])));
  const untold = written.scope.open.dialect.input.returning ? [] : keysOf(written).map(({ name }) => name);
  const drawn = fields.flatMap((field) => {
    const { name } = field;
    const preset = presets.get(name);
    const isDrawn = preset === undefined ? field.random === true : untold.includes(name);
    return isDrawn && !complete.has(name) ? [{ field, ...(preset && { preset }) }] : [];
  });
  return drawn.map((drawnField, index) => {
    const source: Source = { kind: 'drawn', field: index };
    return { ...drawnField, input: { name: `r${index}`, source, native: drawnField.field.native, stored: true } };
  });
}

/** Identifiers for so many items, or what a rule sets for each of them, by the fields that a statement's sources name. */
export function draw(
  sources: readonly Source[],
  items: number,
  preset: ReadonlyMap<number, string | null>,
): readonly (readonly (string | null)[])[] {
  return sources
    .filter((source) => source.kind === 'drawn')
    .map(({ field }) => {
      const same = preset.get(field);
      return Array.from({ length: items }, () => (same === undefined ? randomUUID() : same));
    });
}
