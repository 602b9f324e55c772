/**
 * Links of an m2m found from the other end: by the few targets that have a value.
 *
 * A filter that names a value may leave one target of millions, or nearly all. The server chooses before it knows, and before
 * ANALYZE it takes a 200th of the table for either. So the statement counts: it reads the targets with the value once. Where
 * they are few, each parent looks for links to them, else its links are looked up one by one.
 */

import type { Condition, FieldDescriptor, ManyToMany } from '../language/index.ts';
import { comparedType, printValue } from './operand.ts';
import { joined, type Row } from './row.ts';
import type { CollectionScope, FieldScope } from './scope.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** Targets by a value: the column of it, what it is compared with, and the key that links hold. */
export interface Sought {
  readonly table: string;
  readonly column: string;
  readonly value: string;
  readonly native: string;
  readonly key: FieldDescriptor;
  /** Column of the junction that holds the key. */
  readonly link: string;
}

/** Targets that are looked for in the links of every parent; to read them takes about as long as a hundred lookups. */
const maxTargets = 100;

/** The value by which an index finds all targets under a condition, and another one the links to them; undefined without. */
export function findSought(row: Row, relation: ManyToMany, condition: Condition | undefined): Sought | undefined {
  const target = row.scope.collections.get(relation.target);
  const [far] = relation.far;
  const comparison = target && condition && soughtValue(relation, target, condition);
  const key = target?.descriptor.fields.find(({ column }) => column === far?.to);
  const field = target?.fields.get(comparison?.field ?? '')?.descriptor;
  if (target === undefined || far === undefined || comparison === undefined || field === undefined) return undefined;
  const { statement } = row;
  if (key === undefined || !statement.dialect.sortsAlike(key.native)) return undefined;
  const type = comparedType(field, comparison);
  const value = printValue(statement, type, comparison.operator, comparison.operand);
  return { table: target.descriptor.table, column: field.column, value, native: type.native, key, link: far.from };
}

/** The comparison with one value by which an index finds targets, among those that all of them meet. */
function soughtValue(relation: ManyToMany, target: CollectionScope, condition: Condition): Comparison | undefined {
  if (condition.kind === 'and') return condition.of.map((part) => soughtValue(relation, target, part)).find(Boolean);
  if (condition.kind !== 'compare' || condition.operator !== '_eq') return undefined;
  const { field: name, function: call, path, operand } = condition;
  const field = target.fields.get(name);
  const isPlain = call === undefined && path === undefined && operand.kind === 'literal';
  return isPlain && relation.sought?.includes(name) && field && isBare(field) ? condition : undefined;
}

/** True if comparisons see the column itself, as an index does. */
function isBare({ descriptor, grant, secret }: FieldScope): boolean {
  return grant === null && !secret && descriptor.comparison === undefined && descriptor.folds !== true;
}

/** A predicate that holds of the links to such targets, and of all links of the parent where the targets are many. */
export function printSought(row: Row, relation: ManyToMany, links: string, sought: Sought): string | undefined {
  const found = printFound(row, sought);
  const alias = row.statement.alias();
  const near = joined(relation.near, row.column, alias).join(' AND ');
  const junctionKeys = `SELECT ${alias}.${sought.link}::${sought.key.native} FROM ${relation.junctionTable} ${alias} WHERE ${near}`;
  return found && `${links}.${sought.link} = ANY (COALESCE(${found}, ARRAY(${junctionKeys})))`;
}

/**
 * The keys of all targets with the value as an array; null when they are too many. They are read in the order of the
 * value, but the server is not told that there is one value. So it takes the index of the value and stops early.
 */
function printFound({ statement }: Row, { table, column, value, native, key }: Sought): string | undefined {
  const { dialect } = statement;
  const [alias, few] = [statement.alias(), statement.alias()];
  const named = dialect.pageLink(`${alias}.${column}`, value, native);
  const order = `ORDER BY ${alias}.${column} LIMIT ${maxTargets + 1}`;
  const rows = `SELECT ${alias}.${key.column} AS k FROM ${table} ${alias} WHERE ${named} ${order}`;
  const keys = `COALESCE(pg_catalog.array_agg(${few}.k), '{}')`;
  return named && `(SELECT CASE WHEN ${dialect.countRows} <= ${maxTargets} THEN ${keys} END FROM (${rows}) ${few})`;
}
