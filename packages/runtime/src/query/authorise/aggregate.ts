import { forbidden, invalidQuery, missingName } from '../../errors.ts';
import { parseCall } from '../../language/conditions/filter-syntax.ts';
import { type AggregateFunction, aggregateFits, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import { always, type FieldFunction } from '../../language/index.ts';
import { isOrdered } from '../../language/operators/index.ts';
import { functionFits, isFieldFunction } from '../../language/types/index.ts';
import { refuseUnknownFunctions } from '../../sql/calls.ts';
import type { CollectionScope, FieldScope, Scope } from '../../sql/scope.ts';
import { isOneRow } from '../parse/parse-read.ts';
import type { AggregateRequest, NamedOrder, SortTerm } from '../parse/request.ts';
import { checkSort, type OrderTerm, resolveSort } from './sort.ts';

/** Meaning of a name: a field, a relation, or both where a field holds the key of one item. */
type Named = ReturnType<typeof lookUp>;

export interface Group extends Named {
  /** As requested: `year(released)`. */
  readonly name: string;
  /** In the answer: `released_year`. */
  readonly key: string;
  readonly function?: FieldFunction;
}

/** One aggregate value; without a field it counts rows. */
export interface Aggregate {
  readonly function: AggregateFunction;
  readonly field: FieldScope | null;
}

/** One term of the order: a group by its position, or an aggregate. */
interface AggregateOrder {
  readonly by: number | Aggregate;
  readonly descending: boolean;
}

/** One response name of aggregate rows: the groups as an object, one value, values as an object, or the same JSON. */
export type AggregatePart =
  | { readonly kind: 'groups'; readonly key: string }
  | { readonly kind: 'value'; readonly key: string; readonly of: Aggregate }
  | { readonly kind: 'values'; readonly key: string; readonly parts: readonly AggregatePart[] }
  | { readonly kind: 'constant'; readonly key: string; readonly json: string };

export interface AggregateNames {
  readonly groups: readonly Group[];
  readonly values: readonly Aggregate[];
  readonly order: readonly AggregateOrder[];
  /** Parts of the rows, where they are not the groups and then the values by their functions. */
  readonly parts?: readonly AggregatePart[];
}

/** Syntax that only names of a scope tell: a name like a call, and no field, is one; `aggregate` takes no such. */
export function checkCalls(scope: Scope, collection: CollectionScope | undefined, request: AggregateRequest): void {
  const isCall = (name: string) => collection?.fields.has(name) !== true && parseCall(name) !== undefined;
  for (const { field } of request.values) {
    if (field !== null && isCall(field)) throw invalidQuery('"aggregate" takes fields, not functions of them.');
  }
  if (request.sort.some(({ name }) => splitAggregate(name)?.function === 'countAll')) {
    throw invalidQuery('"countAll" counts rows: "sort" takes it without a field.');
  }
  const unused = unusedTerms(request);
  refuseUnknownFunctions(
    scope,
    unused.map((term) => term.path),
    'sort',
  );
  const sorted = isOneRow(request) ? [] : request.sort.map((term) => term.name);
  for (const name of [...request.groups, ...sorted]) {
    if (isCall(name) && !isFieldFunction(parseCall(name)?.function ?? '')) {
      throw invalidQuery(`"${name}" calls an unknown function.`);
    }
  }
}

/** The names stage. Throws FORBIDDEN for a name that is hidden, unknown or secret. */
export function authoriseAggregate(scope: Scope, collection: CollectionScope, request: AggregateRequest): void {
  for (const name of request.groups) resolveGroup(collection, name);
  for (const { field } of request.values) lookUpValue(collection, field);
  resolveUnused(scope, collection, request);
  for (const { name } of request.sort) lookUpOrder(collection, request, name);
}

/** The last stage, for names that are authorised. Throws INVALID_QUERY for what does not fit its type. */
export function resolveAggregate(scope: Scope, collection: CollectionScope, request: AggregateRequest): AggregateNames {
  const groups = request.groups.map((name) => resolveGroup(collection, name));
  checkGroups(groups);
  const values = request.values.map((value) =>
    toAggregate(value.function, value.field, lookUpValue(collection, value.field)),
  );
  checkSort(resolveUnused(scope, collection, request));
  const order = isOneRow(request) ? [] : request.sort.map((term) => resolveOrder(collection, groups, values, term));
  return { groups, values, order };
}

/** The same for rows that are flat, where a group and the values of a function stand side by side under their names. */
export function resolveFlatAggregate(
  scope: Scope,
  collection: CollectionScope,
  request: AggregateRequest,
): AggregateNames {
  const names = resolveAggregate(scope, collection, request);
  const functions = new Set<string>(names.values.map((value) => value.function));
  if (names.groups.some(({ key }) => functions.has(key))) throw twoOfOneName();
  return names;
}

function twoOfOneName(): Error {
  return invalidQuery('Two values of the answer would have one name.');
}

/**
 * The terms of `sort` that would order the items of a list. Clients send the order of their list also when they ask for
 * its totals. One row has no order, so the terms are checked as those of a list, and not used.
 */
function unusedTerms(request: AggregateRequest): readonly SortTerm[] {
  if (!isOneRow(request)) return [];
  const terms = request.sort.filter(({ name }) => !isAggregateFunction(name) && splitAggregate(name) === undefined);
  return terms.map(({ name, descending }) => ({ path: name.split('.'), descending }));
}

function resolveUnused(scope: Scope, collection: CollectionScope, request: AggregateRequest): readonly OrderTerm[] {
  return resolveSort(scope, collection, unusedTerms(request), always);
}

function lookUp(collection: CollectionScope, name: string) {
  const field = collection.fields.get(name);
  const relation = collection.relations.get(name);
  if (field?.secret === true || (field === undefined && relation === undefined)) throw missingName(collection, name);
  return { field, relation };
}

function lookUpValue(collection: CollectionScope, name: string | null): Named | null {
  return name === null ? null : lookUp(collection, name);
}

function resolveGroup(collection: CollectionScope, name: string): Group {
  const call = collection.fields.has(name) ? undefined : parseCall(name);
  if (call === undefined) return { name, key: name, ...lookUp(collection, name) };
  const named = lookUp(collection, call.argument);
  if (!isFieldFunction(call.function)) throw forbidden();
  return { name, key: `${call.argument}_${call.function}`, function: call.function, ...named };
}

/** Every group must have an order, and a name of its own. */
function checkGroups(groups: readonly Group[]): void {
  for (const group of groups) {
    if (!groupFits(group))
      throw invalidQuery('"groupBy" takes fields that have an order, and functions that fit them.');
  }
  if (new Set(groups.map(({ key }) => key)).size < groups.length) throw twoOfOneName();
}

function groupFits({ field, relation, function: call }: Group): boolean {
  if (call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o') return true;
  if (field === undefined) return false;
  return call === undefined ? isOrdered(field.descriptor) : functionFits(call, field.descriptor.type);
}

function toAggregate(name: AggregateFunction, member: string | null, named: Named | null): Aggregate {
  if (named === null) return { function: name, field: null };
  if (named.field === undefined || !aggregateFits(name, named.field.descriptor.type)) {
    throw invalidQuery(`"${name}" is not defined for the type of ${JSON.stringify(member)}.`);
  }
  return { function: name, field: named.field };
}

/** `sum.views` as function and field; undefined when a name has no such form. */
function splitAggregate(name: string): { readonly function: AggregateFunction; readonly field: string } | undefined {
  const dot = name.indexOf('.');
  const head = name.slice(0, Math.max(dot, 0));
  return isAggregateFunction(head) ? { function: head, field: name.slice(dot + 1) } : undefined;
}

function lookUpOrder(collection: CollectionScope, request: AggregateRequest, name: string): void {
  const split = splitAggregate(name);
  if (isAggregateFunction(name) || request.groups.some((group) => keyOf(group) === name)) return;
  if (split !== undefined) lookUp(collection, split.field);
  else if (!isOneRow(request)) resolveGroup(collection, name);
}

function keyOf(group: string): string {
  const call = parseCall(group);
  return call === undefined ? group : `${call.argument}_${call.function}`;
}

function resolveOrder(
  collection: CollectionScope,
  groups: readonly Group[],
  values: readonly Aggregate[],
  { name, descending }: NamedOrder,
): AggregateOrder {
  const index = groups.findIndex((group) => group.name === name || group.key === name);
  if (index >= 0) return { by: index, descending };
  const split = splitAggregate(name);
  if (split !== undefined)
    return { by: toAggregate(split.function, split.field, lookUp(collection, split.field)), descending };
  const requested = values.filter((value) => value.function === name);
  const [only] = requested;
  if (only !== undefined && requested.length === 1) return { by: only, descending };
  if (requested.length === 0 && (name === 'count' || name === 'countAll')) {
    return { by: { function: name, field: null }, descending };
  }
  throw invalidQuery('"sort" takes group fields and aggregates such as "count" or "sum.field" here.');
}
