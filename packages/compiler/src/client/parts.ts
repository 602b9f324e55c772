/** Members of a client, by the permissions of its class. */
import { type AccessClass, type CustomRoute, systemCollection } from '@tablewright/runtime/language';
import { commentResource, userResource, utilResource } from '@tablewright/runtime/operations';
import type { Api } from '../api.ts';
import { callableOperations, collectionLists, mayCall } from '../role-view/callable.ts';
import { hasUsers } from '../role-view/has-users.ts';
import type { RoleFunction, RoleView } from '../role-view/role-view.ts';
import { type ClientCollection, type ClientCollections, clientCollectionsOf } from './client-collections.ts';
import { permissionsOf } from './rights.ts';

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
