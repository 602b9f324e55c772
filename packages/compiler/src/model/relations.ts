/** Relations as the side has them that holds the key. Source: API specification, 10.9 and 12.3. */
import type { JsonValue, ModelRelation, OneToMany, RelationDescriptor } from '@tablewright/runtime/language';
import type { ApiRelation } from '../api.ts';
import { type DescribedCollection, type ModelContext, shows } from './collections.ts';

/** Describes the relations whose keys a collection holds, as far as both sides are readable; by field. */
export function modelRelations(
  described: DescribedCollection,
  context: ModelContext,
): readonly (ModelRelation & JsonValue)[] {
  const ones = described.api.relations.flatMap((relation) => manyToOne(described, relation, context));
  return [...ones, ...anyItem(described, context)].sort((a, b) => (a.field < b.field ? -1 : 1));
}

function manyToOne(
  described: DescribedCollection,
  relation: ApiRelation,
  context: ModelContext,
): readonly (ModelRelation & JsonValue)[] {
  const { descriptor, stored } = relation;
  const target = context.collections.get(descriptor.target);
  if (descriptor.kind !== 'm2o' || target === undefined || !shows(described, descriptor.name)) return [];
  const inverse = inverseOf(target, described.view.name, descriptor.name);
  const isReadable = stored && showsAll(described, stored.columns) && showsAll(target, stored.targetColumns);
  const schema = isReadable
    ? {
        table: stored.table,
        column: oneOrAll(stored.columns),
        foreign_key_table: stored.targetTable,
        foreign_key_column: oneOrAll(stored.targetColumns),
        constraint_name: stored.name,
        on_update: stored.onUpdate.toUpperCase(),
        on_delete: stored.onDelete.toUpperCase(),
      }
    : null;
  const meta = {
    one_collection: target.view.name,
    one_field: inverse?.name ?? null,
    one_collection_field: null,
    one_allowed_collections: null,
    junction_field: junctionField(described, descriptor, context),
    sort_field: inverse?.sort !== undefined && shows(described, inverse.sort) ? inverse.sort : null,
    one_deselect_action: inverse?.onDeselect ?? 'nullify',
  };
  return [relationOf(described, descriptor.name, target.view.name, schema, meta)];
}

function relationOf(
  { view }: DescribedCollection,
  field: string,
  related: string | null,
  schema: JsonValue,
  meta: Readonly<Record<string, JsonValue>>,
): ModelRelation & JsonValue {
  return {
    collection: view.name,
    field,
    related_collection: related,
    schema,
    meta: { id: null, many_collection: view.name, many_field: field, ...meta },
  };
}

/** True unless one of the columns is a field that is not readable. */
function showsAll(side: DescribedCollection, columns: readonly string[]): boolean {
  const fields = side.api.fields.filter(({ stored }) => columns.includes(stored.name));
  return fields.every(({ descriptor }) => shows(side, descriptor.name));
}

/** A key of several fields is a list, as everywhere. */
function oneOrAll(columns: readonly string[]): JsonValue {
  return columns.length === 1 ? (columns[0] ?? null) : columns;
}

/** The readable one-to-many of the other side. */
function inverseOf(target: DescribedCollection, collection: string, name: string): OneToMany | undefined {
  return target.api.descriptor.relations
    .filter((relation) => relation.kind === 'o2m')
    .find((relation) => relation.target === collection && relation.inverse === name && shows(target, relation.name));
}

/** The other key of a junction, where some readable many-to-many goes by it. */
function junctionField(
  described: DescribedCollection,
  { name }: RelationDescriptor,
  context: ModelContext,
): string | null {
  const { descriptor } = described.api;
  const far = descriptor.relations
    .filter((relation) => relation.kind === 'm2o')
    .filter((relation) => relation.name !== name);
  const joined = context.junctions.has(descriptor.name);
  const [only, ...more] = far.filter((relation) => shows(described, relation.name));
  return joined && more.length === 0 ? (only?.name ?? null) : null;
}

/** The field of a link collection that holds keys of several collections. */
function anyItem(described: DescribedCollection, context: ModelContext): readonly (ModelRelation & JsonValue)[] {
  const { anyItem: held, descriptor } = described.api;
  if (held === null || !shows(described, held.field)) return [];
  const owner = context.owners.get(descriptor.name);
  if (owner === undefined) return [];
  const allowed = held.targets.map(({ collection }) => collection).filter((name) => context.collections.has(name));
  const meta = {
    one_collection: null,
    one_field: null,
    one_collection_field: shows(described, owner.collectionField) ? owner.collectionField : null,
    one_allowed_collections: allowed,
    junction_field: null,
    sort_field: owner.sort !== undefined && shows(described, owner.sort) ? owner.sort : null,
    one_deselect_action: 'delete',
  };
  return [relationOf(described, held.field, null, null, meta)];
}
