/**
 * Meaning of the names of a GraphQL schema, found from the collections alone: nothing is generated beside the schema
 * texts. A text says which of these names its access class has; these tables say what they mean.
 *
 * Source: API specification, sections 14.2 and 14.3.
 */

import { isComputable } from '../types/index.ts';
import { findOrCreate } from '../values/once.ts';
import type { CollectionDescriptor, ManyToAny, ManyToOne, RelationDescriptor } from './collection.ts';
import type { FunctionDescriptor } from './function.ts';
import {
  type GraphqlCollectionRoot,
  type GraphqlScope,
  graphqlChangesName,
  graphqlCollectionRoots,
  graphqlConnectionRoot,
  graphqlFunctionsName,
  graphqlItemFilterName,
  graphqlName,
  graphqlScope,
} from './graphql-names.ts';

/** A root field of the system scope that is no collection's. */
export type GraphqlService = string;

/** Root fields that are no collection's, by the kind of their operation. */
export type GraphqlServices = Readonly<Record<'query' | 'mutation', readonly GraphqlService[]>>;

/** Meaning of a root field. */
export type GraphqlRoot =
  | (GraphqlCollectionRoot & { readonly collection: CollectionDescriptor })
  | { readonly operation: 'service'; readonly service: GraphqlService }
  | { readonly operation: 'function'; readonly function: FunctionDescriptor };

/**
 * Meaning of a field of an item's type. `name` is the API name.
 *
 * - `field`: with `relation` and below a selection, the item that its key leads to; without a selection the key. With
 *   `link` and below a selection, a union: the item of any collection that the link row holds.
 * - `relation`: related items; a many-to-one of several fields is one item.
 * - `functions`: an object of functions of the field or relation: `published_at_func { year }`.
 */
export type GraphqlMember =
  | { readonly kind: 'field'; readonly name: string; readonly relation?: ManyToOne; readonly link?: ManyToAny }
  | { readonly kind: 'relation'; readonly name: string; readonly relation: RelationDescriptor }
  | { readonly kind: 'functions'; readonly name: string };

/**
 * Meaning of a key of a filter besides `_and` and `_or`. `name` is the key in a filter over REST (`item:headings`),
 * except below `functions`: `{ published_at_func: { year: … } }` is `{ 'year(published_at)': … }`.
 *
 * Below a relation to many stand `_some` and `_none`, too. Below JSON, `_at` holds an object of JSON Pointers with
 * operators, which stand beside the others over REST.
 */
interface GraphqlFilterMember {
  readonly kind: 'name' | 'functions';
  readonly name: string;
}

/** Meaning of a key of a payload: the value of that API name, or in `changes` its detailed form. */
interface GraphqlInputMember {
  readonly kind: 'value' | 'changes';
  readonly name: string;
}

/** Meaning of the names of one collection's types, each by its GraphQL name, hidden ones too. */
export interface GraphqlCollection {
  readonly descriptor: CollectionDescriptor;
  readonly output: ReadonlyMap<string, GraphqlMember>;
  readonly filter: ReadonlyMap<string, GraphqlFilterMember>;
  /** For create and update alike. Elements of a many-to-any also have `collection` and `item`, as over REST. */
  readonly input: ReadonlyMap<string, GraphqlInputMember>;
}

/** All that names stand for. */
export interface GraphqlIndex {
  readonly roots: Readonly<
    Record<GraphqlScope, Readonly<Record<'query' | 'mutation', ReadonlyMap<string, GraphqlRoot>>>>
  >;
  /** The collection of an item's type, by the type's name; undefined for all other types. */
  readonly byType: (type: string) => GraphqlCollection | undefined;
  /** By API name. */
  readonly byName: (collection: string) => GraphqlCollection | undefined;
}

/** Indexes the names of an API. The names of a collection are looked up when it is first asked for. */
export function indexGraphql(
  collections: readonly CollectionDescriptor[],
  services: GraphqlServices,
  functions: readonly FunctionDescriptor[] = [],
): GraphqlIndex {
  const named = new Map(collections.map((collection) => [collection.name, collection]));
  const typed = new Map(collections.map((collection) => [graphqlName(collection.name), collection]));
  const links = graphqlLinks(collections);
  const cache = new Map<string, GraphqlCollection>();
  function look(descriptor: CollectionDescriptor | undefined): GraphqlCollection | undefined {
    if (descriptor === undefined) return undefined;
    return findOrCreate(cache, descriptor.name, () => namesOf(descriptor, links.get(descriptor.name) ?? []));
  }
  return {
    roots: rootsOf(collections, services, functions),
    byType: (type) => look(typed.get(type)),
    byName: (name) => look(named.get(name)),
  };
}

