/**
 * Plain resolvers over rows in memory: what a GraphQL server without a planner would do. They know the data, the
 * descriptors and graphql-js, and nothing of the runtime that answers.
 */
import { type GraphQLFieldResolver, GraphQLObjectType, type GraphQLTypeResolver } from 'graphql';
import type {
  CollectionDescriptor,
  FieldDescriptor,
  GraphqlCollection,
  GraphqlIndex,
  RelationDescriptor,
} from '../../../packages/runtime/src/language/index.ts';

/** Values by API names. */
export type Values = Readonly<Record<string, unknown>>;

/** The rows of a collection in its own order, and those of them that somebody may read. */
export interface Rows {
  readonly all: readonly Values[];
  readonly visible: ReadonlySet<Values>;
  /** Whether the collection can be read at all. */
  readonly readable: boolean;
}

/** A row with where it is from. */
interface Item {
  readonly collection: string;
  readonly values: Values;
}

interface World {
  readonly index: GraphqlIndex;
  readonly rows: ReadonlyMap<string, Rows>;
}

type Filter = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Makes the resolver of every field. */
export function plainResolvers(world: World): {
  readonly fieldResolver: GraphQLFieldResolver<unknown, unknown>;
  readonly typeResolver: GraphQLTypeResolver<unknown, unknown>;
} {
  const { index } = world;
  return {
    typeResolver: (source) => (isItem(source) ? source.collection : undefined),
    fieldResolver(source, given, _, { fieldName, parentType, returnType }) {
      if (parentType.name === 'Query') return resolveRoot(world, fieldName, given);
      if (!isItem(source)) return isRecord(source) ? source[fieldName] : undefined;
      const names = index.byType(parentType.name);
      const member = names?.output.get(fieldName);
      if (names === undefined || member === undefined) return null;
      if (member.kind === 'functions') return functionsOf(world, names.descriptor, source, member.name);
      const leaf = !returnsItems(returnType);
      const value = source.values[member.name];
      if (leaf) return value ?? null;
      if (member.kind === 'field' && member.link !== undefined) return linkedItem(world, member.link, source);
      const relation = member.kind === 'relation' ? member.relation : member.relation;
      if (relation === undefined) return value ?? null;
      const found = related(world, names.descriptor, source, relation);
      if (relation.kind === 'm2o') return found[0] ?? null;
      return cut(world, relation.target, found, given);
    },
  };
}

function returnsItems(type: unknown): boolean {
  let inner: unknown = type;
  while (isRecord(inner) && 'ofType' in inner) inner = inner.ofType;
  return inner instanceof GraphQLObjectType || (isRecord(inner) && typeof inner.getTypes === 'function');
}

function isItem(value: unknown): value is Item {
  return (
    isRecord(value) && typeof value.collection === 'string' && isRecord(value.values) && Object.keys(value).length === 2
  );
}

function resolveRoot(world: World, name: string, given: Filter): unknown {
  const root = world.index.roots.items.query.get(name);
  if (root === undefined || !('collection' in root)) return null;
  const { collection, operation } = root;
  const rows = visibleRows(world, collection.name);
  if (operation === 'byKey') {
    const found = rows.find(({ values }) => collection.key.map((key) => values[key]).join(',') === given.id);
    if (found === undefined) throw new Error('There is no such item.');
    return found;
  }
  if (operation === 'aggregate') return aggregate(collection, rows, given);
  return cut(world, collection.name, rows, given);
}

function visibleRows({ rows }: World, collection: string): readonly Item[] {
  const own = rows.get(collection);
  return (own?.all ?? []).filter((values) => own?.visible.has(values)).map((values) => ({ collection, values }));
}

function fieldOf({ fields }: CollectionDescriptor, column: string): string {
  return fields.find((field) => field.column === column)?.name ?? column;
}

/** The related rows that can be read, in their own order. */
function related(
  world: World,
  owner: CollectionDescriptor,
  source: Item,
  relation: RelationDescriptor,
): readonly Item[] {
  const target = world.index.byName(relation.target)?.descriptor;
  if (target === undefined) return [];
  const rows = visibleRows(world, relation.target);
  if (relation.kind !== 'm2m') {
    return rows.filter(({ values }) =>
      relation.on.every(({ from, to }) => same(source.values[fieldOf(owner, from)], values[fieldOf(target, to)])),
    );
  }
  const junction = world.index.byName(relation.junction)?.descriptor;
  const links = world.rows.get(relation.junction);
  if (junction === undefined || links === undefined) return [];
  const near = links.all.filter(
    (link) =>
      (!links.readable || links.visible.has(link)) &&
      relation.near.every(({ from, to }) => same(source.values[fieldOf(owner, from)], link[fieldOf(junction, to)])),
  );
  return rows.filter(({ values }) =>
    near.some((link) =>
      relation.far.every(({ from, to }) => same(link[fieldOf(junction, from)], values[fieldOf(target, to)])),
    ),
  );
}

