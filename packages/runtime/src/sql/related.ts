import { allOf, cast, keyColumn, sqlFalse, where } from '../dialects/fragment.ts';
import type { SqlDialect } from '../dialects/index.ts';
import type { ColumnPair, Condition, FieldDescriptor, ManyToMany } from '../language/index.ts';
import { fieldOfColumn } from './cell.ts';
import { readable } from './readable.ts';
import { joined, type Row, tableRow } from './row.ts';
import { callerGuards, granted, targetRow } from './rules.ts';
import { keyFields, type RelationScope } from './scope.ts';

type Related = Extract<Condition, { kind: 'related' }>;

/** Columns that a row of a relation shares with the row that it is reached from. */
interface Link {
  readonly reached: string;
  /** On the row that the relation starts from. */
  readonly start: string;
  /** Type of `start`, where it is the column of a field. */
  readonly native: string | undefined;
}

/** The tables that a relation leads through, and how they hang together; `target` is the row that is reached. */
export interface Reach {
  /** The tables with their aliases, as soon as everything is printed that names their columns. */
  from(): string;
  readonly links: readonly Link[];
  /** All other predicates. Those of a relation know nothing of the row that it starts from; those of an item do. */
  readonly own: readonly string[];
  readonly target: Row;
  /** The junction row of an m2m. */
  readonly junction: string | undefined;
  /** Set where the target is looked up in a subquery, so that no index of it gives an order. */
  readonly isFenced?: true;
}

/**
 * Follows a relation from a row to the rows the caller can read; undefined when the target cannot be read at all.
 *
 * The rules of an m2m's target always apply. Those of its junction apply when the caller's class has read rules on it.
 * A junction without any is a detail of the relation, which was granted by name; only its tenant counts. The caller of this
 * function checks that the row's own cell of the relation is readable.
 */
export function reach(row: Row, relation: RelationScope): Reach | undefined {
  const { descriptor } = relation;
  const { statement, scope } = row;
  if (descriptor.kind === 'm2m') return throughJunction(row, descriptor, relation);
  const collection = relation.target ?? scope.collections.get(descriptor.target);
  if (collection === undefined) return undefined;
  const alias = statement.alias();
  const plain = tableRow(statement, scope, collection, alias);
  const from = (): string => `${collection.descriptor.table} ${alias}`;
  const target = descriptor.kind === 'm2a' ? { ...plain, link: descriptor } : plain;
  const links = linksOf(descriptor.on, row, alias);
  return { from, links, own: [readable(target)], target, junction: undefined };
}

function throughJunction(row: Row, descriptor: ManyToMany, relation: RelationScope): Reach | undefined {
  const junction = joinJunction(row, descriptor, relation);
  if (junction === undefined) return undefined;
  const { alias, links, far, visible, target, table, targetAlias } = junction;
  const from = (): string => `${descriptor.junctionTable} ${alias}, ${table} ${targetAlias}`;
  return { from, links, own: [...far, ...visible, readable(target)], target, junction: alias };
}

/** The two tables of an m2m, and the predicates that join and hide their rows. */
export interface Junction {
  readonly alias: string;
  readonly links: readonly Link[];
  /** Predicates between junction and target. */
  readonly far: readonly string[];
  /** Predicates of the junction's own rules. */
  readonly visible: readonly string[];
  readonly target: Row;
  readonly table: string;
  readonly targetAlias: string;
}

/** Names both tables of an m2m; undefined when its target cannot be read at all. */
export function joinJunction(
  row: Row,
  descriptor: ManyToMany,
  { target: otherRows }: Pick<RelationScope, 'target'>,
): Junction | undefined {
  const { statement, scope } = row;
  const collection = otherRows ?? scope.collections.get(descriptor.target);
  if (collection === undefined) return undefined;
  const targetAlias = statement.alias();
  const target = tableRow(statement, scope, collection, targetAlias);
  const alias = statement.alias();
  statement.table(descriptor.junctionTable);
  const links = linksOf(descriptor.near, row, alias);
  const far = joined(descriptor.far, (column) => `${alias}.${column}`, targetAlias);
  const granted = scope.collections.has(descriptor.junction) ? scope : (scope.rules ?? scope);
  const rules = granted.collections.get(descriptor.junction);
  const visible = rules === undefined ? [] : [readable(tableRow(statement, granted, rules, alias))];
  return { alias, links, far, visible, target, table: collection.descriptor.table, targetAlias };
}

function linksOf(pairs: readonly ColumnPair[], row: Row, alias: string): readonly Link[] {
  return pairs.map(({ from, to }) => ({
    reached: `${alias}.${to}`,
    start: row.column(from),
    native: fieldOfColumn(row.collection.descriptor.fields, from)?.native,
  }));
}

/** End of a subquery of one item: where child tables may repeat its key, the row of its own table comes first. */
export function firstOf({ statement, collection: { descriptor }, column }: Row): string {
  if (descriptor.inherited !== true) return '';
  const table = statement.parameter({ kind: 'fixed', value: descriptor.table }, 'pg_catalog.text');
  return ` ORDER BY ${column('tableoid')} = ${table}::pg_catalog.regclass DESC LIMIT 1`;
}

