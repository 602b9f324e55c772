/** Members of a client: methods by the permissions of its class, functions of the database, and routes of the project's own code. */
import {
  type AccessClass,
  type ArgumentDescriptor,
  type CustomRoute,
  type ObjectShape,
  type ResultMember,
  type Shape,
  systemCollection,
} from '@tablewright/runtime/language';
import { commentResource, userResource, utilResource } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import { type DeclaredMember, member } from '../print/declarations.ts';
import { printOpen } from '../print/expression.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { array, generic, list, nullable, object, type Type, type TypeMember, union } from '../print/type.ts';
import { callableOperations, changesModel, collectionLists, hasUsers, mayCall } from '../role-view/callable.ts';
import type { RoleFunction, RoleView } from '../role-view/role-view.ts';
import { type ClientCollection, type ClientCollections, clientCollectionsOf } from './client-collections.ts';
import { sentType, takenType } from './values.ts';

export interface Parts {
  readonly surface: ClientCollections;
  readonly items: readonly ClientCollection[];
  readonly singletons: readonly ClientCollection[];
  /** By the names of their handlers. The collection of users may be missing, because every caller is one of them. */
  readonly system: readonly (readonly [string, ClientCollection | null])[];
  readonly invites: readonly string[];
  readonly comments: readonly string[];
  readonly utils: readonly string[];
  readonly handlers: readonly string[];
  readonly routes: readonly CustomRoute[];
  readonly functions: readonly RoleFunction[];
}

export function partsOf(api: Api, access: AccessClass, view: RoleView): Parts {
  const collections = clientCollectionsOf(api, access, view);
  const usable = [...collections.values()].filter((collection) => permissionsOf(collection).length > 0);
  const ordinary = usable.filter(({ descriptor }) => descriptor.system !== true);
  const withUsers = hasUsers(api);
  const served = usable.flatMap((collection): Parts['system'] => {
    const path = systemCollection(collection.view.name)?.path;
    return collection.descriptor.system === true && path !== undefined ? [[path.slice(1), collection]] : [];
  });
  const readsFiles = served.some(([name, collection]) => name === 'files' && collection?.view.readable === true);
  const collectionsOfAll = withUsers && served.every(([name]) => name !== 'users') ? [['users', null] as const] : [];
  return {
    surface: collections,
    items: ordinary.filter(({ view: shown }) => !shown.singleton),
    singletons: ordinary.filter(({ view: shown }) => shown.singleton),
    system: [...served, ...collectionsOfAll],
    invites: mayCall(userResource.operations.usersInvite, access, (name) => collections.get(name)?.view)
      ? ['send', 'accept']
      : ['accept'],
    comments: withUsers ? commentMethods(api, access, view) : [],
    utils: utilityNames(api, access, view),
    handlers: [
      ...(withUsers ? ['auth'] : []),
      ...(readsFiles ? ['assets'] : []),
      ...(api.graphql ? ['graphql'] : []),
      ...(access.admin && changesModel(api) ? ['collections', 'fields', 'relations'] : []),
    ],
    routes: api.customRoutes.filter((route) => route.access.includes(access.name)),
    functions: view.functions,
  };
}

/** Form uploads, by the permissions to create and update files. */
export function uploadMethods(files: ClientCollection): readonly string[] {
  const permissions = permissionsOf(files);
  return [
    ...(permissions.includes('create') ? ['createOne', 'createMany', 'import'] : []),
    ...(permissions.includes('update') ? ['updateOne'] : []),
  ];
}

function commentMethods(api: Api, access: AccessClass, view: RoleView): readonly string[] {
  const operations = callableOperations(commentResource, access, view, collectionLists(api, view));
  return operations.map(({ id }) => id.replace('activityComment', '').toLowerCase());
}

