import { allOf, cast, sqlFalse, where } from '../dialects/fragment.ts';
import { type CallerOperand, callerCollections, type FieldDescriptor } from '../language/index.ts';
import { cell, comparable } from './cell.ts';
import { callerParameter, type OperandType, operandType } from './operand.ts';
import { readable } from './readable.ts';
import { joinsOf, reach } from './related.ts';
import { type Printing, type Row, tableRow } from './row.ts';
import { granted } from './rules.ts';
import type { CollectionScope, FieldScope } from './scope.ts';

/** The values that a path from the caller leads to, as an expression over `from` where `predicate` holds. */
interface Followed {
  readonly from: string;
  readonly predicate: string;
  readonly value: string;
  readonly type: OperandType;
  readonly many: boolean;
}

/** SQL of a path: one value, or all as the dialect's `amongPath` takes them. Null if none, as for every operator. */
interface PathValue {
  readonly expression: string;
  readonly many: boolean;
  /** True when the values are texts, regardless of their own type. */
  readonly text: boolean;
}

/**
 * Prints the value of a path from the caller's row, as a subquery that does not depend on any row of the statement. So
 * the database computes it once. In the scope of rules every row and cell counts, in that of a caller only what the
 * caller can read. `takesText` tells from the type of the values whether they are needed as texts. Undefined when the
 * path leads nowhere in that scope.
 */
export function printPath(
  printing: Printing,
  operand: CallerOperand,
  takesText: (type: OperandType) => boolean,
): PathValue | undefined {
  const followed = follow(printing, operand);
  if (followed === undefined) return undefined;
  const { type, many, value } = followed;
  const text = takesText(type);
  const { dialect } = printing.statement;
  const values = printValues(followed, text ? dialect.pathText(value) : value);
  return { many, text, expression: many ? dialect.pathValues(values) : `(${values} LIMIT 1)` };
}

/** A predicate that holds when a path from the caller leads to a value. */
export function printPresence(printing: Printing, operand: CallerOperand): string {
  const followed = follow(printing, operand);
  return followed === undefined ? sqlFalse : `EXISTS (${printValues(followed, '1')})`;
}

/** Null is no value. */
function printValues({ from, predicate, value }: Followed, selected: string): string {
  const present = `${value.startsWith('CASE ') ? `(${value})` : value} IS NOT NULL`;
  return `SELECT ${selected} FROM ${from}${where(allOf([predicate, present]))}`;
}

function follow({ statement, scope }: Printing, operand: CallerOperand): Followed | undefined {
  // The caller's own tenant is at the end of a path.
  const start = startOf({ statement, scope: scope.everything ?? scope }, operand);
  if (start === undefined) return undefined;
  let { row } = start;
  const from = [start.from];
  const predicates = [...start.predicates];
  let many = false;
  for (const step of operand.path.slice(0, -1)) {
    const relation = row.collection.relations.get(step);
    const reached = relation && reach(row, relation);
    if (relation === undefined || reached === undefined) return undefined;
    from.push(reached.from());
    predicates.push(granted(row, relation.grant), ...joinsOf(reached));
    many ||= relation.descriptor.kind !== 'm2o';
    row = reached.target;
  }
  const field = row.collection.fields.get(operand.path.at(-1) ?? '');
  if (field === undefined || field.secret) return undefined;
  const end = field.descriptor.type === 'array' ? elements(row, field) : single(row, field);
  return {
    from: [...from, ...end.from].join(', '),
    predicate: allOf(predicates),
    value: end.value,
    type: end.type,
    many: many || end.from.length > 0,
  };
}

interface Start {
  readonly row: Row;
  readonly from: string;
  readonly predicates: readonly string[];
}

/** The caller's own row, found by key. A collection whose items no single value names holds none. */
function startOf({ statement, scope }: Printing, { of: subject }: CallerOperand): Start | undefined {
  const collection = scope.collections.get(callerCollections[subject]);
  const key = collection && keyField(collection);
  if (collection === undefined || key === undefined) return undefined;
  const alias = statement.alias();
  const row = tableRow(statement, scope, collection, alias);
  const named = `${cast(row.column(key.column), key.comparison)} = ${callerParameter(statement, subject, operandType(key))}`;
  return { row, from: `${collection.descriptor.table} ${alias}`, predicates: [named, readable(row)] };
}

function keyField({ descriptor }: CollectionScope): FieldDescriptor | undefined {
  const [name, ...more] = descriptor.key;
  return more.length > 0 ? undefined : descriptor.fields.find((field) => field.name === name);
}

interface End {
  readonly value: string;
  readonly type: OperandType;
  /** FROM clauses of the elements of an array; nothing for a value of its own. */
  readonly from: readonly string[];
}

function single(row: Row, field: FieldScope): End {
  return { value: comparable(row, field), type: operandType(field.descriptor), from: [] };
}

function elements(row: Row, field: FieldScope): End {
  const { native, element = 'unknown' } = field.descriptor;
  const alias = row.statement.alias();
  const array = cast(cell(row, field), `::${native}`);
  return {
    value: `${alias}.v`,
    type: { type: element, native: native.replace(/\[\]$/, '') },
    from: [`pg_catalog.unnest(${array}) ${alias}(v)`],
  };
}
