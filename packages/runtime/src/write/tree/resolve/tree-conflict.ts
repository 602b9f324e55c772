/** Requests that made at the same time what a tree was about to make. */
import type { CollectionDescriptor } from '../../../language/index.ts';
import type { WriteScope } from '../../access/scope.ts';
import { isKnown, takenKey } from '../../execute/violation.ts';
import { type Group, groupsOf } from '../parse/group.ts';

/**
 * True if an error says that another request has made an item or a link since the tree looked for it. Then it is there
 * at the next try. Items that a payload declares as new are not looked for.
 */
export function isTreeConflict({ open }: WriteScope, root: Group, error: unknown): boolean {
  const name = takenKey(error);
  if (name === undefined) return false;
  const sought = groupsOf(root).flatMap(({ writable, nodes, targets }) => {
    const keyed = nodes.some(({ form, key }) => form === 'either' && key !== null);
    const { descriptor } = writable.collection;
    const constraints = keyed ? uniqueNames(descriptor, (fields) => isSame(fields, descriptor.key)) : [];
    const links = targets.flatMap(({ relation }) => {
      const junction = open.collections.get(relation.junction)?.descriptor;
      return junction === undefined ? [] : uniqueNames(junction, () => true);
    });
    return [...constraints, ...links];
  });
  // A name that no collection knows is that of a partition's constraint.
  return sought.includes(name) || (sought.length > 0 && !isKnown(open, name));
}

function uniqueNames(
  { constraints = [] }: CollectionDescriptor,
  requested: (fields: readonly string[]) => boolean,
): readonly string[] {
  return constraints.flatMap(({ type, fields, name }) => (type === 'unique' && requested(fields) ? [name] : []));
}

function isSame(names: readonly string[], others: readonly string[]): boolean {
  return names.length === others.length && names.every((name) => others.includes(name));
}
