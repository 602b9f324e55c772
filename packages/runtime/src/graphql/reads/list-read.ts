/** The arguments of lists, read as the parameters of the same names are over REST. Source: API specification, 5.1 and 14.2. */
import { invalidQuery } from '../../errors.ts';
import {
  always,
  type Condition,
  type GraphqlCollection,
  type GraphqlIndex,
  type ManyToAny,
} from '../../language/index.ts';
import { readFilter, refuseProblem } from '../../query/authorise/filter.ts';
import { itemCollections } from '../../query/authorise/links.ts';
import type { NestedRead } from '../../query/authorise/nested.ts';
import { conditionShape, limitShape, type Shape } from '../../query/authorise/shape.ts';
import {
  checkSort,
  type OrderTerm,
  orderBySearch,
  refuseUnlimited,
  resolveSort,
  withSearch,
} from '../../query/authorise/sort.ts';
import { type Cursor, cursorShape, readPosition } from '../../query/parse/cursor.ts';
import {
  checkJson,
  parseArchived,
  parseFilterParameter,
  parseLimit,
  parseOffset,
  parseSearchText,
  parseSort,
} from '../../query/parse/parse-parameters.ts';
import type { QueryParameter, QueryTree } from '../../query/parse/parse-query-string.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import { authoriseRows } from '../../sql/archived/other-rows.ts';
import { refuseUnknownFunctions } from '../../sql/calls.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';
import { type Input, inputValue, isJson, type Variables } from '../compile/input.ts';
import { restFilter } from '../compile/rest-names.ts';

/** Context in which every list of an operation is read. */
export interface ListSetting {
  readonly index: GraphqlIndex;
  readonly scope: Scope;
  readonly limits: ReadLimits;
}

export interface ListSlot {
  readonly collection: CollectionScope;
  /** Set where the rows are link rows of a many-to-any. */
  readonly link: ManyToAny | undefined;
  readonly arguments: ReadonlyMap<string, Input>;
  /** Set where the list is a page of a connection. */
  readonly paged?: true;
  /** The request for it, where no variable has a part in it. */
  readonly known: ListRead | undefined;
}

export interface ListRead {
  readonly read: NestedRead;
  readonly order: readonly OrderTerm[];
  /** Set where the list is a page. */
  readonly cursor?: Cursor;
  /** The part of it that decides the plan. */
  readonly shape: Shape;
}

/** Prepares a list, and reads it where nothing depends on variables. Throws INVALID_QUERY or FORBIDDEN for what cannot be used. */
export function listSlot(
  setting: ListSetting,
  collection: CollectionScope,
  link: ManyToAny | undefined,
  inputs: ReadonlyMap<string, Input>,
  paged?: true,
): ListSlot {
  const slot: ListSlot = { collection, link, arguments: inputs, ...(paged && { paged }), known: undefined };
  const fixed = [...inputs.values()].every((input) => input.fixed);
  return fixed ? { ...slot, known: readList(setting, slot, {}) } : slot;
}

/** Reads what a request asks of a list: syntax, names, values, in this order. */
export function readList(setting: ListSetting, slot: ListSlot, variables: Variables): ListRead {
  if (slot.known !== undefined) return slot.known;
  const { index, scope, limits } = setting;
  const { link } = slot;
  const tree = argumentTree(index, index.byName(slot.collection.descriptor.name), slot.arguments, variables);
  const archived = parseArchived(tree);
  const collection = authoriseRows(slot.collection, archived);
  const page = slot.paged && readPage(slot.arguments, variables, limits.maxLimit);
  const limit = page?.limit ?? parseLimit(tree, limits);
  const request = {
    filter: parseFilterParameter(tree),
    search: parseSearchText(tree, limits),
    sort: parseSort(tree, limits),
    limit,
    offset: parseOffset(tree, limit),
    ...(archived && { archived }),
    below: new Map<string, never>(),
  };
  const links = link && itemCollections(scope, collection, link).map(({ descriptor }) => descriptor.name);
  const filter = readFilter(scope, collection.descriptor.name, request.filter, limits, links);
  refuseProblem(filter.problems, 'syntax');
  const sorted = request.sort.map(({ path }) => path);
  refuseUnknownFunctions(scope, sorted, 'sort');
  const order = resolveSort(scope, collection, request.sort, filter.condition);
  refuseProblem(filter.problems, 'name');
  refuseProblem(filter.problems, 'value');
  checkSort(order);
  refuseUnlimited(filter.condition, limit);
  const condition = withSearch(filter.condition, collection, request.search);
  const having = { condition: always, problems: [] };
  const read: NestedRead = { request, collection, many: true, filter, having, condition, below: new Map() };
  const shape = listShape(condition, request);
  if (page === undefined) return { read, order: orderBySearch(order, condition, collection), shape };
  const { cursor } = page;
  return { read, order: orderBySearch(order, condition, collection), cursor, shape: [shape, cursorShape(cursor)] };
}

/** The arguments of a list as parameters; null is no argument. */
export function argumentTree(
  index: GraphqlIndex,
  names: GraphqlCollection | undefined,
  inputs: ReadonlyMap<string, Input>,
  variables: Variables,
): QueryTree {
  const tree = new Map<string, QueryParameter>();
  for (const [name, input] of inputs) {
    const value = inputValue(input, variables);
    if (value === undefined || value === null) continue;
    if (!isJson(value)) throw invalidQuery(`"${name}" must be JSON.`);
    const written = name === 'filter' ? restFilter(index, names, value) : value;
    checkJson(written, name);
    tree.set(name, { value: written, text: false });
  }
  return tree;
}

/** Returns the part of a list that decides its plan: everything but values. */
function listShape(
  condition: Condition,
  { sort, limit, offset, archived }: Pick<NestedRead['request'], 'sort' | 'limit' | 'offset' | 'archived'>,
): Shape {
  const terms = sort.map(({ path, descending }) => [descending ? '-' : '', ...path]);
  return [conditionShape(condition), terms, String(limitShape(limit)), offset > 0 ? 'offset' : '', archived ?? ''];
}

/** Items of a page at most, where QUERY_LIMIT_MAX allows as many. */
const maxItems = 1000;

/** Reads the page from the arguments of a connection. Throws INVALID_QUERY for one that is none. */
function readPage(
  inputs: ReadonlyMap<string, Input>,
  variables: Variables,
  maxLimit: number = maxItems,
): { readonly limit: number; readonly cursor: Cursor } {
  const argument = (name: string): unknown => {
    const input = inputs.get(name);
    return input === undefined ? null : (inputValue(input, variables) ?? null);
  };
  const [first, after, last, before] = ['first', 'after', 'last', 'before'].map(argument);
  if ((first === null) === (last === null)) throw invalidQuery('A connection needs one of "first" and "last".');
  if (first === null && after !== null) throw invalidQuery('"after" stands beside "first".');
  if (last === null && before !== null) throw invalidQuery('"before" stands beside "last".');
  const [name, size, position] = first === null ? ['last', last, before] : ['first', first, after];
  const limit = Math.min(maxItems, maxLimit);
  if (typeof size !== 'number' || size < 1 || size > limit) {
    throw invalidQuery(`"${String(name)}" must be a number from 1 to ${limit}.`);
  }
  const cursor = readPosition(typeof position === 'string' ? position : '');
  return { limit: size, cursor: first === null ? { ...cursor, back: true } : cursor };
}
