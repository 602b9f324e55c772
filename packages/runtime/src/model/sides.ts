/** Sides of relations that have no column: their metadata goes with their relation, and changes its name with it. */
import {
  type CollectionDescriptor,
  type ModelField,
  type ModelRelation,
  type RelationDescriptor,
  relationSpecialIn,
} from '../contract/index.ts';
import type { KnownModel, ModelStep } from './change.ts';
import { newName } from './names.ts';
import { objectIn, type Payload, textIn } from './payload.ts';
import { exists } from './plan-collections.ts';

/**
 * Removes the metadata of sides of relations whose keys a collection holds; with `field` only where that field is part
 * of the relation.
 */
export function forgetSides(known: KnownModel, collection: string, field?: string): readonly ModelStep[] {
  const { api, sql, systemSchema } = known;
  const holder = api.collections.find(({ name }) => name === collection);
  const column = holder?.fields.find(({ name }) => name === field)?.column;
  if (holder === undefined) return [];
  return api.collections
    .filter(({ system }) => system !== true)
    .flatMap(({ name, relations }) =>
      relations
        .filter((one) => isHeld(one, holder) && (field === undefined || goesThrough(one, column, field)))
        .map((one): ModelStep => {
          const place = { collection: name, field: one.name };
          return { kind: 'run', sql: sql.dropRows(systemSchema, 'platform_fields', place), place };
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
  known: KnownModel,
  related: string | null,
  meta: Payload,
  before?: ModelRelation,
): readonly ModelStep[] {
  const field = textIn(meta, 'one_field');
  const was = before === undefined ? undefined : textIn(objectIn({ meta: before.meta }, 'meta'), 'one_field');
  if (field === undefined || field === was) return [];
  newName(field, 'field');
  if (related === null) return [];
  const taken = known.document.fields.find((one) => one.collection === related && one.field === field);
  if (taken !== undefined && isPlain(taken)) throw exists('field', field);
  if (was === undefined) return [];
  const place = { collection: related, field: was };
  const { sql, systemSchema } = known;
  // Metadata that the new name already has stays.
  const text =
    taken === undefined
      ? sql.renameField(systemSchema, place, field)
      : sql.dropRows(systemSchema, 'platform_fields', place);
  return [{ kind: 'run', sql: text, place }];
}

/** True if a field only structures a form. */
function isPlain({ type, meta }: ModelField): boolean {
  const { special = null } = objectIn({ meta }, 'meta');
  return type === 'alias' && Array.isArray(special) && relationSpecialIn(special.map(String)) === undefined;
}
