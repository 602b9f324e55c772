import type { FieldDescriptor, RelationDescriptor } from '../contract/index.ts';
import { cast, cell, fieldOfColumn, granted, guarded } from '../sql/cell.ts';
import { allOf, where } from '../sql/fragment.ts';
import { type Reach, reach } from '../sql/related.ts';
import type { Row } from '../sql/row.ts';
import type { Selected, Selection } from './fields.ts';
import type { Shape, ShapeField } from './plan.ts';
import { keyFields, orderBy, type PrintedTerm, printRelationOrder } from './plan-order.ts';
import { createPage, outerOrder } from './plan-page.ts';
import type { FieldScope, RelationScope } from './scope.ts';

/** What a selection prints as: one expression per part, and what its bytes become. */
export interface PrintedSelection {
  readonly expressions: readonly string[];
  readonly fields: readonly ShapeField[];
}

interface Printed {
  readonly expression: string;
  readonly shape: Shape;
}

/** Prints the parts of a selection on a row. `limit` is the number of rows of each nested list. */
export function printSelection(row: Row, selection: Selection, limit: number): PrintedSelection {
  const expressions: string[] = [];
  const fields: ShapeField[] = [];
  for (const part of selection.parts) {
    const { expression, shape } = printPart(row, part, limit);
    expressions.push(expression);
    fields.push({ key: part.key, shape });
  }
  return { expressions, fields };
}

/** Whether a selection looks at other tables, so that it is worth cutting the list before it is computed. */
export function leavesTable(selection: Selection): boolean {
  return selection.parts.some((part) => part.kind !== 'field');
}

function printPart(row: Row, part: Selected, limit: number): Printed {
  if (part.kind === 'field') return printField(row, part.field);
  const { expression, shape } = printRelation(row, part, limit);
  return { expression: guarded(granted(row, part.relation.grant), expression), shape };
}

function printRelation(row: Row, part: Exclude<Selected, { kind: 'field' }>, limit: number): Printed {
  const { relation } = part;
  if (part.kind === 'keys' && relation.descriptor.kind === 'm2o') return printOwnKey(row, relation.descriptor);
  const reached = reach(row, relation);
  // A selection is resolved against the same scope, so its relations have targets.
  if (reached === undefined) return { expression: 'NULL::int4', shape: { kind: 'scalar', wire: 'i4' } };
  if (part.kind === 'keys') return printKeys(reached, relation, limit);
  return relation.descriptor.kind === 'm2o'
    ? printOne(reached, part.of, limit)
    : printMany(reached, relation, part.of, limit);
}

/** A secret never leaves the database: only whether there is one. */
function printField(row: Row, field: FieldScope): Printed {
  const { wire } = field.descriptor;
  const value = cell(row, field);
  if (field.secret || wire.kind === 'masked') {
    return {
      expression: `CASE WHEN ${bracketed(value)} IS NOT NULL THEN TRUE END`,
      shape: { kind: 'scalar', wire: 'masked' },
    };
  }
  return { expression: cast(value, wire.cast), shape: shapeOf(field.descriptor) };
}

function bracketed(expression: string): string {
  return expression.startsWith('CASE ') ? `(${expression})` : expression;
}

function shapeOf({ wire }: FieldDescriptor): Shape {
  return wire.array === true ? { kind: 'array', element: wire.kind } : { kind: 'scalar', wire: wire.kind };
}

/** The key that an m2o of several columns holds: an object of the target's key fields, or null. */
function printOwnKey(row: Row, relation: Extract<RelationDescriptor, { kind: 'm2o' }>): Printed {
  const own = row.collection.descriptor.fields;
  const target = row.scope.collections.get(relation.target)?.descriptor.fields ?? [];
  const columns = relation.on.map(({ from }) => row.column(from));
  const wires = relation.on.map(({ from, to }) => fieldOfColumn(own, from) ?? fieldOfColumn(target, to));
  const values = columns.map((column, index) => {
    const wire = wires[index]?.wire;
    return cast(column, wire === undefined ? '::pg_catalog.text' : wire.cast);
  });
  const fields = relation.on.map(({ from, to }, index): ShapeField => {
    const descriptor = wires[index];
    const key = fieldOfColumn(target, to)?.name ?? fieldOfColumn(own, from)?.name ?? to;
    return { key, shape: descriptor === undefined ? { kind: 'scalar', wire: 'text' } : shapeOf(descriptor) };
  });
  const present = allOf(columns.map((column) => `${column} IS NOT NULL`));
  return { expression: guarded(present, `ROW(${values.join(', ')})`), shape: { kind: 'record', fields } };
}

