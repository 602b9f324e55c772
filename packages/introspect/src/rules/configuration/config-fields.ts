/** Mistakes in the configuration of fields. */
import { printTable, types } from '@tablewright/runtime/language';
import type { CollectionConfig } from '../../config/config.ts';
import { configPlace } from '../../diagnostic.ts';
import { namedIn } from '../../passes/lookup.ts';
import { takesValues } from '../../passes/names.ts';
import type { Collection } from '../../schema.ts';
import { configError, configuredTables, quotedList, type Rule, unknownName } from '../rule.ts';

/** Every key under `fields` is a column of its table. */
export const configColumns: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) => {
    const columns = table.columns.map((column) => column.name);
    return Object.keys(config.fields ?? {})
      .filter((column) => !columns.includes(column))
      .map((column) => {
        const message = `The table "${printTable(schema.dialect, table.id)}" has no column "${column}".`;
        return unknownName(['collections', name, 'fields', column], message, column, columns);
      });
  });

/** A column is read as another type only where each of its values can be. */
export const configFieldTypes: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) =>
    Object.entries(config.fields ?? {}).flatMap(([columnName, { type }]) => {
      const column = table.columns.find((candidate) => candidate.name === columnName);
      if (type === undefined || column === undefined || types[type].readFrom?.includes(column.type.portable) === true)
        return [];
      const message = `The column "${columnName}" of type ${column.nativeType} cannot be read as "${type}".`;
      return [configError(['collections', name, 'fields', columnName, 'type'], 'field-type', message)];
    }),
  );

/** Settings of a column apply to it. */
export const configFieldSettings: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, table }) =>
    Object.entries(config.fields ?? {}).flatMap(([columnName, { required, geo }]) => {
      const column = table.columns.find((candidate) => candidate.name === columnName);
      if (column === undefined) return [];
      const refuse = (key: string, kind: string) =>
        configError(
          ['collections', name, 'fields', columnName, key],
          'config-field',
          `"${key}" applies to ${kind} only.`,
          'Leave it out.',
        );
      return [
        ...(required === true && !takesValues(column) ? [refuse('required', 'a column that new items can set')] : []),
        ...(geo !== undefined && column.type.portable !== 'geometry' ? [refuse('geo', 'a geometry')] : []),
      ];
    }),
  );

/** The fields named under `key`, `sort`, `archive` and `softDelete` exist. */
export const configFieldReferences: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, collection }) =>
    collection === undefined
      ? []
      : references(config)
          .filter((reference) => namedIn(collection.fields, reference.field) === undefined)
          .map(({ path, field }) => unknownField(['collections', name, ...path], field, collection)),
  );

function references({ key, sort, archive: archiveRule, softDelete }: CollectionConfig) {
  return [
    ...(key ?? []).map((field, index) => ({ path: ['key', index], field })),
    ...(sort === undefined ? [] : [{ path: ['sort'], field: sort }]),
    ...(softDelete === undefined ? [] : [{ path: ['softDelete', 'field'], field: softDelete.field }]),
    ...(archiveRule === undefined ? [] : [{ path: ['archive', 'field'], field: archiveRule.field }]),
  ];
}

/** A field in the configuration that its collection does not have. */
export function unknownField(path: readonly (string | number)[], field: string, collection: Collection) {
  const names = collection.fields.map(({ name }) => name);
  return unknownName(path, `The collection "${collection.name}" has no field "${field}".`, field, names);
}

/** A collection whose key has a hidden column is served as one without a key. */
export const configHiddenKeys: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, table, collection }) => {
    const shown = new Set(collection?.fields.map(({ column }) => column));
    const missing = (table.primaryKey?.columns ?? []).filter((column) => !shown.has(column));
    if (collection === undefined || missing.length === 0) return [];
    return [
      {
        code: 'hidden-key',
        severity: 'warning' as const,
        place: configPlace('collections', name, 'fields'),
        message: `The key of "${collection.name}" has the hidden column ${quotedList(missing)}, so it can only be listed.`,
        hint: 'Show the column to read, write and link single items.',
      },
    ];
  });
