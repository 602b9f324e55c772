import { configPlace } from '../../config/place.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { tablesById } from '../../passes/lookup.ts';
import { resolveSearch, searchSettings } from '../../passes/search.ts';
import type { Collection, Schema } from '../../schema.ts';
import { configKey, quotedList, type Rule } from '../rule.ts';

/** Search for words needs an index, and is only for classes that read every word of it. */
export const configSearch: Rule = (schema, { config }) => {
  const byId = tablesById(schema.tables);
  const settings = searchSettings(schema.tables, config);
  return schema.collections.flatMap((collection) => {
    const setting = settings.get(collection.table);
    const table = byId.get(collection.table);
    if (setting === undefined || table === undefined) return [];
    const location = configPlace('collections', configKey(schema, table), 'search');
    const found = resolveSearch(collection, table, setting, schema.dialect);
    return 'message' in found ? [{ ...found, place: location }] : fallsBack(schema, collection, location);
  });
};

/** Roles that read a collection and not each of the searched fields on every row. */
function fallsBack({ permissions }: Schema, { name, search }: Collection, location: string): readonly Diagnostic[] {
  const needed = search?.fields ?? [];
  const rules = permissions.filter(({ collection, action }) => collection === name && action === 'read');
  const roles = [...Map.groupBy(rules, ({ role }) => role)].flatMap(([role, roleRules]) =>
    roleRules.every(({ fields }) => needed.every((field) => fields.includes(field))) ? [] : [role],
  );
  if (roles.length === 0) return [];
  const reason = `${quotedList(roles)} cannot read all of ${quotedList(needed)} on every row`;
  const message = `${reason}: their search looks for texts that contain it, without the index.`;
  return [{ code: 'search-falls-back', severity: 'info', place: location, message, hint: null }];
}
