/** The root fields of collections and of functions of the database. Source: API specification, section 14.3, and docs/functions.md. */
import {
  type ArgumentDescriptor,
  type GraphqlCollectionRoot,
  type GraphqlOperation,
  type GraphqlScope,
  graphqlCollectionRoots,
  graphqlConnectionNames,
  graphqlConnectionRoot,
  graphqlName,
  graphqlScope,
  type ResultMember,
} from '@tablewright/runtime/language';
import type { MemberEnum } from '../api.ts';
import { createFacts } from '../cache/same.ts';
import { type PrintedField, type SdlField, sdlField, sdlType } from '../print/sdl.ts';
import type { RoleFunction } from '../role-view/role-view.ts';
import type { GraphqlCollection, GraphqlCollections } from './graphql-collections.ts';
import { listArguments } from './items.ts';
import { nonNull, valueType } from './values.ts';

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
      return {
        type: `[${types.aggregated}!]!`,
        args: [{ name: 'groupBy', type: '[String]' }, ...list, { name: 'having', type: 'JSON' }],
        note,
      };
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

/** `region_totals_result`: the type of objects that a function gives. */
export function resultTypeName(name: string): string {
  return `${graphqlName(name)}_result`;
}

export function functionRoots(schema: GraphqlCollections, kind: 'query' | 'mutation'): readonly PrintedField[] {
  return schema.view.functions
    .filter(({ reads }) => reads === (kind === 'query'))
    .map((called) => sdlField(rootOf(called, schema)));
}

export function functionTypesOf({ view }: GraphqlCollections): readonly string[] {
  return view.functions.flatMap((called) => {
    const { name, returns } = called;
    if (returns.kind !== 'objects') return [];
    const members = returns.members.map((member) => ({
      name: graphqlName(member.name),
      type: memberType(member, called),
    }));
    return [sdlType('type', resultTypeName(name), members)];
  });
}

function rootOf(called: RoleFunction, schema: GraphqlCollections): SdlField {
  const { name, note } = called;
  const args = called.arguments.map((argument) => argumentOf(argument, called));
  const names = new Set(args.map((argument) => argument.name));
  const options = optionsOf(called, schema).filter((option) => !names.has(option.name));
  return { name: graphqlName(name), type: resultType(called, schema), args: [...args, ...options], note };
}

function argumentOf({ name, optional, ...argument }: ArgumentDescriptor, called: RoleFunction): SdlField {
  const type = valueType({ ...argument, wire: { kind: 'text' } }, false, enumOf(called, 'argument', name), true);
  return { name: graphqlName(name), type: nonNull(type, optional === true) };
}

function optionsOf({ returns, items }: RoleFunction, { collections }: GraphqlCollections): readonly SdlField[] {
  if (!('many' in returns) || returns.many !== true) return [];
  const filter = items === null ? undefined : collections.get(items.name)?.types.filter;
  if (filter !== undefined) return listArguments(filter, false);
  return [
    { name: 'limit', type: 'Int' },
    { name: 'offset', type: 'Int' },
  ];
}

function resultType(called: RoleFunction, { collections }: GraphqlCollections): string {
  const { name, returns, items, reads } = called;
  if (returns.kind === 'nothing') return 'Boolean';
  if (returns.kind === 'value') {
    const type = memberType(returns.value, called);
    return returns.many === true ? `[${type}]` : type;
  }
  const type =
    returns.kind === 'objects' ? resultTypeName(name) : (collections.get(items?.name ?? '')?.types.item ?? 'Boolean');
  if (returns.many !== true) return type;
  return reads ? `[${type}!]!` : `[${type}!]`;
}

function memberType({ native: _, ...member }: ResultMember, called: RoleFunction): string {
  return valueType(member, false, enumOf(called, 'result', member.name));
}

function enumOf(
  { graphqlEnums }: RoleFunction,
  part: MemberEnum['part'],
  name: string,
): MemberEnum['type'] | undefined {
  return graphqlEnums.find((found) => found.part === part && found.name === name)?.type;
}
