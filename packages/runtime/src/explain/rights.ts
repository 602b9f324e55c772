/** The rights that a refused request lacks: as few as would be enough. */
import type { AccessClass, AccessRule, CollectionAccess, CompiledApi, WriteRule } from '../language/index.ts';

const purge = 'purge';

/** Says that no caller finds a collection. Below `/items` the name of a system collection is read as an empty one. */
export function formatAbsent(collection: string): string {
  const reason =
    collection === ''
      ? 'System collections are not below /items, but at addresses such as /users'
      : `There is no collection ${JSON.stringify(collection)}`;
  return `${reason}: administrators are refused, too.`;
}

type RuledAction = 'read' | 'create' | 'update' | 'delete';

/**
 * A right that a role may lack: to a name of a collection, or with an empty name to the action at all. For deleting the
 * name `purge` stands for removing archived items for good.
 */
export interface Right {
  readonly action: RuledAction;
  readonly collection: string;
  readonly name: string;
}

/** Parts of an API that decide about permissions. */
type RuledApi = Pick<CompiledApi, 'collections'>;

/** Actions on collections that are not granted at all, with an empty name, and names that are not within those that are. */
export function missingPermissions(
  { collections }: RuledApi,
  access: AccessClass,
  actions: readonly RuledAction[],
): readonly Right[] {
  const byCollection = new Map(access.collections.map((entry) => [entry.collection, entry]));
  return collections.flatMap(({ name: collection, fields, relations, softDelete }) =>
    actions.flatMap((action) => {
      const rules: readonly AccessRule[] = byCollection.get(collection)?.[action] ?? [];
      const granted = new Set(rules.flatMap((rule) => (rule.purge ? [purge] : rule.fields)));
      const purged = softDelete === undefined ? [] : [purge];
      const names = action === 'delete' ? purged : [...fields, ...relations].map(({ name }) => name);
      const missing = [...new Set(names)].filter((name) => !granted.has(name));
      // The action at all comes last, so that names go first which are not needed.
      return [...missing, ...(rules.length === 0 ? [''] : [])].map((name) => ({ action, collection, name }));
    }),
  );
}

/** The fewest of the rights that are enough, dropping one after the other; null when all are not. */
export async function leastOf(
  permissions: readonly Right[],
  suffices: (grants: readonly Right[]) => Promise<boolean>,
): Promise<readonly Right[] | null> {
  if (!(await suffices(permissions))) return null;
  let needed = permissions;
  for (const right of permissions) {
    const fewer = needed.filter((candidate) => candidate !== right);
    if (await suffices(fewer)) needed = fewer;
  }
  return needed;
}

/** An access class that may do everything to everything, without being one of administrators. */
export function everything({ collections }: RuledApi): AccessClass {
  const all = collections.map(({ name: collection, fields, relations }) => {
    const rule = openRule([...fields, ...relations].map(({ name }) => name));
    return { collection, read: [rule], create: [rule], update: [rule], delete: [{ ...rule, purge: true as const }] };
  });
  return { name: '*', roles: [], admin: false, collections: all };
}

/** An access class with rights added to it, on every row. */
export function withPermissions(access: AccessClass, permissions: readonly Right[]): AccessClass {
  const added = Map.groupBy(permissions, ({ collection }) => collection);
  const names = new Set(access.collections.map(({ collection }) => collection));
  const fresh = [...added.keys()].filter((collection) => !names.has(collection)).map((collection) => ({ collection }));
  return {
    ...access,
    collections: [...access.collections, ...fresh].map((entry: CollectionAccess) =>
      [...Map.groupBy(added.get(entry.collection) ?? [], ({ action }) => action)].reduce(withRule, entry),
    ),
  };
}

function withRule(entry: CollectionAccess, [action, permissions]: [RuledAction, readonly Right[]]): CollectionAccess {
  const names = permissions.flatMap(({ name }) => (name === '' ? [] : [name]));
  const rule =
    action === 'delete' ? { ...openRule([]), ...(names.length > 0 && { purge: true as const }) } : openRule(names);
  return { ...entry, [action]: [...(entry[action] ?? []), rule] };
}

function openRule(fields: readonly string[]): WriteRule {
  return { fields, where: { kind: 'and', of: [] }, check: null, presets: [] };
}

/** Returns the reason why items of a collection cannot be named by key, or written; null if they can. */
export function unreachable({ collections }: RuledApi, collection: string): string | null {
  const descriptor = collections.find(({ name }) => name === collection);
  return descriptor?.key.length === 0 ? `"${collection}" has no key: it can only be listed.` : null;
}

/** A whole sentence about a right that is lacking. */
export function formatMissing({ action, collection, name }: Right): string {
  const some = name === '' ? collection : `${name} of ${collection}`;
  const what: Readonly<Record<RuledAction, string>> = {
    read: `reading ${some}`,
    create: `creating ${collection}${name === '' ? '' : ` with ${name}`}`,
    update: `changing ${some}`,
    delete: `deleting ${collection}${name === purge ? ' for good' : ''}`,
  };
  return `No rule grants ${what[action]}.`;
}