/** `random`, `hash`, … of the operations that the class may call. */
function utilityNames(api: Api, access: AccessClass, view: RoleView): readonly string[] {
  const operations = callableOperations(utilResource, access, view, collectionLists(api, view));
  const names = operations.flatMap(({ client }) => /^utils\.(\w+)/.exec(client ?? '')?.[1] ?? []);
  return [...new Set(names)];
}

/** Every signed-in caller reads at least the own key. A class that reads no users changes none either. */
export function ownMethods(users: ClientCollection | null): readonly string[] {
  const permissions = users === null ? [] : permissionsOf(users);
  return ['read', ...(permissions.includes('read') && permissions.includes('update') ? ['update'] : [])];
}

/** The rights that a client has on a collection, as `@tablewright/client/typed` names them; none without routes. */
export function permissionsOf({ view }: ClientCollection): readonly string[] {
  const { operations, readable, key, writes, singleton } = view;
  if (operations.size === 0) return [];
  if (singleton) return [...(readable ? ['single'] : []), ...(writes?.update ? ['updateSingle'] : [])];
  const named = key.length > 0;
  return [
    ...(readable && operations.has('list') ? ['list'] : []),
    ...(readable && operations.has('read') && named ? ['read'] : []),
    ...(writes?.create ? ['create'] : []),
    ...(writes?.update ? writing('update', named, readable) : []),
    ...(writes?.delete ? writing('delete', named, readable) : []),
  ];
}

/** Keys can be named by those who read them, and items be found by those who read anything. */
function writing(action: 'update' | 'delete', named: boolean, readable: boolean): readonly string[] {
  return [action, ...(named ? [`${action}Keys`] : []), ...(readable ? [`${action}Query`] : [])];
}

/** Prints the argument of `bindClient`. */
export function printPermissions(parts: Parts): string {
  const permissions = permissionTables(parts);
  return Object.values(permissions).every((permission) => permission === undefined) ? '{}' : printOpen(permissions, 0);
}

function permissionTables(parts: Parts): Readonly<Record<string, object | undefined>> {
  const permissions = (ones: readonly ClientCollection[]) => {
    const groups = [...Map.groupBy(ones, (collection) => permissionsOf(collection).join()).values()];
    const listed = groups.map((same) => ({
      names: same.map(({ view }) => view.name),
      rights: same[0] === undefined ? [] : permissionsOf(same[0]),
    }));
    return listed.length === 0 ? undefined : listed;
  };
  const some = (list: readonly string[]) => (list.length === 0 ? undefined : list);
  const users = parts.system.find(([name]) => name === 'users');
  const system = parts.system.map(
    ([name, collection]) => [name, collection === null ? [] : permissionsOf(collection)] as const,
  );
  return {
    items: permissions(parts.items),
    singletons: permissions(parts.singletons),
    system: system.length === 0 ? undefined : Object.fromEntries(system),
    me: users ? ownMethods(users[1]) : undefined,
    invites: users ? parts.invites : undefined,
    comments: parts.system.some(([name]) => name === 'activity') ? some(parts.comments) : undefined,
    utils: some(parts.utils),
    handlers: some(parts.handlers),
    functions: parts.functions.length === 0 ? undefined : functionNames(parts.functions),
    routes: some(parts.routes.map(({ method, path }) => `${method} ${path}`)),
  };
}

/** Functions by how they are called, and those that give lists of items. */
function functionNames(functions: Parts['functions']): Readonly<Record<string, readonly string[] | undefined>> {
  const some = (isOne: (called: Parts['functions'][number]) => boolean): readonly string[] | undefined => {
    const names = functions.filter(isOne).map(({ name }) => name);
    return names.length === 0 ? undefined : names;
  };
  return {
    read: some(({ reads }) => reads),
    write: some(({ reads }) => !reads),
    lists: some(({ reads, returns }) => !reads && returns.kind === 'items' && returns.many === true),
  };
}

/** One member for each function: the type of its call. */
export function functionMembers(
  functions: readonly RoleFunction[],
  collections: ClientCollections,
): readonly DeclaredMember[] {
  return functions.map((called) =>
    member(called.name, overload(called, collections), called.note ? [called.note] : []),
  );
}

