/**
 * Values that rules set under a payload, and in rows that they let be archived or removed. Source: API specification,
 * sections 8.2 and 8.3.
 */
import { allOf, anyOf, castStored } from '../../dialects/fragment.ts';
import {
  type AccessRule,
  type FieldDescriptor,
  type Operand,
  systemCollection,
  type WriteRule,
} from '../../language/index.ts';
import { isLive } from '../../sql/archived/other-rows.ts';
import { archivingValue } from '../../sql/archived/rows-by-state.ts';
import { printPath, printPresence } from '../../sql/caller-path.ts';
import { operandType, printValue } from '../../sql/operand.ts';
import type { Printing, Row, StatementBuilder } from '../../sql/row.ts';
import { ruleHolds } from '../../sql/rules.ts';
import { type Drafting, keysOf } from '../plan/statement.ts';
import type { CheckedRow, Written } from './check.ts';

/** The rules that set a field, in their order. */
export interface Preset {
  readonly field: FieldDescriptor;
  readonly values: readonly { readonly rule: number; readonly value: Operand }[];
}

/** The fields that the rules of a grant set, in the order of the collection's fields. Keys are set when an item is made. */
export function presetsOf({
  written,
}: {
  readonly written: Pick<Written, 'grant' | 'writable' | 'action'>;
}): readonly Preset[] {
  const { grant, writable, action } = written;
  const keys = new Set(action === 'update' ? keysOf(written).map(({ name }) => name) : []);
  const { descriptor } = writable.collection;
  // The server sets the owner of new rows after their INSERT, and conditions about them have to find it before.
  const owner = action === 'create' && descriptor.system === true && systemCollection(descriptor.name)?.owner;
  return descriptor.fields.flatMap((field) => {
    const values = grant.rules.flatMap(({ presets }, rule) =>
      presets.flatMap((preset) => (preset.field === field.name ? [{ rule, value: preset.value }] : [])),
    );
    const isSet = field.writable || field.name === owner;
    return values.length === 0 || !isSet || keys.has(field.name) ? [] : [{ field, values }];
  });
}

/** SQL predicate that is true if every value exists that a rule sets by a path from the caller: without one it does not apply. */
export function presetsHold(printing: Printing, { presets }: WriteRule): string {
  return allOf(
    presets.flatMap(({ value }) =>
      value.kind === 'caller' && value.path.length > 0 ? [printPresence(printing, value)] : [],
    ),
  );
}

/** SQL predicate that is true if a rule matches a live stored row, and the values of its presets exist. */
export function ruleMatches(row: Row, rule: WriteRule): string {
  return allOf([isLive(row), ruleHolds(row, rule.where), presetsHold(row, rule)]);
}

/** A new row as the server completes it when it is there: what is judged before has to be so, too. */
export function completedRow(written: Written, judged: CheckedRow): CheckedRow {
  const { descriptor } = written.writable.collection;
  const completed = descriptor.system === true ? systemCollection(descriptor.name)?.completed : undefined;
  if (completed === undefined || written.action !== 'create') return judged;
  const { row } = judged;
  const column = (quoted: string): string => {
    const field = descriptor.fields.find((candidate) => candidate.column === quoted);
    const by = field === undefined || !Object.hasOwn(completed, field.name) ? undefined : completed[field.name];
    if (field === undefined || by === undefined) return row.column(quoted);
    if (by === 'user')
      return printPreset({ statement: row.statement, written }, field, { kind: 'caller', of: 'user', path: [] });
    const settings = written.scope.open.collections.get(by.collection)?.descriptor;
    const set = settings?.fields.find(({ name }) => name === by.field);
    const isSent = written.columns.some(({ field: { descriptor } }) => descriptor.name === field.name);
    if (isSent || settings === undefined || set === undefined) return row.column(quoted);
    return `(SELECT ${set.column} FROM ${row.statement.table(settings.table)} LIMIT 1)`;
  };
  return { ...judged, row: { ...row, column } };
}

interface PresetPrinting {
  readonly statement: StatementBuilder;
  readonly written: Pick<Written, 'scope'>;
}

export function printPreset({ statement, written }: PresetPrinting, field: FieldDescriptor, value: Operand): string {
  if (value.kind === 'literal' && value.value === null) return 'NULL';
  const printed = printSource({ statement, scope: written.scope.open }, field, value);
  return field.stored === undefined ? printed : castStored(`(${printed})`, field);
}

function printSource(printing: Printing, field: FieldDescriptor, value: Operand): string {
  const type = operandType(field);
  if (value.kind !== 'caller' || value.path.length === 0) return printValue(printing.statement, type, '_eq', value);
  const path = printPath(printing, value, () => false);
  return path === undefined ? 'NULL' : printing.statement.dialect.input.typed(path.expression, type.native);
}

/** The rules by which rows are removed. `purge`: for good, archived ones as well. */
export interface Removal {
  readonly rules: readonly AccessRule[];
  readonly purge: boolean;
}

/** A removal as a statement prints it. */
export interface Removed {
  /** SQL predicate that is true on rows that may be removed. */
  allowedOn(row: Row): string;
  /** Assignment that archives a row, with something before its column; null where rows are deleted. */
  readonly sets: ((before: string) => string) | null;
}

export function removal(drafting: Drafting, { rules, purge }: Removal): Removed {
  const { descriptor } = drafting.written.writable.collection;
  const field = purge ? undefined : descriptor.fields.find(({ name }) => name === descriptor.softDelete?.field);
  return {
    allowedOn: (row) => removable(row, { rules, purge }),
    sets:
      field === undefined
        ? null
        : (before) => `${before}${field.column} = ${printPreset(drafting, field, archivingValue(descriptor))}`,
  };
}

/** SQL predicate that is true on rows that rules allow to remove: live ones, unless they are purged. */
export function removable(row: Row, { rules, purge }: Removal): string {
  return allOf([...(purge ? [] : [isLive(row)]), anyOf(rules.map(({ where }) => ruleHolds(row, where)))]);
}
