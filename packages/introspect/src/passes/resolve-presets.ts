import type { JsonValue, Operand } from '@platform/runtime/contract';
import { decodeValue, parseOperand } from '@platform/runtime/contract';
import type { PresetSource } from '../config/permission-document.ts';
import type { Diagnostic } from '../diagnostic.ts';
import { suggest } from '../did-you-mean.ts';
import type { Collection, Column, Field, Permission, Table } from '../schema.ts';
import { namedField } from './filter-names.ts';
import { findMisspeltValues } from './misspelt-values.ts';

type Preset = Permission['presets'][number];

/** Reads the values that a rule sets. Fields must exist and be writable, literals must fit their type. */
export function readPresets(
  presets: readonly PresetSource[],
  collection: Collection,
  table: Table | undefined,
  diagnostics: Diagnostic[],
): readonly Preset[] {
  return presets.flatMap((preset) => {
    const field = collection.fields.find(({ name }) => name === preset.field.name);
    if (field === undefined) {
      diagnostics.push(unknownPreset(preset, collection));
      return [];
    }
    const column = table?.columns.find(({ name }) => name === field.column);
    diagnostics.push(...findMisspeltValues(preset.value));
    const parsed = parseOperand(preset.value.value);
    const reason = parsed.ok ? misfit(field, column, parsed.operand) : parsed.message;
    if (reason !== null) diagnostics.push(wrongPreset(preset, reason));
    return parsed.ok && reason === null ? [{ field: field.name, value: parsed.operand }] : [];
  });
}

/** Why a field cannot take an operand, as the end of a sentence; null when it can. */
function misfit(field: Field, column: Column | undefined, operand: Operand): string | null {
  if (column !== undefined && !isWritable(column)) return 'is a field that the database fills by itself';
  return operand.kind === 'literal' ? literalMisfit(field, column, operand.value) : null;
}

function isWritable({ fill, updatable }: Column): boolean {
  return updatable && fill.kind !== 'generated' && !(fill.kind === 'identity' && fill.always);
}

function literalMisfit(field: Field, column: Column | undefined, value: JsonValue): string | null {
  if (value === null) return column?.nullable === false ? 'must not be null' : null;
  const decoded = decodeValue(namedField(field, column?.type), value);
  return decoded.ok ? null : decoded.message;
}

function unknownPreset({ field: { name, place } }: PresetSource, collection: Collection): Diagnostic {
  const message = `The collection "${collection.name}" has no field "${name}" that a preset can set.`;
  const hint = suggest(
    name,
    collection.fields.map((field) => field.name),
  );
  return { code: 'unknown-field', severity: 'error', place, message, hint };
}

function wrongPreset({ field, value }: PresetSource, reason: string): Diagnostic {
  const message = `The preset "${field.name}" ${reason}.`;
  return { code: 'preset-value', severity: 'error', place: value.place, message, hint: null };
}
