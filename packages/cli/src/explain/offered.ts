/** Actions of the API on a collection that are possible at all, regardless of the rules. */
import type { CompiledApi } from '@tablewright/runtime';

/** Actions that rules can allow. */
export type RuledAction = 'read' | 'create' | 'update' | 'delete';

/** Reason why an action is impossible for every caller; null if it is possible. */
export function notOffered(
  { collections, routes }: Pick<CompiledApi, 'collections' | 'routes'>,
  collection: string,
  action: RuledAction,
): string | null {
  const descriptor = collections.find(({ name }) => name === collection);
  // The platform's own collections have routes of their own.
  if (descriptor === undefined || descriptor.system === true || action === 'read') return null;
  if (descriptor.key.length === 0) return `"${collection}" has no key: it can only be listed.`;
  if (descriptor.singleton && action === 'delete') return `"${collection}" is a singleton, which cannot be deleted.`;
  // The one object of a singleton is made by its first change.
  const operation = descriptor.singleton ? 'update' : action;
  const isRouted = routes.some((route) => route.collection.name === collection && route.operation === operation);
  return isRouted ? null : `The database does not allow to ${action} rows of "${collection}".`;
}
