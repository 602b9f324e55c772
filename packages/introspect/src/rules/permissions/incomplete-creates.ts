import type { RuleSource } from '../../config/permissions/permission-document.ts';
import { groupedBy } from '../../order.ts';
import { collectionsByName, manyToOnesOf } from '../../passes/lookup.ts';
import type { Collection, Permission } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';

/** The rules by which a role creates items must cover every required field, by `fields` or presets. */
export const incompleteCreates: Rule = (schema, { permissions }) => {
  const collections = collectionsByName(schema.collections);
  const creates = schema.permissions.filter(({ action, fields }) => action === 'create' && fields.length > 0);
  return [...groupedBy(creates, ({ role, collection }) => JSON.stringify([role, collection])).values()].flatMap(
    ([first, ...others]) => {
      const collection = collections.get(first?.collection ?? '');
      if (first === undefined || collection === undefined) return [];
      const missing = missingFields(collection, [first, ...others]);
      // Few rules are to be complained about, so these only are looked for in the file.
      const rule = missing.length === 0 ? undefined : permissions.rules.find((candidate) => isSource(candidate, first));
      return rule === undefined ? [] : [incomplete(rule, missing)];
    },
  );
};

function missingFields(collection: Collection, rules: readonly Permission[]): readonly string[] {
  const settable = new Set(rules.flatMap(({ fields, presets }) => [...fields, ...presets.map(({ field }) => field)]));
  // Writing a composite many-to-one writes its columns.
  const linked = manyToOnesOf(collection).filter(({ name }) => settable.has(name));
  const columns = new Set(linked.flatMap(({ on }) => on.map(({ from }) => from)));
  return collection.fields
    .filter(({ required, name, column }) => required && !settable.has(name) && !columns.has(column))
    .map(({ name }) => name);
}

function isSource(rule: RuleSource, { role, collection }: Permission): boolean {
  return rule.action === 'create' && rule.role.name === role && rule.collection.name === collection;
}

function incomplete({ role, collection, place: location }: RuleSource, missing: readonly string[]) {
  return {
    code: 'incomplete-create',
    severity: 'warning' as const,
    place: location,
    message: `"${role.name}" can never create "${collection.name}": ${quotedList(missing)} must be given but may not.`,
    hint: 'Add it to `fields` or set it under `presets`.',
  };
}
