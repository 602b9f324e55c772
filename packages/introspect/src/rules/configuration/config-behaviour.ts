/** Mistakes in the behaviour that is configured for collections: search, soft delete, and answers that shared caches keep. */
import { configPlace, type Diagnostic } from '../../diagnostic.ts';
import { namedIn, tablesById } from '../../passes/lookup.ts';
import { cacheSeconds } from '../../passes/names.ts';
import { literalMisfit, nowMisfit } from '../../passes/permissions/misfits.ts';
import { resolveSearch, searchSettings } from '../../passes/search.ts';
import type { Collection, Key, Schema, Table } from '../../schema.ts';
import { configKey, quotedList, type Rule, tablePlace } from '../rule.ts';
import { configError, configuredTables } from './config-problem.ts';

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

/** The field of archived items takes the value that DELETE sets, and those that restore them. */
export const configSoftDelete: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { softDelete }, table, collection }) => {
    const field = softDelete && collection && namedIn(collection.fields, softDelete.field);
    const column = table.columns.find((candidate) => candidate.name === field?.column);
    if (softDelete === undefined || field === undefined || column === undefined) return [];
    const refuse = (key: string, message: string) => [
      configError(['collections', name, 'softDelete', key], 'soft-delete', `The field "${field.name}" ${message}.`),
    ];
    const { value, restore = null } = softDelete;
    if (column.fill.kind === 'generated' || !column.updatable) return refuse('field', 'cannot be written');
    if (!table.writable.update) return refuse('field', 'is of rows that the database does not allow to update');
    const set = value === undefined ? nowMisfit(field) : literalMisfit(field, column, value);
    if (set !== null) return refuse(value === undefined ? 'field' : 'value', set);
    const back = restore === null && value !== undefined ? null : literalMisfit(field, column, restore);
    if (back !== null) return refuse(restore === null ? 'field' : 'restore', back);
    return table.uniques.filter(({ columns }) => !columns.includes(column.name)).map((key) => open(schema, table, key));
  });

/** An archived item keeps its values, so a new one with the same is refused. */
function open(schema: Schema, table: Table, { name }: Key): Diagnostic {
  return {
    code: 'unique-with-soft-delete',
    severity: 'warning',
    place: tablePlace(schema, table),
    message: `The unique key "${name}" counts archived items: a value of one cannot be used again.`,
    hint: 'Make it a unique index over live rows alone.',
  };
}

/** A time that can be kept, of a collection that has routes of its own. */
export const configCache: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { cache }, table, collection }) => {
    if (cache === undefined) return [];
    const path = ['collections', name, 'cache', 'public'];
    if (collection?.system !== undefined) {
      return [configError(path, 'cache', 'Collections of the platform are not kept by caches.')];
    }
    const seconds = cacheSeconds(cache.public);
    if (seconds === undefined) {
      return [configError(path, 'cache', `"${cache.public}" is no time from "1s" to "300s".`)];
    }
    const message = `Caches keep answers to requests without a token. One that no purge reaches may be ${seconds} s old, also after a right was withdrawn.`;
    return [{ code: 'cache-public', severity: 'info', place: tablePlace(schema, table), message, hint: null }];
  });