/** The related row as a record: null where it is missing or hidden. */
function printOne({ from, joins, target }: Reach, selection: Selection, limit: number): Printed {
  const { expressions, fields } = printSelection(target, selection, limit);
  const expression = `(SELECT ROW(${expressions.join(', ')}) FROM ${from}${where(allOf(joins))})`;
  return { expression, shape: { kind: 'record', fields } };
}

/** The related rows as an array of records, cut to the limit before anything nested in them is computed. */
function printMany(reached: Reach, relation: RelationScope, selection: Selection, limit: number): Printed {
  const { from, joins, target } = reached;
  const order = printNestedOrder(reached, relation.descriptor);
  const bounds = ` LIMIT ${limit}`;
  if (!leavesTable(selection)) {
    const { expressions, fields } = printSelection(target, selection, limit);
    const rows = `${from}${where(allOf(joins))}${orderBy(order)}${bounds}`;
    return {
      expression: `ARRAY(SELECT ROW(${expressions.join(', ')}) FROM ${rows})`,
      shape: { kind: 'records', fields },
    };
  }
  const page = createPage(target);
  const outer = outerOrder(page, order);
  const { expressions, fields } = printSelection(page.row, selection, limit);
  const rows = `${page.print(from, allOf(joins), order, bounds)}${orderBy(outer)}`;
  return {
    expression: `ARRAY(SELECT ROW(${expressions.join(', ')}) FROM ${rows})`,
    shape: { kind: 'records', fields },
  };
}

/** The keys of the related rows: values, or path forms where the key has several fields (specification, section 4). */
function printKeys(reached: Reach, relation: RelationScope, limit: number): Printed {
  const { from, joins, target } = reached;
  const keys = keyFields(target.collection.descriptor).map((field) => {
    const scoped = target.collection.fields.get(field.name) ?? { descriptor: field, grant: null, secret: false };
    return printField(target, scoped);
  });
  const rows = `${from}${where(allOf(joins))}${orderBy(printNestedOrder(reached, relation.descriptor))} LIMIT ${limit}`;
  const [only] = keys;
  if (only !== undefined && keys.length === 1 && only.shape.kind === 'scalar') {
    return {
      expression: `ARRAY(SELECT ${only.expression} FROM ${rows})`,
      shape: { kind: 'array', element: only.shape.wire },
    };
  }
  const record = `ROW(${keys.map(({ expression }) => expression).join(', ')})`;
  const parts = keys.map(({ shape }) => (shape.kind === 'scalar' ? shape.wire : 'text'));
  return { expression: `ARRAY(SELECT ${record} FROM ${rows})`, shape: { kind: 'paths', parts } };
}

/** A relation's rows follow its sort field: that of the junction for an m2m, else that of the rows themselves. */
function printNestedOrder({ target, junction }: Reach, relation: RelationDescriptor): readonly PrintedTerm[] {
  if (relation.kind !== 'm2m') {
    return printRelationOrder(target, relation.kind === 'm2o' ? undefined : relation.sort);
  }
  const names =
    target.scope.rules?.collections.get(relation.junction) ?? target.scope.collections.get(relation.junction);
  const sort = relation.sort === undefined ? undefined : names?.fields.get(relation.sort);
  const own = printRelationOrder(target, undefined);
  if (sort === undefined || junction === undefined) return own;
  return [{ expression: `${junction}.${sort.descriptor.column}`, direction: '' }, ...own];
}