function overload(called: RoleFunction, collections: ClientCollections): Type {
  const { name, returns } = called;
  const start = [stringLiteral(name), argumentsType(called.arguments)] as const;
  if (returns.kind === 'items') {
    const facts = collections.get(returns.collection)?.names.facts ?? 'never';
    return generic('ItemsCall', ...start, 'Schema', facts, returns.many === true ? 'true' : 'false');
  }
  return generic('ValueCall', ...start, outputType(returns));
}

function argumentsType(args: readonly ArgumentDescriptor[]): Type {
  if (args.length === 0) return generic('Record', 'never', 'never');
  return object(
    args.map(({ name, optional, values, ...argument }) => ({
      name: propertyKey(name),
      optional: optional === true,
      type: nullable(takenType({ ...argument, wire: { kind: 'text' } }, values ?? null)),
    })),
  );
}

function outputType(returns: Exclude<RoleFunction['returns'], { kind: 'items' }>): Type {
  if (returns.kind === 'nothing') return 'undefined';
  const single = returns.kind === 'value' ? memberType(returns.value) : objectType(returns.members);
  return returns.many === true ? array(single) : single;
}

function objectType(members: readonly ResultMember[]): Type {
  return object(
    members.map((member) => ({ name: propertyKey(member.name), optional: false, type: memberType(member) })),
  );
}

function memberType({ values, ...member }: ResultMember): Type {
  return nullable(sentType(member, values ?? null));
}

/** One member for each route, by method and path, with the input first and then the output. */
export function routeMembers(routes: readonly CustomRoute[]): readonly DeclaredMember[] {
  return routes.map((route) =>
    member(`${route.method} ${route.path}`, generic('Route', inputOf(route), outputOf(route))),
  );
}

function inputOf({ params, query, body }: CustomRoute): Type {
  const parts: readonly TypeMember[] = [
    ...(params && params.members.length > 0 ? [part('params', false, typeOf(params, 'taken'))] : []),
    ...(query && query.members.length > 0 ? [part('query', isFree(query), typeOf(query, 'taken'))] : []),
    ...(body ? [part('body', false, typeOf(body, 'taken'))] : []),
  ];
  return parts.length === 0 ? nothing : object(parts);
}

function part(name: string, optional: boolean, type: Type): TypeMember {
  return { name, optional, type };
}

const nothing = generic('Record', 'never', 'never');

function isFree({ members }: ObjectShape): boolean {
  return members.every(({ optional, shape }) => optional === true || shape.kind === 'array');
}

function outputOf({ response }: CustomRoute): Type {
  return response === undefined ? 'undefined' : typeOf(response, 'given');
}

/** A time is text in JSON; requests may have a `Date` for it. */
function typeOf(shape: Shape, side: 'taken' | 'given'): Type {
  switch (shape.kind) {
    case 'json':
      return 'JsonValue';
    case 'date':
      return side === 'given' ? 'string' : union('string', 'Date');
    case 'literal':
      return union(...shape.values.map((value) => (typeof value === 'string' ? stringLiteral(value) : String(value))));
    case 'array':
      return side === 'given' ? array(typeOf(shape.of, side)) : list(typeOf(shape.of, side));
    case 'union':
      return union(...shape.of.map((alternative) => typeOf(alternative, side)));
    case 'object':
      return objectOf(shape, side);
    default:
      return shape.kind;
  }
}

/** An index stands for every name, so beside others it cannot say what is behind it. */
function objectOf({ members, rest }: ObjectShape, side: 'taken' | 'given'): Type {
  const listed = members.map(({ name, optional, shape }) =>
    part(propertyKey(name), optional === true, typeOf(shape, side)),
  );
  const others = rest ? [part('[name: string]', false, members.length > 0 ? 'unknown' : typeOf(rest, side))] : [];
  return listed.length + others.length === 0 ? nothing : object([...listed, ...others]);
}
