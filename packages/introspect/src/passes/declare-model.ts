/**
 * What the platform's own tables say about collections, fields and relations, as configuration. The file wins wherever it
 * says something. Source: API specification, sections 10.2, 10.4, 10.9 and 12.4.
 */
import type { DeclaredModel, DeclaredRow } from '@platform/runtime/contract';
import type {
  CollectionConfig,
  FieldConfig,
  ManyToAnyConfig,
  ManyToManyConfig,
  PlatformConfig,
  RelationConfig,
} from '../config/config.ts';
import type { Collection, Table, TableId } from '../schema.ts';
import { relationKey } from './configure-relations.ts';
import { collectionsByName, manyToOnesOf } from './lookup.ts';
import { defaultSchema, findTables } from './match-tables.ts';

/** Adds what is said about collections and their fields. Rows about what is not there, or the platform's own, say nothing. */
export function declareCollections(
  config: PlatformConfig,
  model: DeclaredModel,
  tables: readonly Table[],
  named: readonly Collection[],
): PlatformConfig {
  const entries = new Map<TableId, { readonly key: string; readonly config: CollectionConfig }>();
  for (const [key, own] of Object.entries(config.collections ?? {})) {
    const [table, ...others] = findTables(tables, key, defaultSchema(config));
    if (table !== undefined && others.length === 0 && !entries.has(table.id))
      entries.set(table.id, { key, config: own });
  }
  const fields = Map.groupBy(model.fields, (row) => textOf(row, 'collection'));
  const rows = new Map(model.collections.map((row) => [textOf(row, 'collection'), row]));
  const added = named
    .filter(({ system, name }) => system === undefined && (rows.has(name) || fields.has(name)))
    .map((collection): readonly [string, CollectionConfig] => {
      const { key, config: own } = entries.get(collection.table) ?? { key: collection.table, config: {} };
      const row = rows.get(collection.name);
      const told = fieldsOf(collection, fields.get(collection.name) ?? [], own.fields ?? {});
      return [key, { ...(row === undefined ? {} : collectionOf(row)), ...own, ...(told && { fields: told }) }];
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
    ...(field && value && { archive: { field, value, ...(unarchiveValue && { unarchiveValue }) } }),
  };
}

function fieldsOf(
  collection: Collection,
  rows: readonly DeclaredRow[],
  own: Readonly<Record<string, FieldConfig>>,
): Readonly<Record<string, FieldConfig>> | undefined {
  const told = rows.flatMap((row) => {
    const found = collection.fields.find(({ name }) => name === textOf(row, 'field'));
    return found === undefined ? [] : [[found.column, { ...fieldOf(row), ...own[found.column] }] as const];
  });
  return told.length === 0 ? undefined : { ...own, ...Object.fromEntries(told) };
}

function fieldOf(row: DeclaredRow): FieldConfig {
  const note = textOf(row, 'note');
  const type = typeOf(new Set(namesOf(row, 'special')));
  return { ...(note && { note }), ...(row.required === true && { required: true }), ...(type && { type }) };
}

function typeOf(special: ReadonlySet<string>): FieldConfig['type'] {
  if (special.has('hash')) return 'hash';
  if (special.has('conceal')) return 'secret';
  if (special.has('cast-json')) return 'json';
  if (special.has('cast-csv')) return 'csv';
  // What a server has no type for that knows identifiers as texts only.
  if (special.has('cast-uuid')) return 'uuid';
  return special.has('cast-boolean') ? 'boolean' : undefined;
}

/** Adds the relations whose items are of several collections: other names yield to theirs. */
export function declareAnyItems(
  config: PlatformConfig,
  model: DeclaredModel,
  keyed: readonly Collection[],
): PlatformConfig {
  const byName = collectionsByName(keyed);
  const known = new Set((config.manyToAny ?? []).map(({ link, itemField }) => `${link}.${itemField}`));
  const added = model.relations.flatMap((row): readonly ManyToAnyConfig[] => {
    const [link = '', itemField = '', collectionField = '', linkField = ''] = [
      'many_collection',
      'many_field',
      'one_collection_field',
      'junction_field',
    ].map((name) => textOf(row, name));
    const field = textOf(row, 'one_field') ?? textOf(rowOf(model, link, linkField) ?? {}, 'one_field');
    const owner = manyToOnesOf(byName.get(link) ?? { relations: [] }).find(({ name }) => name === linkField)?.target;
    if (!isAnyItem(row) || known.has(`${link}.${itemField}`) || owner === undefined || field === undefined) return [];
    const sort = textOf(row, 'sort_field');
    const allowed = namesOf(row, 'one_allowed_collections');
    return [{ collection: owner, field, link, linkField, collectionField, itemField, allowed, ...(sort && { sort }) }];
  });
  return added.length === 0 ? config : { ...config, manyToAny: [...(config.manyToAny ?? []), ...added] };
}

/** Adds what is said about relations, under their derived names: `derived` are the collections before any is renamed. */
export function declareRelations(
  config: PlatformConfig,
  model: DeclaredModel,
  derived: readonly Collection[],
): PlatformConfig {
  const relations = new Map<string, RelationConfig>();
  const junctions: ManyToManyConfig[] = [];
  // What names a relation to any items names no other.
  const links = new Set(model.relations.filter(isAnyItem).map((row) => placeOf(row, 'junction_field')));
  for (const row of model.relations.filter((one) => !isAnyItem(one))) {
    const found = inverseOf(row, derived);
    const name = links.has(placeOf(row, 'many_field')) ? undefined : textOf(row, 'one_field');
    const sort = textOf(row, 'sort_field');
    const ofTarget: RelationConfig = {
      ...(name && { name }),
      ...(sort && { sort }),
      ...(row.one_deselect_action === 'delete' && { onDeselect: 'delete' }),
    };
    if (found !== undefined) relations.set(found, ofTarget);
    else if (textOf(row, 'junction_field') !== undefined && textOf(row, 'one_collection') !== undefined) {
      if (joins(row, derived)) declareJunction(junctions, row, { name, sort });
    }
  }
  const entries = [...relations].map(([key, told]) => [key, { ...told, ...config.relations?.[key] }] as const);
  return {
    ...config,
    relations: { ...config.relations, ...Object.fromEntries(entries) },
    ...(junctions.length > 0 && { manyToMany: [...junctions, ...(config.manyToMany ?? [])] }),
  };
}

/** The derived relation that a row is about: through the junction that it names, else the inverse of its key. */
function inverseOf(row: DeclaredRow, derived: readonly Collection[]): string | undefined {
  const owner = derived.find(({ name }) => name === textOf(row, 'one_collection'));
  const [many, field] = [textOf(row, 'many_collection'), textOf(row, 'many_field')];
  const through = textOf(row, 'junction_field') !== undefined;
  const found = owner?.relations.find((one) =>
    through
      ? one.kind === 'm2m' && one.junction === many
      : one.kind === 'o2m' && one.target === many && one.inverse === field,
  );
  return owner && found && relationKey(owner, found);
}

/** Whether a row is about a junction: no field that it names waits for its relation, as these are made one by one. */
function joins(row: DeclaredRow, derived: readonly Collection[]): boolean {
  const junction = derived.find(({ name }) => name === textOf(row, 'many_collection'));
  const related = new Set(manyToOnesOf(junction ?? { relations: [] }).map(({ name }) => name));
  const named = ['many_field', 'junction_field'].map((member) => textOf(row, member));
  return !junction?.fields.some(({ name }) => named.includes(name) && !related.has(name));
}

/** A junction that its keys do not show has a name on both sides. */
function declareJunction(
  junctions: ManyToManyConfig[],
  row: DeclaredRow,
  { name, sort }: { readonly name: string | undefined; readonly sort: string | undefined },
): void {
  const [junction = '', near = '', far = ''] = ['many_collection', 'many_field', 'junction_field'].map((one) =>
    textOf(row, one),
  );
  const place = junctions.findIndex((one) => one.junction === junction && one.near === far && one.far === near);
  const known = junctions[place];
  if (known === undefined) junctions.push({ junction, near, far, ...(name && { name }), ...(sort && { sort }) });
  else junctions[place] = { ...known, ...(name && { inverseName: name }) };
}

function isAnyItem(row: DeclaredRow): boolean {
  return textOf(row, 'one_collection') === undefined && textOf(row, 'one_collection_field') !== undefined;
}

function rowOf({ relations }: DeclaredModel, collection: string, field: string): DeclaredRow | undefined {
  return relations.find((row) => textOf(row, 'many_collection') === collection && textOf(row, 'many_field') === field);
}

function placeOf(row: DeclaredRow, field: string): string {
  return `${textOf(row, 'many_collection')}.${textOf(row, field)}`;
}

function namesOf(row: DeclaredRow, member: string): readonly string[] {
  const names = (textOf(row, member) ?? '').split(',').map((name) => name.trim());
  return names.filter((name) => name !== '');
}

function textOf(row: DeclaredRow, member: string): string | undefined {
  const value = row[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
