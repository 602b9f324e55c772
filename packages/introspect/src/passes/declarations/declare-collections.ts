/** Declarations of the platform's tables as configuration; the file goes first. Source: sections 10.2, 10.4, 12.4. */
import type { DeclaredModel, DeclaredRow } from '@tablewright/runtime/language';
import type { CollectionConfig, FieldConfig, PlatformConfig } from '../../config/config.ts';
import type { Collection, Column, Table, TableId } from '../../schema.ts';
import { collectionsByName, defaultSchema, findTables, manyToOnesOf } from '../lookup.ts';
import { takesValues } from '../names.ts';

/** Adds what is said about collections and their fields. Rows about what is not there, or the platform's own, say nothing. */
export function declareCollections(
  config: PlatformConfig,
  model: DeclaredModel,
  tables: readonly Table[],
  named: readonly Collection[],
): PlatformConfig {
  const entries = new Map<TableId, { readonly key: string; readonly config: CollectionConfig }>();
  for (const [key, settings] of Object.entries(config.collections ?? {})) {
    const [table, ...others] = findTables(tables, key, defaultSchema(config));
    if (table !== undefined && others.length === 0 && !entries.has(table.id))
      entries.set(table.id, { key, config: settings });
  }
  const fields = Map.groupBy(model.fields, (row) => textOf(row, 'collection'));
  const rows = new Map(model.collections.map((row) => [textOf(row, 'collection'), row]));
  const added = named
    .filter(({ system, name }) => system === undefined && (rows.has(name) || fields.has(name)))
    .map((collection): readonly [string, CollectionConfig] => {
      const { key, config: settings } = entries.get(collection.table) ?? { key: collection.table, config: {} };
      const row = rows.get(collection.name);
      const columns = tables.find(({ id }) => id === collection.table)?.columns ?? [];
      const declared = fieldsOf(collection, columns, fields.get(collection.name) ?? [], settings.fields ?? {});
      return [
        key,
        { ...(row === undefined ? {} : collectionOf(row)), ...settings, ...(declared && { fields: declared }) },
      ];
    });
  return { ...config, collections: { ...config.collections, ...Object.fromEntries(added) } };
}

function collectionOf(row: DeclaredRow): CollectionConfig {
  const note = textOf(row, 'note');
  const sort = textOf(row, 'sort_field');
  const [field, value, unarchiveValue] = ['archive_field', 'archive_value', 'unarchive_value'].map((name) =>
    textOf(row, name),
  );
  return {
    ...(note && { note }),
    ...(row.singleton === true && { singleton: true }),
    ...(sort && { sort }),
    ...(row.accountability === null && { accountability: 'none' }),
    ...(row.accountability === 'activity' && { accountability: 'activity' }),
    ...(field && { archive: { field, ...(value && { value }), ...(unarchiveValue && { unarchiveValue }) } }),
  };
}

function fieldsOf(
  collection: Collection,
  columns: readonly Column[],
  rows: readonly DeclaredRow[],
  settings: Readonly<Record<string, FieldConfig>>,
): Readonly<Record<string, FieldConfig>> | undefined {
  const declared = rows.flatMap((row) => {
    const found = collection.fields.find(({ name }) => name === textOf(row, 'field'));
    const column = columns.find(({ name }) => name === found?.column);
    return column === undefined ? [] : [[column.name, { ...fieldOf(row, column), ...settings[column.name] }] as const];
  });
  return declared.length === 0 ? undefined : { ...settings, ...Object.fromEntries(declared) };
}

function fieldOf(row: DeclaredRow, column: Column): FieldConfig {
  const note = textOf(row, 'note');
  const type = typeOf(new Set(namesOf(row, 'special')));
  const required = row.required === true && takesValues(column);
  return { ...(note && { note }), ...(required && { required: true }), ...(type && { type }) };
}

function typeOf(special: ReadonlySet<string>): FieldConfig['type'] {
  if (special.has('hash')) return 'hash';
  if (special.has('conceal')) return 'secret';
  if (special.has('cast-json')) return 'json';
  if (special.has('cast-csv')) return 'csv';
  // A type that a server with text identifiers only does not have.
  if (special.has('cast-uuid')) return 'uuid';
  return special.has('cast-boolean') ? 'boolean' : undefined;
}

/** Names that the configuration gives to relations, by collection. Derived names yield to them. */
export function declaredNames(
  collections: readonly Collection[],
  config: PlatformConfig,
): ReadonlyMap<string, ReadonlySet<string>> {
  const byName = collectionsByName(collections);
  const names = new Map<string, Set<string>>(collections.map(({ name }) => [name, new Set<string>()]));
  for (const { collection, field } of [...(config.manyToAny ?? []), ...(config.translations ?? [])]) {
    names.get(collection)?.add(field);
  }
  for (const { junction, near, far, name, inverseName } of config.manyToMany ?? []) {
    const relations = manyToOnesOf(byName.get(junction) ?? { relations: [] });
    const owner = (field: string) => names.get(relations.find((relation) => relation.name === field)?.target ?? '');
    if (name !== undefined) owner(near)?.add(name);
    if (inverseName !== undefined) owner(far)?.add(inverseName);
  }
  return names;
}

/** The names in a member of a row, which have commas between them. */
export function namesOf(row: DeclaredRow, member: string): readonly string[] {
  const names = (textOf(row, member) ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

/** The text of a member of a row; undefined for an empty one. */
export function textOf(row: DeclaredRow, member: string): string | undefined {
  const value = row[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
