/**
 * New items with new items below them, as one statement: an INSERT for each group, which finds the keys of the items above
 * in what the one before it returns, and the answer read from what all of them return.
 */
import type { ColumnPair, FieldDescriptor } from '../../contract/index.ts';
import type { Statement } from '../../database/database.ts';
import { type AnswerWriter, createAnswerWriter } from '../../json/answer.ts';
import type { Binder, ReadPlan } from '../../query/plan.ts';
import type { PlanCache } from '../../query/plan-cache.ts';
import { type PrintedOwn, printOwn } from '../../query/plan-returned.ts';
import { answerList } from '../../query/plan-selection.ts';
import { fieldOfColumn } from '../../sql/cell.ts';
import { createStatement, type StatementBuilder } from '../../sql/statement.ts';
import { checksOf, type Written } from '../checks.ts';
import type { InputColumn, Inputs, Source } from '../inputs.ts';
import { assignMany } from '../plan-create.ts';
import { type Drafting, inputTable, nameStatement, transactionNumber } from '../statement.ts';
import type { Children, Group } from './group.ts';
import { readOfTree } from './read-tree.ts';

/**
 * A planned tree. Every row of its answer is an item at the top: the transaction's number, how many items each group below
 * has got, all as texts, whether the caller may read the item, and what he reads of it.
 */
export interface TreePlan {
  readonly statement: Statement;
  readonly binders: readonly Binder[];
  /** For each group in its order, what it takes. */
  readonly sources: readonly (readonly Source[])[];
  readonly answer: AnswerWriter;
}

/** Trees by their shape; null for one that takes several statements. */
export type TreePlanCache = PlanCache<TreePlan | null>;

/** A group of new items as far as its statement depends on it. */
export interface NewGroup {
  readonly group: Group;
  /** Of a group below another one: the place of that, and the relation that leads here. */
  readonly above?: { readonly place: number; readonly relation: Children['relation'] };
  readonly written: Written;
}

/** Plans a tree of new items, the top first; `many` tells whether the body is an array. Null where it takes several statements. */
export function planTree(groups: readonly NewGroup[], read: ReadPlan, many: boolean): TreePlan | null {
  const [top] = groups;
  if (top === undefined || read.whole === undefined || !groups.every((one) => isSimple(groups, one))) return null;
  const { scope } = top.written;
  const names = groups.map(({ written }) => written.writable.collection.descriptor.name);
  // A collection that is written in two places would have to be read from both.
  if (new Set(names).size < names.length) return null;
  const rows = new Map(names.map((name, place) => [name, rowsOf(place)]));
  const whole = readOfTree(scope, read.whole, top.group, rows);
  if (whole === undefined) return null;
  const statement = createStatement(new Map(), scope.open.dialect);
  const alias = statement.alias();
  const printed = printOwn(statement, whole, (quoted) => `${alias}.${quoted}`);
  const counts = groups.slice(1).map((_, place) => {
    return `(SELECT pg_catalog.count(*)::pg_catalog.text FROM ${rowsOf(place + 1)})`;
  });
  const first = [transactionNumber, ...counts, `(${printed.visible}) IS TRUE`];
  const columns = answerList(statement, first, printed.expressions, printed.fields);
  const from = many ? `${numberedOf(0)} ${alias} ORDER BY ${alias}.${itemPlace}` : `${rowsOf(0)} ${alias}`;
  const sources: Source[][] = [];
  const inserts = groups.map((one, place) => printInsert(statement, groups, one, place, { many, printed, sources }));
  const { text, binders, forms } = statement.finish(`WITH ${inserts.join(', ')} SELECT ${columns} FROM ${from}`);
  return { statement: nameStatement(text, forms), binders, sources, answer: createAnswerWriter(read) };
}

/** Whether nothing is left to judge about the rows of a group, and nobody but the statement has a part in them. */
function isSimple(groups: readonly NewGroup[], { written, above }: NewGroup): boolean {
  const { descriptor } = written.writable.collection;
  if (checksOf(written).length > 0 || descriptor.amended === true || descriptor.system === true) return false;
  if (above === undefined) return true;
  const { on } = above.relation;
  const held = groups[above.place]?.written.writable.collection.descriptor.fields ?? [];
  // What is null leads nowhere.
  const leads = on.every(({ from }) => fieldOfColumn(held, from)?.nullable === false);
  return leads && heldBy(on, written).length === on.length;
}

