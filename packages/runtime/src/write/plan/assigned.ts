/** Columns of an UPDATE with the expressions that they get. */
import { sqlTrue } from '../../dialects/fragment.ts';
import type { FieldDescriptor } from '../../language/index.ts';
import { type Preset, presetsOf, printPreset } from '../checks/presets.ts';
import { type InputColumn, listInput, scalarInput, typedAsStored } from './inputs.ts';
import type { Drafting } from './statement.ts';

/** A column and what it gets. */
export interface Assigned {
  readonly field: FieldDescriptor;
  readonly value: string;
}

/** The stored row of an UPDATE. */
export interface Stored {
  column(quoted: string): string;
  /** SQL predicate that is true if a rule matches the row; null if there is one rule, which WHERE has checked. */
  readonly match: ((rule: number) => string) | null;
}

/** Assigns data that is the same for all items, each value as `give` prints it, and presets. */
export function assignShared(
  drafting: Drafting,
  stored: Stored,
  assign = (field: FieldDescriptor, index: number) => scalarInput(drafting.inputs, field, index),
): readonly Assigned[] {
  const payloadColumns = drafting.written.columns.map(({ field: { descriptor } }, index): Assigned => {
    return { field: descriptor, value: assign(descriptor, index) };
  });
  return [...payloadColumns, ...assignPresets(drafting, stored)];
}

/** Assigns the arrays of the input table `i` and presets. Where an item lacks a field it keeps the stored value. */
export function assignEach(
  drafting: Drafting,
  stored: Stored,
): { readonly assigned: readonly Assigned[]; readonly arrays: readonly InputColumn[] } {
  const byName = new Map(presetsOf(drafting).map((preset) => [preset.field.name, preset]));
  const arrays: InputColumn[] = [];
  const payloadColumns = drafting.written.columns.map(({ field: { descriptor }, complete }, index): Assigned => {
    arrays.push(listInput(`c${index}`, descriptor, index));
    const value = drafting.statement.dialect.input.stored(`i.c${index}`, descriptor);
    if (complete) return { field: descriptor, value };
    const preset = byName.get(descriptor.name);
    const kept = preset === undefined ? stored.column(descriptor.column) : presetValue(drafting, preset, stored);
    const typed = typedAsStored(drafting.statement, `(${kept})`, descriptor);
    return { field: descriptor, value: `CASE WHEN i.p${index} THEN ${value} ELSE ${typed} END` };
  });
  return { assigned: [...payloadColumns, ...assignPresets(drafting, stored)], arrays };
}

/** Presets of fields that no item has. */
function assignPresets(drafting: Drafting, stored: Stored): readonly Assigned[] {
  const names = new Set(drafting.written.columns.map(({ field }) => field.descriptor.name));
  return presetsOf(drafting)
    .filter(({ field }) => !names.has(field.name))
    .map((preset) => ({ field: preset.field, value: presetValue(drafting, preset, stored) }));
}

/** The value of the first rule that matches the stored row and sets the field; else the stored one. */
function presetValue(drafting: Drafting, { field, values }: Preset, { column, match }: Stored): string {
  const [first] = values;
  if (match === null && first !== undefined) return printPreset(drafting, field, first.value);
  const cases = values.map(
    ({ rule, value }) => `WHEN ${match?.(rule) ?? sqlTrue} THEN ${printPreset(drafting, field, value)}`,
  );
  const kept = typedAsStored(drafting.statement, column(field.column), field);
  return `CASE ${cases.join(' ')} ELSE ${kept} END`;
}

/** The list after SET. */
export function assignments(assigned: readonly Assigned[]): string {
  return assigned.map(({ field, value }) => `${field.column} = ${value}`).join(', ');
}