function same(one: unknown, other: unknown): boolean {
  return one !== null && one !== undefined && String(one) === String(other);
}

function linkedItem(
  world: World,
  {
    collectionField,
    itemField,
    allowed,
  }: { readonly collectionField: string; readonly itemField: string; readonly allowed: readonly string[] },
  { values }: Item,
): Item | null {
  const collection = String(values[collectionField]);
  const key = world.index.byName(collection)?.descriptor.key[0] ?? '';
  if (!allowed.includes(collection)) return null;
  return visibleRows(world, collection).find((item) => same(item.values[key], values[itemField])) ?? null;
}

/** Filter, order, offset and limit. */
function cut(world: World, collection: string, rows: readonly Item[], given: Filter): readonly Item[] {
  const names = world.index.byName(collection);
  if (names === undefined) return [];
  const filter = isRecord(given.filter) ? given.filter : {};
  const matching = rows.filter((item) => matches(world, names, item, filter));
  const ordered = order(names.descriptor, matching, listOf(given.sort));
  const limit = typeof given.limit === 'number' ? given.limit : 100;
  const offset = typeof given.offset === 'number' ? given.offset : 0;
  return ordered.slice(offset, limit === -1 ? undefined : offset + limit);
}

function order(
  { fields, key }: CollectionDescriptor,
  rows: readonly Item[],
  sort: readonly unknown[],
): readonly Item[] {
  if (sort.length === 0) return rows;
  const terms = [...sort.map(String), ...key];
  return rows.toSorted((one, other) => {
    for (const term of terms) {
      const name = term.replace(/^-/, '');
      const field = fields.find((candidate) => candidate.name === name);
      const sign = term.startsWith('-') ? -1 : 1;
      const difference = compare(field, one.values[name], other.values[name]);
      if (difference !== 0) return sign * difference;
    }
    return 0;
  });
}

/** As PostgreSQL orders: null is larger than every value. */
function compare(field: FieldDescriptor | undefined, one: unknown, other: unknown): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (field?.type === 'bigInteger') return Number(BigInt(String(one)) - BigInt(String(other)));
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one) < String(other) ? -1 : Number(String(one) > String(other));
}

function matches(world: World, names: GraphqlCollection, item: Item, filter: Filter): boolean {
  return Object.entries(filter).every(([name, condition]) => {
    const all = listOf(condition).filter(isRecord);
    if (name === '_and') return all.every((one) => matches(world, names, item, one));
    if (name === '_or') return all.some((one) => matches(world, names, item, one));
    if (!isRecord(condition)) return true;
    const { descriptor } = names;
    const relation = descriptor.relations.find((one) => one.name === name);
    const field = descriptor.fields.find((one) => one.name === name);
    // An empty filter still asks for an item.
    if (relation !== undefined && Object.keys(condition).length === 0) {
      return related(world, descriptor, item, relation).length > 0;
    }
    const target = relation === undefined ? undefined : world.index.byName(relation.target);
    if (relation !== undefined && target !== undefined && isOfAnyItem(relation, condition)) {
      const rows = related(world, descriptor, item, relation);
      if (rows.length === 0) return meansNowhere(target.descriptor, condition);
      return rows.some((one) => matches(world, target, one, condition));
    }
    return Object.entries(condition).every(([key, operand]) => {
      if (relation === undefined || (relation.kind === 'm2o' && isOperator(key))) {
        return compared(field, item.values[name] ?? null, key, operand);
      }
      if (target === undefined) return false;
      const quantifier = relation.kind === 'm2o' ? '_some' : key;
      const inner = relation.kind === 'm2o' ? { [key]: operand } : isRecord(operand) ? operand : {};
      const rows = related(world, descriptor, item, relation);
      const found = rows.some((one) => matches(world, target, one, inner));
      if (relation.kind === 'm2o' && rows.length === 0) return meansNowhere(target.descriptor, inner);
      return quantifier === '_none' ? !found : found;
    });
  });
}

