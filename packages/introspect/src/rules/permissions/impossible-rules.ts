import type { RuleSource } from '../../config/permissions/permission-document.ts';
import { collectionsByName, tablesById } from '../../passes/lookup.ts';
import type { Collection, Table } from '../../schema.ts';
import type { Rule } from '../rule.ts';

/** A rule for an impossible action: the database does not allow it, or the items have no key to name them by. */
export const impossibleRules: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const byId = tablesById(schema.tables);
  return permissions.rules.flatMap((rule) => {
    const collection = collections.get(rule.collection.name);
    const table = byId.get(collection?.table ?? '');
    if (collection === undefined || table === undefined) return [];
    const reason = reasonAgainst(rule, collection, table);
    return reason === null ? [] : [impossible(rule, reason)];
  });
};

/** Null where the action is possible. */
function reasonAgainst(
  { action }: RuleSource,
  { name, key, singleton }: Collection,
  { writable }: Table,
): string | null {
  if (action === 'read') return null;
  const isAllowed = action === 'create' ? writable.insert : writable[action];
  if (!isAllowed) return `The database does not allow to ${action} rows of "${name}"`;
  if (key.length === 0) return `"${name}" has no key and can only be listed`;
  return singleton && action === 'delete' ? `"${name}" is a singleton, which cannot be deleted` : null;
}

function impossible({ place: location }: RuleSource, reason: string) {
  return {
    code: 'impossible-rule',
    severity: 'warning' as const,
    place: location,
    message: `${reason}, so the rule has no effect.`,
    hint: 'Remove it.',
  };
}
