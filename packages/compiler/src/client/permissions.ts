/** The script of a client: it states everything that a class may do, and nothing else. */
import { printOpen } from '../print/value.ts';
import type { ClientCollection } from './client-collections.ts';
import { ownMethods, type Parts } from './parts.ts';
import { permissionsOf } from './rights.ts';

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
