import type { Action, RuleSource } from '../config/permission-document.ts';
import { collectionsByName, tablesById } from '../passes/lookup.ts';
import type { Table } from '../schema.ts';
import type { Rule } from './rule.ts';

/** A rule for an action that the database does not allow on the table, such as an insert into a view. */
export const impossibleRules: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const byId = tablesById(schema.tables);
  return permissions.rules.flatMap((rule) => {
    const table = byId.get(collections.get(rule.collection.name)?.table ?? '');
    return table === undefined || isPossible(rule.action, table) ? [] : [impossible(rule)];
  });
};

function isPossible(action: Action, { writable }: Table): boolean {
  if (action === 'read') return true;
  return action === 'create' ? writable.insert : writable[action];
}

function impossible({ action, collection, place }: RuleSource) {
  return {
    code: 'impossible-rule',
    severity: 'warning' as const,
    place,
    message: `The database does not allow to ${action} rows of "${collection.name}", so the rule has no effect.`,
    hint: 'Remove it.',
  };
}
