/** Sides of relations that have no column: their metadata goes with their relation, and changes its name with it. */
import {
  type CollectionDescriptor,
  type ModelField,
  type ModelRelation,
  type RelationDescriptor,
  relationSpecialIn,
} from '../language/index.ts';
import { exists, newName } from './find.ts';
import type { KnownModel, ModelStep } from './model-sql.ts';
import { objectIn, type Payload, textIn } from './payload.ts';

/**
 * Removes the metadata of sides of relations whose keys a collection holds; with `field` only where that field is part
 * of the relation.
 */
export function forgetSides(model: KnownModel, collection: string, field?: string): readonly ModelStep[] {
  const { api, sql, systemSchema } = model;
  const holder = api.collections.find(({ name }) => name === collection);
  const column = holder?.fields.find(({ name }) => name === field)?.column;
  if (holder === undefined) return [];
  return api.collections
    .filter(({ system }) => system !== true)
    .flatMap(({ name, relations }) =>
      relations
        .filter((relation) => isHeld(relation, holder) && (field === undefined || goesThrough(relation, column, field)))
        .map((relation): ModelStep => {
          const location = { collection: name, field: relation.name };
          return { kind: 'run', sql: sql.dropRows(systemSchema, 'platform_fields', location), place: location };
        }),
    );
}

function isHeld(relation: RelationDescriptor, { name }: CollectionDescriptor): boolean {
  if (relation.kind === 'm2o') return false;
  return (relation.kind === 'm2m' ? relation.junction : relation.target) === name;
}

function goesThrough(relation: RelationDescriptor, column: string | undefined, field: string): boolean {
  if (relation.kind === 'm2m') {
    return relation.near.some(({ to }) => to === column) || relation.far.some(({ from }) => from === column);
  }
  const any = relation.kind === 'm2a' && [relation.itemField, relation.collectionField].includes(field);
  return any || relation.on.some(({ to }) => to === column);
}

/** Steps that follow from the name that a relation gives to its other side; `before` is the relation as it is now. */
export function nameSide(
  model: KnownModel,
  related: string | null,
  meta: Payload,
  before?: ModelRelation,
): readonly ModelStep[] {
  const field = textIn(meta, 'one_field');
  const was = before === undefined ? undefined : textIn(objectIn({ meta: before.meta }, 'meta'), 'one_field');
  if (field === undefined || field === was) return [];
  newName(field, 'field');
  if (related === null) return [];
  const taken = model.document.fields.find(
    (candidate) => candidate.collection === related && candidate.field === field,
  );
  if (taken !== undefined && isPlain(taken)) throw exists('field', field);
  if (was === undefined) return [];
  const location = { collection: related, field: was };
  const { sql, systemSchema } = model;
  // Metadata that the new name already has stays.
  const text =
    taken === undefined
      ? sql.renameField(systemSchema, location, field)
      : sql.dropRows(systemSchema, 'platform_fields', location);
  return [{ kind: 'run', sql: text, place: location }];
}

/** True if a field only structures a form. */
function isPlain({ type, meta }: ModelField): boolean {
  const { special = null } = objectIn({ meta }, 'meta');
  return type === 'alias' && Array.isArray(special) && relationSpecialIn(special.map(String)) === undefined;
}
