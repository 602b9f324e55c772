/**
 * New items with new items below and above them, as one statement: an INSERT for each group, which finds the keys that its items
 * hold in what those before it return, and the answer read from what all of them return.
 */
import type { FieldDescriptor } from '../../contract/index.ts';
import type { Statement } from '../../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../../json/answer.ts';
import type { Binder, ReadPlan } from '../../query/plan.ts';
import type { PlanCache } from '../../query/plan-cache.ts';
import { type PrintedOwn, printOwn } from '../../query/plan-returned.ts';
import { answerList } from '../../query/plan-selection.ts';
import { fieldOfColumn } from '../../sql/cell.ts';
import { createStatement, type StatementBuilder } from '../../sql/statement.ts';
import { checksOf, type Written } from '../checks.ts';
import { createInputs, type InputColumn, type Inputs } from '../inputs.ts';
import { assignMany } from '../plan-create.ts';
import { type Drafting, inputTable, nameStatement, transactionNumber } from '../statement.ts';
import type { Group } from './group.ts';
import { readOfTree } from './read-tree.ts';

/**
 * A planned tree. Every row of its answer is an item at the top: the transaction's number, how many items each group below
 * has got, all as texts, whether the caller may read the item, and what he reads of it.
 */
export interface TreePlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** For each group in its order, what it takes. */
  readonly sources: readonly Inputs['sources'][];
  readonly answer: AnswerWriter;
}

/** Trees by their shape; null for one that takes several statements. */
export type TreePlanCache = PlanCache<TreePlan | null>;

/** A group of new items as far as its statement depends on it. */
export interface NewGroup {
  readonly group: Group;
  /** The groups whose keys its items hold, each by its place among all. */
  readonly holds: readonly { readonly place: number; readonly on: readonly HeldColumn[] }[];
  readonly written: Written;
}

/** A column of the items that hold a key, and the column of the others that it holds. */
export interface HeldColumn {
  readonly column: string;
  readonly of: string;
}

/**
 * Plans a tree of new items, each group behind those whose keys it holds; `many` tells whether the body is an array. Null where it
 * takes several statements.
 */
export function planTree(groups: readonly NewGroup[], root: Group, read: ReadPlan, many: boolean): TreePlan | null {
  const at = groups.findIndex(({ group }) => group === root);
  const top = groups[at];
  if (top === undefined || read.whole === undefined || !groups.every((one) => isSimple(groups, one))) return null;
  const { scope } = top.written;
  const names = groups.map(({ written }) => written.writable.collection.descriptor.name);
  // A collection that is written in two places would have to be read from both.
  if (new Set(names).size < names.length) return null;
  const rows = new Map(names.map((name, place) => [name, rowsOf(place)]));
  const whole = readOfTree(scope, read.whole, root, rows);
  if (whole === undefined) return null;
  const statement = createStatement(new Map(), scope.open.dialect);
  const alias = statement.alias();
  const printed = printOwn(statement, whole, (quoted) => `${alias}.${quoted}`);
  const counts = groups.flatMap((_, place) => {
    return place === at ? [] : [`(SELECT pg_catalog.count(*)::pg_catalog.text FROM ${rowsOf(place)})`];
  });
  const first = [transactionNumber, ...counts, `(${printed.visible}) IS TRUE`];
  const columns = answerList(statement, first, printed.expressions, printed.fields);
  const from = many ? `${numberedOf(at)} ${alias} ORDER BY ${alias}.${itemPlace}` : `${rowsOf(at)} ${alias}`;
  const sources: Inputs['sources'][] = [];
  const alone = many ? undefined : at;
  const inserts = groups.map((one, place) =>
    printInsert(statement, groups, one, place, { at, alone, printed, sources }),
  );
  const { text, binders, forms } = statement.finish(`WITH ${inserts.join(', ')} SELECT ${columns} FROM ${from}`);
  return {
    statement: { ...nameStatement(text, forms), brief: true },
    binders,
    sources,
    answer: createAnswerWriter(read),
  };
}

