/** Mistakes in the configuration of tables: keys, search, soft delete, and answers that shared caches keep. */
import { dialectFacts, printTable, systemCollection } from '@tablewright/runtime/language';
import { configPlace, type Diagnostic } from '../../diagnostic.ts';
import { defaultSchema, findTables, namedIn, tablesById } from '../../passes/lookup.ts';
import { cacheSeconds } from '../../passes/names.ts';
import { literalMisfit, nowMisfit } from '../../passes/permissions/filter-names.ts';
import { resolveSearch, searchSettings } from '../../passes/search.ts';
import { meansSystemTable } from '../../passes/system-tables.ts';
import type { Collection, Key, Schema, Table } from '../../schema.ts';
import { configError, configKey, configuredTables, quotedList, type Rule, tablePlace, unknownName } from '../rule.ts';

/** Every key under `collections` means exactly one table, and no two keys mean the same. */
export const configTables: Rule = ({ tables, dialect }, { config }) => {
  const found = Object.keys(config.collections ?? {}).map((name) => ({
    name,
    ids: findTables(tables, name, defaultSchema(config)).map(({ id }) => id),
  }));
  const meant = found.filter(({ ids }) => ids.length === 1);
  const repeated = [...Map.groupBy(meant, ({ ids }) => ids.join())].filter(([, group]) => group.length > 1);
  return [
    ...found.flatMap(({ name, ids }) => {
      const path = ['collections', name];
      if (ids.length === 1) return [];
      if (ids.length === 0) {
        const candidates = tables.flatMap((table) => [table.name, table.id]);
        return [unknownName(path, `There is no table "${name}".`, name, candidates)];
      }
      const message = `"${name}" means several tables: ${quotedList(ids.map((id) => printTable(dialect, id)))}.`;
      return [configError(path, 'ambiguous-name', message, 'Write the schema before the name.')];
    }),
    ...repeated.map(([id, group]) => {
      const names = quotedList(group.map(({ name }) => name));
      return configError(
        ['collections'],
        'repeated-name',
        `The keys ${names} mean the same table "${printTable(dialect, id)}".`,
      );
    }),
  ];
};

/** A key is configured only where the database has none, and names each field once. */
export const configKeys: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config: { key }, table }) => {
    const path = ['collections', name, 'key'];
    if (key === undefined) return [];
    if (key.length === 0)
      return [configError(path, 'empty-key', 'The key names no field.', 'Name one, or leave it out.')];
    if (new Set(key).size < key.length) return [configError(path, 'repeated-name', 'The key names a field twice.')];
    if (table.primaryKey === null) return [];
    const configured = key.join();
    if (configured === table.primaryKey.columns.join()) return [];
    const message = `The table "${printTable(schema.dialect, table.id)}" has the primary key "${table.primaryKey.name}", which is its key.`;
    return [configError(path, 'key-exists', message, 'Leave the key out of the configuration.')];
  });

/** The platform's own tables and their relations are fixed. */
export const configSystem: Rule = ({ tables, collections }, { config }) => {
  const ownTables = Object.keys(config.collections ?? {}).filter((name) => meansSystemTable(name, tables, config));
  const fixed = new Set(collections.flatMap(fixedRelations));
  const ownRelations = Object.keys(config.relations ?? {}).filter((name) => fixed.has(name));
  return [
    ...ownTables.map((name) => refusal('collections', name)),
    ...ownRelations.map((name) => refusal('relations', name)),
  ];
};

/** Keys of the relations to other platform collections: all that lead through a field, and the named inverses. */
function fixedRelations({ name: owner, system, fields }: Collection): readonly string[] {
  if (system === undefined) return [];
  const inverses = Object.keys(systemCollection(owner)?.inverses ?? {});
  return [...fields.map(({ name }) => name), ...inverses].map((name) => `${owner}.${name}`);
}

function refusal(section: string, name: string) {
  const message = `"${name}" belongs to the platform and takes no configuration.`;
  return configError([section, name], 'system-table', message, 'Remove the entry.');
}

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
    const wrong = (key: string, message: string, hint: string | null = null) => [
      configError(['collections', name, 'softDelete', key], 'soft-delete', `${message}.`, hint),
    ];
    const refuse = (key: string, message: string) => wrong(key, `The field "${field.name}" ${message}`);
    const { value, restore = null } = softDelete;
    if (column.fill.kind === 'generated' || !column.updatable) return refuse('field', 'cannot be written');
    if (!table.writable.update) return refuse('field', 'is of rows that the database does not allow to update');
    const set = value === undefined ? nowMisfit(field) : literalMisfit(field, column, value, schema.dialect);
    if (set !== null && value === undefined) {
      const fitting =
        ['archived', 'true', '1'].find((text) => literalMisfit(field, column, text, schema.dialect) === null) ?? '…';
      const hint = `Say what it gets, with \`value\`: { field: '${softDelete.field}', value: '${fitting}' }.`;
      return wrong('field', `The field "${field.name}" takes no time`, hint);
    }
    if (set !== null) return wrong('value', `"${value}" ${set}`);
    const back = restore === null && value !== undefined ? null : literalMisfit(field, column, restore, schema.dialect);
    if (back !== null) return restore === null ? refuse('field', back) : wrong('restore', `"${restore}" ${back}`);
    return table.uniques
      .filter((key) => !leavesOut(table, key, column.name))
      .map((key) => open(schema, table, key, column.name, value));
  });

/** True if a key has the column of archived items, or a generated one that is made of it. */
function leavesOut({ columns }: Table, key: Key, archived: string): boolean {
  return columns
    .filter(({ name }) => key.columns.includes(name))
    .some(({ name, fill }) => name === archived || (fill.kind === 'generated' && fill.expression.includes(archived)));
}

/** An archived item keeps its values, so a new one with the same is refused. */
function open(schema: Schema, table: Table, { name }: Key, archived: string, value: string | undefined): Diagnostic {
  const column = `"${archived.replaceAll('"', '""')}"`;
  const live = value === undefined ? 'IS NULL' : `IS DISTINCT FROM '${value.replaceAll("'", "''")}'`;
  return {
    code: 'unique-with-soft-delete',
    severity: 'warning',
    place: tablePlace(schema, table),
    message: `The unique key "${name}" counts archived items: a value of one cannot be used again.`,
    hint: dialectFacts[schema.dialect].partialIndexes
      ? `Make it a unique index over live rows alone: CREATE UNIQUE INDEX … WHERE ${column} ${live};`
      : `Add a generated column to it that is null for archived items, such as IF(${archived} IS NULL, 1, NULL).`,
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