/** Condition on rows of several keys: of those that child tables repeat, the one that `firstOf` gives. */
export function isFirst(row: Row): readonly string[] {
  const { statement, scope, collection } = row;
  const { descriptor } = collection;
  if (descriptor.inherited !== true) return [];
  const alias = statement.alias();
  const other = tableRow(statement, scope, collection, alias);
  const [start = [], found = []] = [row, other].map(({ column }) =>
    keyFields(descriptor).map((field) => keyColumn(column(field.column), field)),
  );
  const same = found.map((key, index) => `${key} = ${start[index]}`);
  const placeIn = ({ column }: Row): string => `${column('tableoid')}, ${column('ctid')}`;
  const rows = `${descriptor.table} ${alias}${where(allOf([...same, readable(other)]))}${firstOf(other)}`;
  return [`(${placeIn(row)}) = (SELECT ${placeIn(other)} FROM ${rows})`];
}

export function joinsOf({ links, own: conditions }: Pick<Reach, 'links' | 'own'>): readonly string[] {
  return [...links.map(({ reached, start }) => `${reached} = ${start}`), ...conditions];
}

/** A condition on related rows, as EXISTS over the readable ones; on a hidden relation no quantifier holds. */
export function printRelated(row: Row, condition: Related): string {
  if (condition.relation === 'item' && row.link !== undefined) return printItem(row, condition);
  const relation = row.collection.relations.get(condition.relation);
  const reached = relation && reach(row, relation);
  if (relation === undefined || reached === undefined) return sqlFalse;
  const grant = granted(row, relation.grant);
  return allOf([grant, quantified(row, condition, reached)]);
}

/** SQL predicate that is true if reached rows meet a condition, or if none does. */
function quantified(row: Row, condition: Related, reached: Reach): string {
  const inner = allOf([...joinsOf(reached), reached.target.statement.print.condition(reached.target, condition.where)]);
  if (condition.quantifier !== 'none') return inner === sqlFalse ? sqlFalse : subquery(row, reached.from(), inner);
  const target = targetRow(row, condition);
  const guards = target === undefined ? [] : callerGuards(target, condition.where, true);
  return allOf([...guards, `NOT ${subquery(row, reached.from(), inner)}`]);
}

function subquery({ statement }: Row, from: string, predicate: string): string {
  return `EXISTS (SELECT 1 FROM ${from}${where(predicate)}${statement.fence()})`;
}

/** The item of a link row, when it is of one collection. On a row that hides where it leads no quantifier holds. */
function printItem(row: Row, condition: Related): string {
  const reached = condition.item === undefined ? undefined : reachItem(row, condition.item);
  if (reached === undefined) return sqlFalse;
  const grants = condition.quantifier === 'none' ? linkGrants(row) : [];
  return allOf([...grants, quantified(row, condition, reached)]);
}

/** Predicates that hold where a link row tells the collection and the key of its item. */
function linkGrants(row: Row): readonly string[] {
  const { fields } = row.collection;
  const named = [row.link?.collectionField, row.link?.itemField];
  return named.map((name) => granted(row, fields.get(name ?? '')?.grant ?? null));
}

/** Follows a link row of a many-to-any to its item in one of the allowed collections. */
export function reachItem(row: Row, item: string): Reach | undefined {
  const { link, statement, scope } = row;
  const collection = scope.collections.get(item);
  const kind = row.collection.fields.get(link?.collectionField ?? '');
  const key = row.collection.fields.get(link?.itemField ?? '');
  const [keyField, ...more] = collection?.descriptor.key ?? [];
  const targetKey = collection?.descriptor.fields.find((field) => field.name === keyField);
  if (link === undefined || collection === undefined || kind === undefined || key === undefined) return undefined;
  if (!link.allowed.includes(item) || targetKey === undefined || more.length > 0) return undefined;
  const alias = statement.alias();
  const target = tableRow(statement, scope, collection, alias);
  const named = `${cast(row.column(kind.descriptor.column), statement.dialect.asText)} = ${statement.parameter(
    { kind: 'fixed', value: item },
    'pg_catalog.text',
  )}`;
  const conditions = [
    granted(row, kind.grant),
    granted(row, key.grant),
    named,
    itemMatches(statement.dialect, row.column(key.descriptor.column), key.descriptor, alias, targetKey),
    readable(target),
  ];
  return {
    from: () => `${collection.descriptor.table} ${alias}`,
    links: [],
    own: conditions,
    target,
    junction: undefined,
  };
}

function itemMatches(
  { asText, keyOf }: SqlDialect,
  item: string,
  itemField: FieldDescriptor,
  alias: string,
  key: FieldDescriptor,
): string {
  const column = cast(`${alias}.${key.column}`, key.comparison);
  if (itemField.native === key.native) return `${column} = ${cast(item, itemField.comparison)}`;
  const text = cast(item, asText);
  const value = keyOf(text, key.type, key.native);
  return value === undefined ? `${cast(column, asText)} = ${text}` : `${column} = ${value}`;
}
