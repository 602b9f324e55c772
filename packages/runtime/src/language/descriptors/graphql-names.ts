/**
 * Names of types and fields in GraphQL: pure functions of the API's names. So the compiler, which writes a schema, and
 * the runtime, which answers it, need no exchange.
 *
 * Source: API specification, section 14.2.
 */
import { reservedPrefix, systemCollection } from '../system/system.ts';
import type { CollectionDescriptor } from './collection.ts';

/** `items` serves the collections of the database, `system` those of the platform and everything around accounts. */
export type GraphqlScope = 'items' | 'system';

/** The names of the root types of a schema text, which holds both scopes. */
export const graphqlRootTypes: Readonly<Record<GraphqlScope, Readonly<Record<'query' | 'mutation', string>>>> = {
  items: { query: 'Query', mutation: 'Mutation' },
  system: { query: 'SystemQuery', mutation: 'SystemMutation' },
};

/**
 * Makes a name of letters, digits and underscores, which replace other characters and stand before a leading digit.
 * Underscores at the beginning become one, since two are GraphQL's own. Where nothing else is left a 0 follows.
 */
export function graphqlName(name: string): string {
  if (isPlainName(name)) return name;
  const formatted = `_${name.replaceAll(/[^\w]/gu, '_')}`;
  if (/^_+$/.test(formatted)) return '_0';
  return /^_\d/.test(formatted) ? formatted : formatted.slice(1).replace(/^__+/, '_');
}

/** Letters, digits and underscores after a letter: nearly every name, and a compiler asks for all of them several times. */
function isPlainName(name: string): boolean {
  for (let position = 0; position < name.length; position += 1) {
    const unit = name.charCodeAt(position);
    const isLetter = (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
    if (!isLetter && (position === 0 || (unit !== 0x5f && (unit < 0x30 || unit > 0x39)))) return false;
  }
  return name !== '';
}

/** The names of the types of one collection. */
export type GraphqlTypeNames = ReturnType<typeof graphqlTypeNames>;

/** `articles_filter`, where nothing else of `GraphqlTypeNames` is asked for. */
export function graphqlFilterName(collection: string): string {
  return `${graphqlName(collection)}_filter`;
}

/** `update_articles_input`, in the same way. */
export function graphqlUpdateName(collection: string): string {
  return `update_${graphqlName(collection)}_input`;
}

/** The names of the types of a collection, by its API name. */
export function graphqlTypeNames(collection: string) {
  const item = graphqlName(collection);
  return {
    /** `articles` */
    item,
    /** `articles_filter` */
    filter: graphqlFilterName(collection),
    /** `articles_quantifier_filter`: below a relation to many, with `_some` and `_none`. */
    quantifier: `${item}_quantifier_filter`,
    /** `articles_link_filter`: below a many-to-any, whose link rows these are; the next its quantifiers. */
    linkFilter: `${item}_link_filter`,
    linkQuantifier: `${item}_link_quantifier_filter`,
    /** `articles_aggregated`; the next four are what its functions give. */
    aggregated: `${item}_aggregated`,
    counts: `${item}_aggregated_count`,
    sums: `${item}_aggregated_sum`,
    means: `${item}_aggregated_avg`,
    values: `${item}_aggregated_values`,
    /** `create_articles_input` */
    create: `create_${item}_input`,
    /** `update_articles_input` */
    update: graphqlUpdateName(collection),
    /** `changes_articles_input` */
    changes: `changes_${item}_input`,
    /** `articles_item_union`: the items that a link row can hold. */
    union: `${item}_item_union`,
    /** `link_articles_input`: an element of a many-to-any whose link rows these are; the next its changes. */
    link: `link_${item}_input`,
    linkChanges: `link_changes_${item}_input`,
  } as const;
}

/** The field with the functions of a field or relation: `published_at_func`. */
export function graphqlFunctionsName(name: string): string {
  return `${graphqlName(name)}_func`;
}

/** The input field with the detailed changes of a relation to many: `tags_changes`. */
export function graphqlChangesName(name: string): string {
  return `${graphqlName(name)}_changes`;
}

/** The filter of link rows by the items of one collection: `item__headings`; `item:headings` in REST. */
export function graphqlItemFilterName(collection: string): string {
  return `item__${graphqlName(collection)}`;
}

/** Operation of a root field on a collection. */
export type GraphqlOperation =
  | 'list'
  | 'singleton'
  | 'byKey'
  | 'connection'
  | 'aggregate'
  | 'createOne'
  | 'createMany'
  | 'updateOne'
  | 'updateMany'
  | 'updateBatch'
  | 'updateSingleton'
  | 'deleteOne'
  | 'deleteMany';

/** One root field of a collection. */
export interface GraphqlCollectionRoot {
  readonly name: string;
  readonly kind: 'query' | 'mutation';
  readonly operation: GraphqlOperation;
}

/** `articles_connection`: the root field that pages through a list, and its type; undefined where there is none. */
export function graphqlConnectionRoot(descriptor: Named): GraphqlCollectionRoot | undefined {
  const [list] = graphqlCollectionRoots(descriptor);
  if (list?.operation !== 'list' || descriptor.key.length === 0) return undefined;
  return { name: `${list.name}_connection`, kind: 'query', operation: 'connection' };
}

/** `articles_connection` and `articles_edge`: the types around the items of a page. */
export function graphqlConnectionNames(collection: string): { readonly connection: string; readonly edge: string } {
  const item = graphqlName(collection);
  return { connection: `${item}_connection`, edge: `${item}_edge` };
}

type Named = Pick<CollectionDescriptor, 'name' | 'key' | 'singleton' | 'system'>;

/** The scope whose root fields read and write a collection. */
export function graphqlScope({ system }: Pick<Named, 'system'>): GraphqlScope {
  return system === true ? 'system' : 'items';
}

/**
 * Every root field that a collection can have. Those that an access class has are in its schema text. Collections of the
 * platform lose their prefix: `users_by_id`; those without an address have none, and are reached by relations.
 */
export function graphqlCollectionRoots({ name, key, singleton, system }: Named): readonly GraphqlCollectionRoot[] {
  if (system === true && systemCollection(name)?.path === undefined) return [];
  const x = graphqlName(system === true ? name.slice(reservedPrefix.length) : name);
  const query = (operation: GraphqlOperation, formatted: string) =>
    ({ name: formatted, kind: 'query', operation }) as const;
  const mutation = (operation: GraphqlOperation, spelling: string) =>
    ({ name: spelling, kind: 'mutation', operation }) as const;
  if (singleton) return [query('singleton', x), mutation('updateSingleton', `update_${x}`)];
  const listed = [query('list', x), query('aggregate', `${x}_aggregated`)];
  if (key.length === 0) return listed;
  return [
    ...listed,
    query('byKey', `${x}_by_id`),
    mutation('createOne', `create_${x}_item`),
    mutation('createMany', `create_${x}_items`),
    mutation('updateOne', `update_${x}_item`),
    mutation('updateMany', `update_${x}_items`),
    mutation('updateBatch', `update_${x}_batch`),
    mutation('deleteOne', `delete_${x}_item`),
    mutation('deleteMany', `delete_${x}_items`),
  ];
}
