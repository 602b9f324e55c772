import { forbidden, invalidQuery } from '../../errors.ts';
import type { Condition, ManyToAny, ParsedFilter } from '../../language/index.ts';
import { authoriseRows } from '../../sql/archived/other-rows.ts';
import { isName, refuseUnknownFunctions } from '../../sql/calls.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';
import type { DeepRequest, ReadLimits } from '../parse/request.ts';
import { boundValues } from '../plan/plan-bounds.ts';
import { type AggregateNames, authoriseAggregate, checkCalls, resolveFlatAggregate } from './aggregate.ts';
import { collectValues, type OpenValues, readFilter, refuseProblem, relationsOf } from './filter.ts';
import { checkHaving, collectHaving, readHaving, refuseHaving } from './having.ts';
import { isItemName, itemCollections, linkOf, scopedCollection } from './links.ts';
import { checkSort, type OrderTerm, orderBySearch, refuseUnlimited, resolveSort, withSearch } from './sort.ts';

/** Read of the rows of one relation under `deep`, with its names looked up as far as they are known. */
export interface NestedRead {
  readonly request: DeepRequest;
  /** The collection of the rows; undefined when the relation is hidden or unknown. */
  readonly collection: CollectionScope | undefined;
  /** True if the relation leads to a list of rows. */
  readonly many: boolean;
  readonly filter: ParsedFilter;
  /** Over aggregate rows. */
  readonly having: ParsedFilter;
  /** Filter and search together. */
  readonly condition: Condition;
  readonly below: NestedReads;
}

/** Nested reads by the name of their relation, or its alias. */
export type NestedReads = ReadonlyMap<string, NestedRead>;

/** A level of `deep`: where its names are looked up. */
interface Level {
  readonly collection: CollectionScope | undefined;
  readonly link?: ManyToAny | undefined;
  readonly aliases?: ReadonlyMap<string, string>;
  /** True if the relation that leads here has many rows. */
  readonly many?: boolean;
}

/** Reads the filters of `deep` against the names of an access class. Throws nothing: problems are judged by stage. */
export function readNested(
  scope: Scope,
  level: Level,
  deep: ReadonlyMap<string, DeepRequest>,
  limits: ReadLimits,
): NestedReads {
  const reads = new Map<string, NestedRead>();
  for (const [name, request] of deep) {
    const target = targetOf(scope, level, name);
    const { collection, link, many = false } = target;
    const links =
      link && collection && itemCollections(scope, collection, link).map(({ descriptor }) => descriptor.name);
    const filter = readFilter(scope, collection?.descriptor.name ?? '', request.filter, limits, links);
    const condition = collection ? withSearch(filter.condition, collection, request.search) : filter.condition;
    reads.set(name, {
      request,
      collection,
      many,
      filter,
      having: readHaving(scope, collection, request.aggregate?.having, limits),
      condition,
      below: readNested(scope, target, request.below, limits),
    });
  }
  return reads;
}

function targetOf(scope: Scope, { collection, link, aliases }: Level, name: string): Level {
  if (collection === undefined) return { collection };
  if (link !== undefined && isItemName(link, name)) {
    const item = scopedCollection(name);
    return { collection: itemCollections(scope, collection, link).find(({ descriptor }) => descriptor.name === item) };
  }
  const relation = collection.relations.get(aliases?.get(name) ?? name)?.descriptor;
  if (relation === undefined) return { collection: undefined };
  return {
    collection: scope.collections.get(relation.target),
    link: linkOf(relation),
    many: relation.kind !== 'm2o',
  };
}

/** The syntax stage: keys with `_` that are no names, filters, functions. */
export function refuseNestedSyntax(scope: Scope, reads: NestedReads, aliases?: ReadonlyMap<string, string>): void {
  for (const [name, { request, collection, filter, having, below }] of reads) {
    if (name.startsWith('_') && !isName(scope, name) && aliases?.has(name) !== true) {
      throw invalidQuery(`"deep" has no parameter "${name}".`);
    }
    refuseProblem(filter.problems, 'syntax');
    refuseHaving(having, 'syntax');
    const sorted = request.sort.map(({ path }) => path);
    if (request.aggregate === undefined) refuseUnknownFunctions(scope, sorted, 'deep');
    else checkCalls(scope, collection, request.aggregate);
    refuseNestedSyntax(scope, below);
  }
}

/** The names stage. Gives the orders, whose last stage `checkNested` judges. */
export function authoriseNested(scope: Scope, reads: NestedReads): NestedOrders {
  const orders = new Map<NestedRead, readonly OrderTerm[]>();
  visit(reads, (read) => {
    const { collection, request, filter, having } = read;
    authoriseRows(collection, request.archived);
    if (collection === undefined) throw forbidden();
    refuseProblem(filter.problems, 'name');
    refuseHaving(having, 'name');
    if (request.aggregate === undefined) {
      if (read.many) refuseUnlimited(filter.condition, request.limit);
      const order = resolveSort(scope, collection, request.sort, filter.condition);
      orders.set(read, orderBySearch(order, read.condition, collection));
    } else authoriseAggregate(scope, collection, request.aggregate);
  });
  return orders;
}

/** The order that each nested read asks for; empty for the relation's own. */
export type NestedOrders = ReadonlyMap<NestedRead, readonly OrderTerm[]>;

/** Aggregations of the nested reads that aggregate. */
export type NestedAggregates = ReadonlyMap<NestedRead, AggregateNames>;

/** The values stage: checks that operators, values, orders and functions fit the types. Returns the aggregations. */
export function checkNested(scope: Scope, reads: NestedReads, orders: NestedOrders): NestedAggregates {
  const aggregates = new Map<NestedRead, AggregateNames>();
  visit(reads, (read) => {
    const { collection, request, filter, having, many } = read;
    refuseProblem(filter.problems, 'value');
    if (collection === undefined || request.aggregate === undefined) return;
    if (!many) throw invalidQuery('"deep" aggregates the rows of relations to many items.');
    aggregates.set(read, resolveFlatAggregate(scope, collection, request.aggregate));
    checkHaving(collection, having);
  });
  for (const order of orders.values()) checkSort(order);
  return aggregates;
}

/** Number of relations that all filters look through or count. */
export function nestedRelationsOf(reads: NestedReads): number {
  let relations = 0;
  visit(reads, ({ filter, having }) => {
    relations += relationsOf(filter.condition) + relationsOf(having.condition);
  });
  return relations;
}

/** True if no filter has a problem. */
export function isSound(reads: NestedReads): boolean {
  let sound = true;
  visit(reads, ({ filter, having }) => {
    sound &&= filter.problems.length === 0 && having.problems.length === 0;
  });
  return sound;
}

/** Adds values of checked nested reads, in the order of the request; returns where the bounds of each stand. */
export function collectNested(open: OpenValues, scope: Scope, reads: NestedReads): ReadonlyMap<NestedRead, number> {
  const bounds = new Map<NestedRead, number>();
  visit(reads, (read) => {
    if (read.collection !== undefined) {
      collectValues(open, scope, read.collection, read.condition);
      collectHaving(open, read.collection, read.having.condition);
    }
    bounds.set(read, open.values.length);
    open.values.push(...boundValues(read.request));
  });
  return bounds;
}

function visit(reads: NestedReads, accept: (read: NestedRead) => void): void {
  for (const read of reads.values()) {
    accept(read);
    visit(read.below, accept);
  }
}
