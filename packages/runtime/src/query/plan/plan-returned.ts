/** Reads of nothing but own columns of a row, printed on a row that a statement has just written. */
import type { ShapeField } from '../../json/shape.ts';
import type { Condition } from '../../language/index.ts';
import { readable } from '../../sql/readable.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import type { Grant } from '../../sql/scope.ts';
import type { Selected } from '../authorise/selection.ts';
import type { ReadPlan, ReadQuery, SelectedItems } from './plan.ts';
import { printSelection } from './plan-selection.ts';

/** The columns of such a read. */
interface PrintedOwn {
  /** SQL predicate that is true if the caller may read the row. */
  readonly visible: string;
  readonly expressions: readonly string[];
  readonly fields: readonly ShapeField[];
}

/** The selection of a query by keys; undefined where it asks for less than all items. */
export function selectedItems(query: ReadQuery): SelectedItems | undefined {
  const { scope, selection, nested, selector, singleton, condition, order, limit, offset, meta, cursor } = query;
  const byKey = (selector === 'key' || selector === 'written') && !singleton;
  const filtered = condition.kind !== 'and' || condition.of.length > 0;
  const cut = order.length > 0 || limit !== -1 || offset > 0 || meta.length > 0 || cursor !== undefined;
  return byKey && !filtered && !cut ? { scope, selection, nested } : undefined;
}

/** The selection of a plan that reads nothing but columns of its items; undefined where it asks for more. */
export function ownColumns({ selected }: ReadPlan): SelectedItems | undefined {
  return selected?.selection.parts.every((part) => grantOf(part) !== undefined) ? selected : undefined;
}

/** Grant of a part that is made of own columns; undefined for every other part. */
function grantOf(part: Selected): Grant | undefined {
  if (part.kind === 'constant') return null;
  if (part.kind === 'field') return part.field.grant;
  if (part.kind === 'call' && part.call.kind === 'field') return part.call.field.grant;
  return part.kind === 'keys' && part.relation.descriptor.kind === 'm2o' ? part.relation.grant : undefined;
}

/** Every condition that decides what of a row the caller reads. */
export function conditionsOf({ selection }: SelectedItems): readonly Condition[] {
  return [...selection.collection.rows, ...selection.parts.flatMap((part) => grantOf(part) ?? [])];
}

/** Prints it on a row of the written table; `column` takes a quoted column to an expression. */
export function printOwn(
  statement: StatementBuilder,
  { scope, selection, nested }: SelectedItems,
  column: (quoted: string) => string,
): PrintedOwn {
  const row = { statement, scope, collection: selection.collection, column };
  return { visible: readable(row), ...printSelection(row, selection, nested) };
}
