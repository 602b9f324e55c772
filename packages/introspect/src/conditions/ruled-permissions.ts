import type { JsonValue } from '@tablewright/runtime/language';
import type { PermissionDocument, RuleSource } from '../config/permissions/permission-document.ts';
import { groupedBy } from '../order.ts';
import type { Collection, Permission, Schema } from '../schema.ts';

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

/** A name of a condition as written: where it is looked up, and the keys that lead to it. */
export interface NameUse {
  readonly collection: string;
  readonly name: string;
  readonly path: readonly string[];
  /** How many relations lead to it. */
  readonly depth: number;
}

/** Every name that a filter uses, in its order. A value that is no filter has none. */
export function namesUsed(
  value: JsonValue,
  root: string,
  collections: ReadonlyMap<string, Collection>,
): readonly NameUse[] {
  return visit(value, { collection: root, path: [], depth: 0 });

  function visit(inner: JsonValue, parent: Omit<NameUse, 'name'>): readonly NameUse[] {
    if (typeof inner !== 'object' || inner === null) return [];
    return Object.entries(inner).flatMap(([key, below]) => {
      const next = { ...parent, path: [...parent.path, key] };
      return Array.isArray(inner) ? visit(below, next) : visitKey(key, below, next);
    });
  }

  function visitKey(key: string, inner: JsonValue, parent: Omit<NameUse, 'name'>): readonly NameUse[] {
    if (key.startsWith('item:'))
      return visit(inner, { ...parent, collection: key.slice('item:'.length), depth: parent.depth + 1 });
    const collection = collections.get(parent.collection);
    const name = /^\w+\((.*)\)$/.exec(key)?.[1] ?? key;
    const relation = collection?.relations.find((candidate) => candidate.name === name);
    const field = collection?.fields.find((candidate) => candidate.name === name);
    if (relation === undefined && field === undefined) return visit(inner, parent);
    const use = { ...parent, name };
    return relation === undefined
      ? [use]
      : [use, ...visit(inner, { ...parent, collection: relation.target, depth: parent.depth + 1 })];
  }
}
