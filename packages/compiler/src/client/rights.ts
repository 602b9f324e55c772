import type { ClientCollection } from './client-collections.ts';

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