/** True below a relation to many items where the names are those of an item, without `_some` or `_none`. */
function isOfAnyItem({ kind }: RelationDescriptor, condition: Filter): boolean {
  return kind !== 'm2o' && !Object.hasOwn(condition, '_some') && !Object.hasOwn(condition, '_none');
}

/** Of an item that is not there only the key is known: it is null. */
function meansNowhere(target: CollectionDescriptor, filter: Filter): boolean {
  return Object.entries(filter).some(([name, condition]) => {
    const parts = listOf(condition).filter(isRecord);
    if (name === '_and') return parts.length > 0 && parts.every((part) => meansNowhere(target, part));
    if (name === '_or') return parts.some((part) => meansNowhere(target, part));
    return target.key.includes(name) && isRecord(condition) && condition._null === true;
  });
}

function isOperator(key: string): boolean {
  return ['_eq', '_neq', '_gt', '_lte', '_in', '_null'].includes(key);
}

function compared(field: FieldDescriptor | undefined, value: unknown, operator: string, operand: unknown): boolean {
  if (operator === '_null') return (value === null) === operand;
  if (value === null) return false;
  const text = field?.type === 'string' || field?.type === 'boolean';
  const against = (other: unknown): number => {
    if (text) return String(value) === String(other) ? 0 : String(value) < String(other) ? -1 : 1;
    return Number(BigInt(String(value)) - BigInt(String(other)));
  };
  if (operator === '_in') return listOf(operand).some((one) => against(one) === 0);
  if (operator === '_eq') return against(operand) === 0;
  if (operator === '_neq') return against(operand) !== 0;
  return operator === '_gt' ? against(operand) > 0 : against(operand) <= 0;
}

/** The functions of one field or relation. */
function functionsOf(world: World, owner: CollectionDescriptor, item: Item, name: string): unknown {
  const relation = owner.relations.find((one) => one.name === name && one.kind !== 'm2o');
  if (relation !== undefined) return { count: related(world, owner, item, relation).length };
  const value = item.values[name];
  if (Array.isArray(value)) return { count: value.length };
  if (typeof value !== 'string')
    return { year: null, month: null, day: null, hour: null, minute: null, second: null, count: null };
  const [, year, month, day] = /^(\d+)-(\d+)-(\d+)/.exec(value) ?? [];
  const [, hour, minute, second] = /(\d\d):(\d\d):(\d\d)/.exec(value) ?? [];
  const number = (part: string | undefined): number | null => (part === undefined ? null : Number(part));
  return {
    ...{ year: number(year), month: number(month), day: number(day) },
    ...{ hour: number(hour), minute: number(minute), second: number(second) },
  };
}

function aggregate(collection: CollectionDescriptor, rows: readonly Item[], given: Filter): unknown {
  const [group] = listOf(given.groupBy).map(String);
  const field = collection.fields.find(({ name }) => name === group);
  if (group === undefined) return [aggregated(collection, rows, null)];
  const groups = Map.groupBy(rows, ({ values }) => values[group] ?? null);
  return [...groups]
    .toSorted(([one], [other]) => compare(field, one, other))
    .slice(0, 100)
    .map(([value, members]) => aggregated(collection, members, { [group]: value }));
}

function aggregated({ fields }: CollectionDescriptor, rows: readonly Item[], group: Values | null): Values {
  const each = (of: (field: FieldDescriptor, values: readonly unknown[]) => unknown): Values =>
    Object.fromEntries(
      fields.map((field) => {
        const values = rows
          .map(({ values: one }) => one[field.name])
          .filter((value) => value !== null && value !== undefined);
        return [field.name, of(field, values)];
      }),
    );
  const extreme = (sign: number) =>
    each((field, values) => values.toSorted((one, other) => sign * compare(field, one, other))[0] ?? null);
  return {
    group,
    countAll: rows.length,
    count: each((_, values) => values.length),
    countDistinct: each((_, values) => new Set(values.map(String)).size),
    min: extreme(1),
    max: extreme(-1),
    sum: each(({ type }, values) => {
      if (values.length === 0 || (type !== 'integer' && type !== 'bigInteger')) return null;
      const sum = values.reduce<bigint>((total, value) => total + BigInt(String(value)), 0n);
      return type === 'integer' ? Number(sum) : String(sum);
    }),
  };
}