/** Whether nothing is left to judge about the rows of a group, and nobody but the statement has a part in them. */
function isSimple(groups: readonly NewGroup[], { written, holds }: NewGroup): boolean {
  const { descriptor } = written.writable.collection;
  if (checksOf(written).length > 0 || descriptor.amended === true || descriptor.system === true) return false;
  const columns = holds.flatMap(({ on }) => on.map(({ column }) => column));
  // Two relations may share a column, but then they have to agree.
  if (new Set(columns).size < columns.length || heldBy(columns, written).length < columns.length) return false;
  return holds.every(({ place, on }) => {
    const fields = groups[place]?.written.writable.collection.descriptor.fields ?? [];
    // What is null leads nowhere.
    return on.every(({ of }) => fieldOfColumn(fields, of)?.nullable === false);
  });
}

/** The fields behind columns that hold keys. */
function heldBy(columns: readonly string[], { writable }: Pick<Written, 'writable'>): readonly FieldDescriptor[] {
  return columns.flatMap((column) => fieldOfColumn(writable.collection.descriptor.fields, column) ?? []);
}

/** What the rows of a group are called that its INSERT returns, and the same with their places. */
const rowsOf = (place: number): string => `w${place}`;
const numberedOf = (place: number): string => `n${place}`;

/** The column that counts them from 1: no column of a table is likely to be called that. */
const itemPlace = '"# of item"';

interface Printing {
  /** The place of the top. */
  readonly at: number;
  /** The same where there is one item at the top, so that everything right below it is its. */
  readonly alone: number | undefined;
  readonly printed: PrintedOwn;
  /** Takes what each group takes. */
  readonly sources: Inputs['sources'][];
}

function printInsert(
  statement: StatementBuilder,
  groups: readonly NewGroup[],
  { holds, written }: NewGroup,
  place: number,
  { at, alone, printed, sources }: Printing,
): string {
  const inputs = createInputs(statement, sources.flat().length);
  sources.push(inputs.sources);
  const linked = holds.flatMap(({ on }, of) => on.map((pair) => ({ ...pair, value: `p${of}.${pair.of}` })));
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
  const own = columns.filter(({ source }) => !('column' in source) || !isHeld(written, held, source.column));
  const places = holds.flatMap((one, of): readonly InputColumn[] => {
    return one.place === alone ? [] : [{ name: `o${of}`, source: { kind: 'place', of }, native: 'pg_catalog.int4' }];
  });
  const joins = holds.map((one, of) => {
    if (one.place === alone) return ` CROSS JOIN ${rowsOf(one.place)} p${of}`;
    return ` JOIN ${numberedOf(one.place)} p${of} ON p${of}.${itemPlace} = i.o${of}`;
  });
  const { descriptor } = written.writable.collection;
  const list = assigned.length === 0 ? '' : ` (${assigned.map(({ field }) => field.column).join(', ')})`;
  const values = assigned.map(({ value }) => ` ${value}`).join(',');
  const from = `${inputTable(drafting, [...own, ...places], 'i')}${joins.join('')}`;
  const holders = groups.flatMap((one) => one.holds.filter((link) => link.place === place));
  const text = printed.expressions.join() + printed.visible;
  const named = descriptor.fields.flatMap(({ column }) => (text.includes(column) ? [column] : []));
  const keys = holders.flatMap(({ on }) => on.map(({ of }) => of));
  const returned = [...new Set([...named, ...keys])];
  const insert = `INSERT INTO ${descriptor.table}${list} SELECT${values} FROM ${from} ORDER BY i.n RETURNING ${returned.length === 0 ? '1' : returned.join(', ')}`;
  const isNumbered = place !== alone && (place === at || holders.length > 0);
  const numbered = `, ${numberedOf(place)} AS (SELECT *, pg_catalog.row_number() OVER () AS ${itemPlace} FROM ${rowsOf(place)})`;
  return `${rowsOf(place)} AS (${insert})${isNumbered ? numbered : ''}`;
}

function isHeld({ columns }: Written, held: readonly FieldDescriptor[], place: number): boolean {
  const field = columns[place]?.field.descriptor;
  return field !== undefined && held.includes(field);
}
