import { type SystemCollection, systemCollection } from '@tablewright/runtime/language';
import type { RuleSource } from '../../config/permissions/permission-document.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { collectionsByName } from '../../passes/lookup.ts';
import type { Collection } from '../../schema.ts';
import type { Rule } from '../rule.ts';

/** Rules about the platform's own collections grant only what they may: the rest is for administrators. */
export const systemRules: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  return permissions.rules.flatMap((rule) => {
    const collection = collections.get(rule.collection.name);
    const system = collection?.system === undefined ? undefined : systemCollection(collection.name);
    if (collection === undefined || system === undefined) return [];
    return system.granted.includes(rule.action) ? fieldProblems(rule, collection, system) : [actionProblem(rule)];
  });
};

function actionProblem({ action, collection, place: location }: RuleSource): Diagnostic {
  return {
    code: 'system-rule',
    severity: 'error',
    place: location,
    message: `No rule can grant to ${action} "${collection.name}": that is for administrators.`,
    hint: 'Remove it.',
  };
}

function fieldProblems(
  { action, fields }: RuleSource,
  collection: Collection,
  { administrators = [], fixed = [] }: SystemCollection,
): readonly Diagnostic[] {
  if (action === 'read') return [];
  const completed = collection.fields.filter(({ serverOwned }) => serverOwned).map(({ name }) => name);
  return (fields ?? []).flatMap(({ name, place: location }): Diagnostic[] => {
    const reason = completed.includes(name)
      ? 'the server fills it'
      : administrators.includes(name)
        ? 'administrators do'
        : action === 'update' && fixed.includes(name) && 'it stays as it was made';
    if (reason === false) return [];
    const message = `No rule can grant to write "${name}" of "${collection.name}": ${reason}.`;
    return [{ code: 'system-rule', severity: 'error', place: location, message, hint: 'Leave it out.' }];
  });
}
