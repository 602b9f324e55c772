/** The root fields of collections. Source: API specification, section 14.2. */
import {
  type GraphqlCollectionRoot,
  type GraphqlOperation,
  type GraphqlScope,
  graphqlCollectionRoots,
  graphqlConnectionNames,
  graphqlConnectionRoot,
  graphqlScope,
} from '@tablewright/runtime/language';
import { createFacts } from '../cache/same.ts';
import { type PrintedField, type SdlField, sdlField, sdlType } from '../print/sdl.ts';
import type { GraphqlCollection, GraphqlCollections } from './graphql-collections.ts';
import { listArguments } from './items.ts';

/** The root fields of one scope, printed once for all classes that see the same of a collection. */
export function collectionRoots(
  { collections, connections }: GraphqlCollections,
  scope: GraphqlScope,
  kind: 'query' | 'mutation',
): readonly PrintedField[] {
  return [...collections.values()]
    .filter(({ descriptor }) => graphqlScope(descriptor) === scope)
    .flatMap((shown) => {
      const roots = rootsOf(shown, () => printRoots(shown));
      return kind === 'query' && connections ? [...roots.query, ...roots.connections] : roots[kind];
    });
}

type Roots = Readonly<Record<'query' | 'mutation' | 'connections', readonly PrintedField[]>>;

const rootsOf = createFacts<GraphqlCollection, Roots>();

function printRoots(shown: GraphqlCollection): Roots {
  const offered = graphqlCollectionRoots(shown.descriptor).filter(({ operation }) => isOffered(operation, shown));
  const { deprecated } = shown.view;
  const printed = ({ name, operation }: GraphqlCollectionRoot): PrintedField =>
    sdlField({ name, ...signature(operation, shown), deprecated });
  const rootsOf = (kind: 'query' | 'mutation') => offered.filter((root) => root.kind === kind).map(printed);
  const connection = connectionOf(shown);
  const connections = connection === undefined ? [] : [printed(connection)];
  return { query: rootsOf('query'), mutation: rootsOf('mutation'), connections };
}

/** The root field that pages through the list of a collection; undefined where its key cannot be read. */
function connectionOf(shown: GraphqlCollection): GraphqlCollectionRoot | undefined {
  const root = graphqlConnectionRoot(shown.descriptor);
  return root !== undefined && shown.view.key.length > 0 && isOffered('connection', shown) ? root : undefined;
}

const pageArguments: readonly SdlField[] = [
  { name: 'first', type: 'Int' },
  { name: 'after', type: 'String' },
  { name: 'last', type: 'Int' },
  { name: 'before', type: 'String' },
];

/** Arguments of lists, without those that choose a page in another way. */
function pagedArguments(list: readonly SdlField[]): readonly SdlField[] {
  return list.filter(({ name }) => !['limit', 'offset', 'page'].includes(name));
}

/** Exactly what the paths of a collection offer over REST. */
function isOffered(operation: GraphqlOperation, { view }: GraphqlCollection): boolean {
  const { readable, operations, key, writes } = view;
  switch (operation) {
    case 'list':
    case 'connection':
    case 'aggregate':
      return readable && operations.has('list');
    case 'singleton':
      return readable && operations.has('readSingleton');
    case 'byKey':
      return readable && operations.has('read') && key.length > 0;
    case 'createOne':
    case 'createMany':
      return writes?.create != null;
    case 'updateOne':
    case 'updateMany':
    case 'updateSingleton':
      return writes?.update != null;
    case 'updateBatch':
      return writes?.update != null && key.length > 0;
    case 'deleteOne':
    case 'deleteMany':
      return writes?.delete === true;
  }
}

const id: SdlField = { name: 'id', type: 'ID!' };

/*
 * Lists in arguments are as nullable as clients of this API family declare their variables. A variable of a type that
 * allows null has no place where null is not allowed. A null in one of them is refused when the mutation runs.
 */
const ids: SdlField = { name: 'ids', type: '[ID]!' };

function signature(operation: GraphqlOperation, { view, types }: GraphqlCollection): Omit<SdlField, 'name'> {
  const { note } = view;
  const list = listArguments(types.filter, view.archived);
  const answers = listArguments(types.filter, false);
  const item = view.readable ? types.item : 'Boolean';
  const many = view.readable ? `[${types.item}]` : 'Boolean';
  const answered = view.readable ? answers : [];
  const create: SdlField = { name: 'data', type: `${types.create}!` };
  const update: SdlField = { name: 'data', type: `${types.update}!` };
  switch (operation) {
    case 'list':
      return { type: `[${types.item}!]!`, args: list, note };
    case 'connection':
      return {
        type: `${graphqlConnectionNames(view.name).connection}!`,
        args: [...pageArguments, ...pagedArguments(list)],
        note,
      };
    case 'singleton':
      return { type: types.item, note };
    case 'byKey':
      return { type: types.item, args: [id], note };
    case 'aggregate':
      return { type: `[${types.aggregated}!]!`, args: [{ name: 'groupBy', type: '[String]' }, ...list], note };
    case 'createOne':
      return { type: item, args: [create] };
    case 'createMany':
      return { type: many, args: [{ name: 'data', type: `[${types.create}!]` }, ...answered] };
    case 'updateOne':
      return { type: item, args: [id, update] };
    case 'updateMany':
      return { type: many, args: [ids, update, ...answered] };
    case 'updateBatch':
      return { type: many, args: [{ name: 'data', type: `[${types.update}!]` }, ...answered] };
    case 'updateSingleton':
      return { type: item, args: [update] };
    case 'deleteOne':
      return { type: 'delete_one', args: [id] };
    case 'deleteMany':
      return { type: 'delete_many', args: [ids] };
  }
}

/** Prints the types around the items of every list that can be paged through. */
export function connectionTypes({ collections, connections }: GraphqlCollections): readonly string[] {
  if (!connections) return [];
  return [pageInfoType, ...[...collections.values()].flatMap(typesOf)];
}

/** Name of the type that tells of the pages beside one. */
export const pageInfoName = 'PageInfo';

const pageInfoType = sdlType('type', pageInfoName, [
  { name: 'hasNextPage', type: 'Boolean!' },
  { name: 'hasPreviousPage', type: 'Boolean!' },
  { name: 'startCursor', type: 'String' },
  { name: 'endCursor', type: 'String' },
]);

function typesOf(shown: GraphqlCollection): readonly string[] {
  if (connectionOf(shown) === undefined) return [];
  const { connection, edge } = graphqlConnectionNames(shown.view.name);
  const { item } = shown.types;
  return [
    sdlType('type', connection, [
      { name: 'edges', type: `[${edge}!]!` },
      { name: 'nodes', type: `[${item}!]!` },
      { name: 'totalCount', type: 'Int!' },
      { name: 'pageInfo', type: `${pageInfoName}!` },
    ]),
    sdlType('type', edge, [
      { name: 'cursor', type: 'String!' },
      { name: 'node', type: `${item}!` },
    ]),
  ];
}
