/** The INSERTs of a tree of new items, each of which finds the keys that its items hold in what those before it return. */
import type { FieldDescriptor } from '../../../language/index.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import { hasLateValues, type StatementBuilder } from '../../../sql/row.ts';
import type { Written } from '../../../write/checks/check.ts';
import { checksOf } from '../../../write/checks/checks.ts';
import { createInputs, type InputColumn, type Inputs } from '../../../write/plan/inputs.ts';
import { assignMany } from '../../../write/plan/plan-create.ts';
import { type Drafting, inputTable } from '../../../write/plan/statement.ts';
import type { Group } from '../../../write/tree/parse/group.ts';

/** A group of new items as far as its statement depends on it. */
export interface NewGroup {
  readonly group: Group;
  /** The groups whose keys its items hold, each by its position among all. */
  readonly holds: readonly { readonly place: number; readonly on: readonly HeldColumn[] }[];
  readonly written: Written;
}

/** A column of the items that hold a key, and the column of the others that it holds. */
export interface HeldColumn {
  readonly column: string;
  readonly of: string;
}

/** True if no checks are left for the rows of a group, and neither triggers nor system hooks take part in the write. */
export function isSimple(groups: readonly NewGroup[], { written, holds }: NewGroup): boolean {
  const { descriptor } = written.writable.collection;
  if (checksOf(written).length > 0 || hasLateValues(descriptor) || descriptor.system === true) return false;
  const columns = holds.flatMap(({ on }) => on.map(({ column }) => column));
  // Two relations may share a column, but then they have to agree.
  if (new Set(columns).size < columns.length || heldBy(columns, written).length < columns.length) return false;
  return holds.every(({ place: index, on }) => {
    const fields = groups[index]?.written.writable.collection.descriptor.fields ?? [];
    // A null value leads nowhere.
    return on.every(({ of: column }) => fieldOfColumn(fields, column)?.nullable === false);
  });
}

/** The fields behind columns that hold keys. */
function heldBy(columns: readonly string[], { writable }: Pick<Written, 'writable'>): readonly FieldDescriptor[] {
  return columns.flatMap((column) => fieldOfColumn(writable.collection.descriptor.fields, column) ?? []);
}

/** Alias of the rows that the INSERT of a group returns, and of the same rows with their positions. */
export const rowsOf = (index: number): string => `w${index}`;
export const numberedOf = (index: number): string => `n${index}`;

/** The column that counts them from 1: no column of a table is likely to be called that. */
export const itemPlace = '"# of item"';

interface Printing {
  /** The position of the group that is known to have one item: everything right below it is its. */
  readonly alone: number | undefined;
  /** True if the positions of a group's items are needed even though no item holds their keys. */
  readonly numbered: boolean;
  /** True if a column is needed for more than the keys that other items hold. */
  readonly isRead: (column: string) => boolean;
  /** Takes what each group takes. */
  readonly sources: Inputs['sources'][];
}

/** Prints the INSERT of a group, as parts of WITH; its rows have the columns that are needed of them. */
export function printInsert(
  statement: StatementBuilder,
  groups: readonly NewGroup[],
  { holds, written }: NewGroup,
  index: number,
  { alone, numbered: numbersRows, isRead, sources }: Printing,
): string {
  const inputs = createInputs(statement, sources.flat().length);
  sources.push(inputs.sources);
  const linked = holds.flatMap(({ on }, hold) => on.map((pair) => ({ ...pair, value: `p${hold}.${pair.of}` })));
  const held = heldBy(
    linked.map(({ column }) => column),
    written,
  );
  const drafting: Drafting = { statement, inputs, written };
  const { assigned: all, columns } = assignMany(drafting);
  const assigned = [
    ...all.filter(({ field }) => !held.includes(field)),
    ...held.map((field) => ({ field, value: linked.find(({ column }) => column === field.column)?.value ?? 'NULL' })),
  ];
  const inputColumns = columns.filter(({ source }) => !('column' in source) || !isHeld(written, held, source.column));
  const places = holds.flatMap((link, hold): readonly InputColumn[] => {
    return link.place === alone
      ? []
      : [{ name: `o${hold}`, source: { kind: 'place', of: hold }, native: 'pg_catalog.int4' }];
  });
  const joins = holds.map((link, hold) => {
    if (link.place === alone) return ` CROSS JOIN ${rowsOf(link.place)} p${hold}`;
    return ` JOIN ${numberedOf(link.place)} p${hold} ON p${hold}.${itemPlace} = i.o${hold}`;
  });
  const { descriptor } = written.writable.collection;
  const list = assigned.length === 0 ? '' : ` (${assigned.map(({ field }) => field.column).join(', ')})`;
  const values = assigned.map(({ value }) => ` ${value}`).join(',');
  const from = `${inputTable(drafting, [...inputColumns, ...places], 'i')}${joins.join('')}`;
  const holders = groups.flatMap((group) => group.holds.filter((link) => link.place === index));
  const named = descriptor.fields.flatMap(({ column }) => (isRead(column) ? [column] : []));
  const keys = holders.flatMap(({ on }) => on.map(({ of: column }) => column));
  const returned = [...new Set([...named, ...keys])];
  const insert = `INSERT INTO ${statement.change(descriptor.table, 'create')}${list} SELECT${values} FROM ${from} ORDER BY i.n RETURNING ${returned.length === 0 ? '1' : returned.join(', ')}`;
  const isNumbered = index !== alone && (numbersRows || holders.length > 0);
  const numbered = `, ${numberedOf(index)} AS (SELECT *, pg_catalog.row_number() OVER () AS ${itemPlace} FROM ${rowsOf(index)})`;
  return `${rowsOf(index)} AS (${insert})${isNumbered ? numbered : ''}`;
}

function isHeld({ columns }: Written, held: readonly FieldDescriptor[], column: number): boolean {
  const field = columns[column]?.field.descriptor;
  return field !== undefined && held.includes(field);
}
