/** Permissions that give roles a part of all rights: each kind of right on each collection alone, and on all of them. */
import { parsePermissions } from '@tablewright/introspect';
import type { Collection } from '@tablewright/introspect/schema';
import { systemCollection } from '@tablewright/runtime/language';

type Action = 'read' | 'create' | 'update' | 'delete';
type Rules = Readonly<Partial<Record<Action, object | true>>>;
type PermissionDocument = ReturnType<typeof parsePermissions>['document'];

/** Kinds that roles have on all collections together: what the others show they show of each alone. */
const common = ['reads_half', 'creates', 'updates_half', 'deletes', 'reads_half_and_writes'];

/** Roles that have rights on all collections together, and each kind of right on every collection of `alone` by itself. */
export function partialRights(
  collections: readonly Collection[],
  alone: (collection: Collection) => boolean,
): PermissionDocument {
  const kinds = Object.keys(rulesOf([], []));
  const roles = [
    ['nothing', []] as const,
    ...common.map((kind) => [`all_${kind}`, collections.map((one) => grant(one, kind))] as const),
    ...collections
      .filter(alone)
      .flatMap((one) => kinds.map((kind) => [`${one.name}_${kind}`, [grant(one, kind)]] as const)),
  ].map(([role, grants]) => [role, grants.filter(([, rules]) => Object.keys(rules).length > 0)] as const);
  const granted = roles.filter(([role, grants]) => role === 'nothing' || grants.length > 0);
  const text = JSON.stringify({
    roles: Object.fromEntries(granted.map(([role]) => [role, { admin: false, app: true }])),
    permissions: Object.fromEntries(granted.map(([role, grants]) => [role, Object.fromEntries(grants)])),
  });
  return parsePermissions(text, 'permissions.yaml').document;
}

function grant(collection: Collection, kind: string): readonly [string, Rules] {
  const { name, fields, relations } = collection;
  const system = systemCollection(name);
  const names = [...fields, ...relations].map((one) => one.name);
  const isWritten = (field: string): boolean =>
    ![system?.serverOwned ?? [], system?.fixed ?? [], system?.administrators ?? []].flat().includes(field);
  const rules = rulesOf(names, names.filter(isWritten))[kind] ?? {};
  const granted = system?.granted;
  const allowed = Object.entries(rules).filter(([action]) => granted?.some((one) => one === action) ?? true);
  return [name, Object.fromEntries(allowed)];
}

/** Rules by the kind of right. Half of the fields are every other field or relation. */
function rulesOf(read: readonly string[], written: readonly string[]): Readonly<Record<string, Rules>> {
  const half = (names: readonly string[], rest: number) => ({ fields: names.filter((_, at) => at % 2 === rest) });
  return {
    reads: { read: true },
    reads_half: { read: half(read, 0) },
    reads_other_half: { read: half(read, 1) },
    creates: { create: true },
    updates: { update: true },
    updates_half: { update: half(written, 0) },
    deletes: { delete: true },
    writes: { create: true, update: true, delete: true },
    reads_half_and_writes: { read: half(read, 0), create: true, update: half(written, 1), delete: true },
    everything: { read: true, create: true, update: true, delete: true },
  };
}
