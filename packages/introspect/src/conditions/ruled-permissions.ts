import type { PermissionDocument, RuleSource } from '../config/permissions/permission-document.ts';
import { groupedBy } from '../order.ts';
import type { Permission, Schema } from '../schema.ts';

/** A rule as written and as it was understood. */
export interface RuledPermission {
  readonly source: RuleSource;
  readonly permission: Permission;
}

/** Pairs the rules of the file with the permissions made of them: both keep the order within role, collection, action. */
export function pairRules(schema: Schema, { rules }: PermissionDocument): readonly RuledPermission[] {
  const made = groupedBy(schema.permissions, keyOf);
  const written = groupedBy(rules, (rule) =>
    keyOf({ role: rule.role.name, collection: rule.collection.name, action: rule.action }),
  );
  return [...written].flatMap(([key, sources]) =>
    sources.flatMap((source, index) => {
      const permission = made.get(key)?.[index];
      return permission === undefined ? [] : [{ source, permission }];
    }),
  );
}

/** Key of competing rules: those of one role, collection and action. */
export function keyOf({ role, collection, action }: Pick<Permission, 'role' | 'collection' | 'action'>): string {
  return JSON.stringify([role, collection, action]);
}
