/** Operations that an access class can call, so that its descriptions have them. */
import type { AccessClass } from '@tablewright/runtime/language';
import type { Operation } from '@tablewright/runtime/operations';

/** True if the class may call an operation; null stands for everything. */
export function mayCall({ access: needed }: Operation, access: AccessClass | null): boolean {
  if (access === null || access.admin) return true;
  if (typeof needed === 'string') return needed !== 'administrator';
  const { action, collection, fields = [] } = needed;
  const rules = access.collections.find((candidate) => candidate.collection === collection)?.[action] ?? [];
  const granted = new Set(rules.flatMap((rule) => rule.fields));
  return rules.length > 0 && fields.every((field) => granted.has(field));
}
