/** Members of a client, by the permissions of its class. */
import { type AccessClass, type CustomRoute, systemCollection } from '@tablewright/runtime/language';
import { commentResource, userResource, utilResource } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import { printOpen } from '../print/value.ts';
import { callableOperations, collectionLists, hasUsers, mayCall } from '../role-view/callable.ts';
import type { RoleFunction, RoleView } from '../role-view/role-view.ts';
import { type ClientCollection, type ClientCollections, clientCollectionsOf } from './client-collections.ts';

/** The parts of a client. */
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

/** Gathers them. */
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
    handlers: [...(withUsers ? ['auth'] : []), ...(readsFiles ? ['assets'] : []), ...(api.graphql ? ['graphql'] : [])],
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

/** Methods of the paths of comments under activity. */
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
