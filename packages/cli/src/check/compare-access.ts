import { isDeepStrictEqual } from 'node:util';
import type { AccessClass, CollectionAccess } from '@tablewright/runtime';
import type { Finding } from './verdict.ts';

const actions = ['read', 'create', 'update', 'delete'] as const;

/** Where two sets of access classes give a role other rights, role by role. */
export function compareAccess(compiled: readonly AccessClass[], now: readonly AccessClass[]): readonly Finding[] {
  const [before, after] = [byRole(compiled), byRole(now)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((role) => {
    const object = `role ${role}`;
    const [was, is] = [before.get(role), after.get(role)];
    if (was === undefined) return [{ object, message: 'It is not compiled yet.' }];
    if (is === undefined) return [{ object, message: 'It is compiled and gone.' }];
    if (was.admin !== is.admin) {
      return [{ object, message: `It is ${is.admin ? 'an' : 'no'} administrator, unlike what was compiled.` }];
    }
    // The permissions of an administrator follow from the tables.
    return is.admin ? [] : comparePermissions(role, was, is);
  });
}

function comparePermissions(role: string, was: AccessClass, is: AccessClass): readonly Finding[] {
  const [before, after] = [byCollection(was), byCollection(is)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) =>
    actions.flatMap((action) => {
      const [old, fresh] = [before.get(name)?.[action], after.get(name)?.[action]];
      if (isDeepStrictEqual(old, fresh)) return [];
      const message =
        fresh === undefined
          ? 'It is compiled and gone.'
          : old === undefined
            ? 'It is not compiled yet.'
            : 'Its rules are not those that were compiled.';
      return [{ object: `rule ${role} ${action} ${name}`, message }];
    }),
  );
}

function byRole(classes: readonly AccessClass[]): ReadonlyMap<string, AccessClass> {
  return new Map(classes.flatMap((accessClass) => accessClass.roles.map((role) => [role, accessClass] as const)));
}

function byCollection({ collections }: AccessClass): ReadonlyMap<string, CollectionAccess> {
  return new Map(collections.map((collection) => [collection.collection, collection]));
}
