import type { FilterProblem, Operand } from '@tablewright/runtime/language';
import { followCallerPath, parseOperand, plainOperand, textOfDigits } from '@tablewright/runtime/language';
import type { PresetSource } from '../../config/permissions/permission-document.ts';
import { exactValue } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { suggest } from '../../did-you-mean.ts';
import type { Collection, Column, Field, Permission, Table } from '../../schema.ts';
import { findMisspeltValues, literalMisfit, nowMisfit, pathMisfit } from './misfits.ts';
import { type ConditionNames, hintForStep } from './resolve-condition.ts';

type Preset = Permission['presets'][number];

/** Reads the values that a rule sets. Fields must exist and be writable, values must fit their type and its limits. */
export function readPresets(
  presets: readonly PresetSource[],
  collection: Collection,
  table: Table | undefined,
  names: ConditionNames,
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
    const value = exactValue(preset.value);
    const parsed = parseOperand(field.type === 'string' || field.type === 'text' ? textOfDigits(value) : value);
    const reason = parsed.ok ? misfit(field, column, parsed.operand, names) : { message: parsed.message };
    if (reason !== null) diagnostics.push(wrongPreset(preset, reason, names));
    return parsed.ok && reason === null
      ? [{ field: field.name, value: plainOperand(parsed.operand, field.type === 'json' ? 'json' : 'field') }]
      : [];
  });
}

type Misfit = Pick<FilterProblem, 'message' | 'name'>;

/** Why a field cannot take an operand, as the end of a sentence; null when it can. */
function misfit(field: Field, column: Column | undefined, operand: Operand, names: ConditionNames): Misfit | null {
  const message = fieldMisfit(field, column, operand);
  if (message !== null) return { message };
  if (operand.kind !== 'caller' || operand.path.length === 0) return null;
  const found = followCallerPath(names.filter, operand);
  if ('stage' in found) return found;
  const reason = pathMisfit(field, column, found);
  return reason === null ? null : { message: reason };
}

function fieldMisfit(field: Field, column: Column | undefined, operand: Operand): string | null {
  if (field.type === 'unknown' || (column !== undefined && !isWritable(column))) return unwritable(column);
  if (operand.kind === 'literal') return literalMisfit(field, column, operand.value);
  return operand.kind === 'now' ? nowMisfit(field) : null;
}

function unwritable(column: Column | undefined): string {
  const completed = column !== undefined && column.fill.kind !== 'none';
  return completed ? 'is a field that the database fills by itself' : 'is a field that cannot be written';
}

function isWritable({ fill, updatable }: Column): boolean {
  return updatable && fill.kind !== 'generated' && !(fill.kind === 'identity' && fill.always);
}

function unknownPreset({ field: { name, place: location } }: PresetSource, collection: Collection): Diagnostic {
  const message = `The collection "${collection.name}" has no field "${name}" that a preset can set.`;
  const hint = suggest(
    name,
    collection.fields.map((field) => field.name),
  );
  return { code: 'unknown-field', severity: 'error', place: location, message, hint };
}

function wrongPreset({ field, value }: PresetSource, { message, name }: Misfit, names: ConditionNames): Diagnostic {
  return {
    code: name === undefined ? 'preset-value' : 'dynamic-value',
    severity: 'error',
    place: value.place,
    message: `The preset "${field.name}" ${message}.`,
    hint: name === undefined ? null : hintForStep(name, names.collections),
  };
}