/** The many-to-any relations of each link collection, by the collection's name. */
export function graphqlLinks(collections: readonly CollectionDescriptor[]): ReadonlyMap<string, readonly ManyToAny[]> {
  const all = collections.flatMap(({ relations }) => relations.filter((relation) => relation.kind === 'm2a'));
  return Map.groupBy(all, ({ target }) => target);
}

function rootsOf(
  collections: readonly CollectionDescriptor[],
  services: GraphqlServices,
  functions: readonly FunctionDescriptor[],
): GraphqlIndex['roots'] {
  const entries = (scope: GraphqlScope, kind: 'query' | 'mutation'): readonly (readonly [string, GraphqlRoot])[] =>
    collections
      .filter((collection) => graphqlScope(collection) === scope)
      .flatMap((collection) => graphqlCollectionRoots(collection).map((root) => ({ ...root, collection })))
      .flatMap((root) => (root.kind === kind ? [[root.name, root] as const] : []));
  // Where a project has no connections, another field may have such a name, and takes its place.
  const connections = (scope: GraphqlScope): readonly (readonly [string, GraphqlRoot])[] =>
    collections.flatMap((collection) => {
      const root = graphqlScope(collection) === scope ? graphqlConnectionRoot(collection) : undefined;
      return root === undefined ? [] : [[root.name, { ...root, collection }] as const];
    });
  const serviceRoots = (kind: 'query' | 'mutation'): readonly (readonly [string, GraphqlRoot])[] =>
    services[kind].map((service) => [service, { operation: 'service', service }]);
  const functionRoots = (reads: boolean): readonly (readonly [string, GraphqlRoot])[] =>
    functions
      .filter((called) => called.reads === reads)
      .map((called) => [graphqlName(called.name), { operation: 'function', function: called }]);
  return {
    items: {
      query: new Map([...connections('items'), ...entries('items', 'query'), ...functionRoots(true)]),
      mutation: new Map([...entries('items', 'mutation'), ...functionRoots(false)]),
    },
    system: {
      query: new Map([...connections('system'), ...entries('system', 'query'), ...serviceRoots('query')]),
      mutation: new Map([...entries('system', 'mutation'), ...serviceRoots('mutation')]),
    },
  };
}

function namesOf(descriptor: CollectionDescriptor, links: readonly ManyToAny[]): GraphqlCollection {
  const { fields, relations } = descriptor;
  const fieldNames = new Set(fields.map(({ name }) => name));
  const others = relations.filter(({ name }) => !fieldNames.has(name));
  const many = others.filter(({ kind }) => kind !== 'm2o').map(({ name }) => name);
  const called = [...fields.filter(({ type }) => isComputable(type)).map(({ name }) => name), ...many];
  const names = [...fieldNames, ...others.map(({ name }) => name)];
  const functions = called.map((name) => [graphqlFunctionsName(name), { kind: 'functions', name }] as const);
  return {
    descriptor,
    output: new Map<string, GraphqlMember>([
      ...fields.map(({ name }) => [graphqlName(name), memberOf(name, relations, links)] as const),
      ...others.map(
        (relation) => [graphqlName(relation.name), { kind: 'relation', name: relation.name, relation }] as const,
      ),
      ...functions,
    ]),
    filter: new Map<string, GraphqlFilterMember>([
      ...names.map((name) => [graphqlName(name), { kind: 'name', name }] as const),
      ...functions,
      ...links
        .flatMap(({ allowed }) => allowed)
        .map((name) => [graphqlItemFilterName(name), { kind: 'name', name: `item:${name}` }] as const),
    ]),
    input: new Map<string, GraphqlInputMember>([
      ...names.map((name) => [graphqlName(name), { kind: 'value', name }] as const),
      ...many.map((name) => [graphqlChangesName(name), { kind: 'changes', name }] as const),
    ]),
  };
}

function memberOf(name: string, relations: readonly RelationDescriptor[], links: readonly ManyToAny[]): GraphqlMember {
  const [link, ...more] = links;
  const relation = relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === name);
  return {
    kind: 'field',
    name,
    ...(relation?.kind === 'm2o' && { relation }),
    // Where several relations have the same link rows, none says alone what a row holds, and its item is a key.
    ...(link?.itemField === name && more.length === 0 && { link }),
  };
}
