/** Relations as the side has them that holds the key. Source: API specification, 10.9 and 12.3. */
import type { JsonValue, ModelRelation, OneToMany, RelationDescriptor } from '@tablewright/runtime/contract';
import type { ApiRelation } from '../api.ts';
import { type Sighted, shows, type Told } from './index.ts';

/** Describes the relations whose keys a collection holds, as far as both sides are readable; by field. */
export function modelRelations(told: Told, sighted: Sighted): readonly (ModelRelation & JsonValue)[] {
  const ones = told.api.relations.flatMap((relation) => manyToOne(told, relation, sighted));
  return [...ones, ...anyItem(told, sighted)].sort((a, b) => (a.field < b.field ? -1 : 1));
}

function manyToOne(told: Told, relation: ApiRelation, sighted: Sighted): readonly (ModelRelation & JsonValue)[] {
  const { descriptor, stored } = relation;
  const target = sighted.told.get(descriptor.target);
  if (descriptor.kind !== 'm2o' || target === undefined || !shows(told, descriptor.name)) return [];
  const inverse = inverseOf(target, told.view.name, descriptor.name);
  const schema = stored && {
    table: stored.table,
    column: oneOrAll(stored.columns),
    foreign_key_table: stored.targetTable,
    foreign_key_column: oneOrAll(stored.targetColumns),
    constraint_name: stored.name,
    on_update: stored.onUpdate.toUpperCase(),
    on_delete: stored.onDelete.toUpperCase(),
  };
  const meta = {
    one_collection: target.view.name,
    one_field: inverse?.name ?? null,
    one_collection_field: null,
    one_allowed_collections: null,
    junction_field: junctionField(told, descriptor, sighted),
    sort_field: inverse?.sort ?? null,
    one_deselect_action: inverse?.onDeselect ?? 'nullify',
  };
  return [relationOf(told, descriptor.name, target.view.name, schema, meta)];
}

function relationOf(
  { view }: Told,
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

/** A key of several fields is a list, as everywhere. */
function oneOrAll(columns: readonly string[]): JsonValue {
  return columns.length === 1 ? (columns[0] ?? null) : columns;
}

/** The readable one-to-many of the other side. */
function inverseOf(target: Told, collection: string, name: string): OneToMany | undefined {
  return target.api.descriptor.relations
    .filter((one) => one.kind === 'o2m')
    .find((one) => one.target === collection && one.inverse === name && shows(target, one.name));
}

/** The other key of a junction, where some readable many-to-many goes by it. */
function junctionField(told: Told, { name }: RelationDescriptor, sighted: Sighted): string | null {
  const { descriptor } = told.api;
  const far = descriptor.relations.filter((one) => one.kind === 'm2o').filter((one) => one.name !== name);
  const joined = sighted.junctions.has(descriptor.name);
  const [only, ...more] = far.filter((one) => shows(told, one.name));
  return joined && more.length === 0 ? (only?.name ?? null) : null;
}

/** The field of a link collection that holds keys of several collections. */
function anyItem(told: Told, sighted: Sighted): readonly (ModelRelation & JsonValue)[] {
  const { anyItem: held, descriptor } = told.api;
  if (held === null || !shows(told, held.field)) return [];
  const owner = sighted.owners.get(descriptor.name);
  if (owner === undefined) return [];
  const allowed = held.targets.map(({ collection }) => collection).filter((name) => sighted.told.has(name));
  const meta = {
    one_collection: null,
    one_field: null,
    one_collection_field: shows(told, owner.collectionField) ? owner.collectionField : null,
    one_allowed_collections: allowed,
    junction_field: null,
    sort_field: owner.sort !== undefined && shows(told, owner.sort) ? owner.sort : null,
    one_deselect_action: 'delete',
  };
  return [relationOf(told, held.field, null, null, meta)];
}