/** The fields that hold the key of the item above. */
function heldBy(on: readonly ColumnPair[], { writable }: Pick<Written, 'writable'>): readonly FieldDescriptor[] {
  return on.flatMap(({ to }) => fieldOfColumn(writable.collection.descriptor.fields, to) ?? []);
}

/** What the rows of a group are called that its INSERT returns, and the same with their places. */
const rowsOf = (place: number): string => `w${place}`;
const numberedOf = (place: number): string => `n${place}`;

/** The column that counts them from 1: no column of a table is likely to be called that. */
const itemPlace = '"# of item"';

interface Printing {
  readonly many: boolean;
  readonly printed: PrintedOwn;
  /** Takes what each group takes. */
  readonly sources: Source[][];
}

function printInsert(
  statement: StatementBuilder,
  groups: readonly NewGroup[],
  { above, written }: NewGroup,
  place: number,
  { many, printed, sources }: Printing,
): string {
  const taken: Source[] = [];
  const inputs = inputsBehind(statement, sources.flat().length, taken);
  sources.push(taken);
  const on = above?.relation.on ?? [];
  const held = heldBy(on, written);
  const drafting: Drafting = { statement, inputs, written };
  const { assigned: all, columns: every } = assignMany(drafting);
  const columns = every.filter(({ source }) => !('column' in source) || !isHeld(written, held, source.column));
  const assigned = [
    ...all.filter(({ field }) => !held.includes(field)),
    ...held.map((field, part) => ({ field, value: `p.${on[part]?.from}` })),
  ];
  const owners: readonly InputColumn[] = [{ name: 'o', source: { kind: 'owner' }, native: 'pg_catalog.int4' }];
  // There is one item at the top, so everything right below it is its.
  const alone = above?.place === 0 && !many;
  const input = inputTable(drafting, above === undefined || alone ? columns : [...columns, ...owners], 'i');
  const joined =
    above === undefined
      ? ''
      : alone
        ? ` CROSS JOIN ${rowsOf(0)} p`
        : ` JOIN ${numberedOf(above.place)} p ON p.${itemPlace} = i.o`;
  const { descriptor } = written.writable.collection;
  const list = assigned.length === 0 ? '' : ` (${assigned.map(({ field }) => field.column).join(', ')})`;
  const values = assigned.map(({ value }) => ` ${value}`).join(',');
  const below = groups.filter((one) => one.above?.place === place);
  const text = printed.expressions.join() + printed.visible;
  const named = descriptor.fields.flatMap(({ column }) => (text.includes(column) ? [column] : []));
  const keys = below.flatMap(({ above: edge }) => edge?.relation.on.map(({ from }) => from) ?? []);
  const returned = [...new Set([...named, ...keys])];
  const insert = `INSERT INTO ${descriptor.table}${list} SELECT${values} FROM ${input}${joined} ORDER BY i.n RETURNING ${returned.length === 0 ? '1' : returned.join(', ')}`;
  const wanted = place === 0 ? many : below.length > 0;
  const numbered = `, ${numberedOf(place)} AS (SELECT *, pg_catalog.row_number() OVER () AS ${itemPlace} FROM ${rowsOf(place)})`;
  return `${rowsOf(place)} AS (${insert})${wanted ? numbered : ''}`;
}

function isHeld({ columns }: Written, held: readonly FieldDescriptor[], place: number): boolean {
  const field = columns[place]?.field.descriptor;
  return field !== undefined && held.includes(field);
}

/** The inputs of one group, whose values stand behind those of the groups before it. */
function inputsBehind(statement: StatementBuilder, start: number, sources: Source[]): Inputs {
  const place = (source: Source): number => start + sources.push(source) - 1;
  return {
    sources,
    place,
    take: (source, native) => statement.parameter({ kind: 'value', index: place(source) }, native),
  };
}
