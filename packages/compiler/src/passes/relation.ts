import type { ForeignKey, Index, JoinPair, Relation, Table } from '@tablewright/introspect/schema';
import { type ColumnPair, quoteName, quoteTable, type RelationDescriptor } from '@tablewright/runtime/language';
import type { SchemaIndex } from './schema-index.ts';

/** Resolves one relation to what the runtime reads: database names quoted, absent facts left out. */
export function resolveRelation(relation: Relation, index: SchemaIndex): RelationDescriptor {
  switch (relation.kind) {
    case 'm2o':
      return {
        kind: 'm2o',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        ...(relation.field !== null && { field: relation.field }),
        nullable: relation.nullable,
      };
    case 'o2m':
      return {
        kind: 'o2m',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        ...(relation.single && { single: true }),
        inverse: relation.inverse,
        ...sortOf(relation),
        ...orderedOf(relation, index),
        onDeselect: relation.onDeselect,
        ...(relation.language !== null && { language: relation.language }),
      };
    case 'm2m': {
      return {
        kind: 'm2m',
        name: relation.name,
        target: relation.target,
        junction: relation.junction,
        junctionTable: quoteTable(index.dialect, index.table(index.collection(relation.junction).table)),
        near: quotePairs(relation.near),
        far: quotePairs(relation.far),
        ...(reachesTargets(relation, index) && { unbroken: true as const }),
        ...(isPaired(relation, index) && { paired: true as const }),
        ...soughtOf(relation, index),
        ...sortOf(relation),
      };
    }
    case 'm2a':
      return {
        kind: 'm2a',
        name: relation.name,
        target: relation.target,
        on: quotePairs(relation.on),
        collectionField: relation.collectionField,
        itemField: relation.itemField,
        allowed: relation.allowed,
        ...sortOf(relation),
        ...orderedOf(relation, index),
      };
  }
}

/** True if a key of the junction is made of both its sides. */
function isPaired({ junction, near, far }: Relation & { readonly kind: 'm2m' }, index: SchemaIndex): boolean {
  const { primaryKey, uniques, inherited } = index.table(index.collection(junction).table);
  const sides = new Set([...near.map(({ to }) => to), ...far.map(({ from }) => from)]);
  const keys = primaryKey === null ? uniques : [primaryKey, ...uniques];
  const isKey = keys.some(
    ({ columns, deferrable }) =>
      !deferrable && columns.length === sides.size && columns.every((name) => sides.has(name)),
  );
  return isKey && inherited !== true;
}

/** Columns of the rows of a list that an index has next to those that lead to the rows. */
function orderedOf(
  { target, on }: Pick<Relation & { readonly kind: 'o2m' | 'm2a' }, 'target' | 'on'>,
  index: SchemaIndex,
): { readonly ordered?: readonly string[] } {
  const table = index.table(index.collection(target).table);
  const leading = table.indexes.filter(({ columns }) => on.every(({ to }) => columns.slice(0, on.length).includes(to)));
  const next = new Set(leading.map(({ columns }) => columns[on.length]));
  const ordered = table.columns.filter(({ name }) => next.has(name)).map(({ name }) => quoteName(name));
  return ordered.length === 0 ? {} : { ordered };
}

/** Fields of the target that an index begins with, where the junction has an index of both its sides. */
function soughtOf(
  { junction, target, near, far }: Relation & { readonly kind: 'm2m' },
  index: SchemaIndex,
): { readonly sought?: readonly string[] } {
  const sides = [...near.map(({ to }) => to), ...far.map(({ from }) => from)];
  const links = index.table(index.collection(junction).table);
  const targets = index.collection(target);
  const isIndexed = links.indexes.some(
    (index) => ordersAllRows(index) && sides.every((name) => index.columns.slice(0, sides.length).includes(name)),
  );
  if (!isIndexed) return {};
  const leading = new Set(
    index
      .table(targets.table)
      .indexes.filter(ordersAllRows)
      .map(({ columns: [first] }) => first),
  );
  const sought = targets.fields.filter(({ name, column }) => leading.has(column) && !targets.key.includes(name));
  return sought.length === 0 ? {} : { sought: sought.map(({ name }) => name) };
}

/** True if an index has all rows in the order of its columns. */
function ordersAllRows({ method, predicate }: Index): boolean {
  return method === 'btree' && predicate === null;
}

/** True if every row of a junction leads to a served row: its key binds all rows, over columns never null. */
function reachesTargets({ junction, target, far }: Relation & { readonly kind: 'm2m' }, index: SchemaIndex): boolean {
  const links = index.table(index.collection(junction).table);
  const targets = index.table(index.collection(target).table);
  const isComplete = far.every(({ from }) => !index.column(links, from).nullable);
  const isPlain = !links.inherited && !targets.inherited && !index.hides(targets);
  return isComplete && isPlain && links.foreignKeys.some((key) => key.validated && isOver(key, targets, far));
}

/** True if a key can lead to no served row: a policy or archiving hides rows, or the key does not bind every row. */
export function isDangling(
  { target, on }: Relation & { readonly kind: 'm2o' },
  table: Table,
  index: SchemaIndex,
): boolean {
  const collection = index.collection(target);
  const targets = index.table(collection.table);
  if (index.hides(targets) || collection.softDelete !== undefined || table.inherited === true) return true;
  return !table.foreignKeys.some((key) => key.validated && isOver(key, targets, on));
}

function isOver({ columns, target, targetColumns }: ForeignKey, { id }: Table, pairs: readonly JoinPair[]): boolean {
  if (target !== id || columns.length !== pairs.length) return false;
  return pairs.every(({ from, to }) => columns.some((column, index) => column === from && targetColumns[index] === to));
}

function sortOf({ sort }: { readonly sort: string | null }): { readonly sort?: string } {
  return sort === null ? {} : { sort };
}

function quotePairs(pairs: readonly JoinPair[]): readonly ColumnPair[] {
  return pairs.map(({ from, to }) => ({ from: quoteName(from), to: quoteName(to) }));
}
