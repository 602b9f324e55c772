/** The foreign key of a field as it is told and as SQL says it. */
import type { ModelRelation } from '../contract/index.ts';
import type { KnownModel } from './change.ts';
import { type FoundColumn, schemaOf } from './find.ts';
import { textIn } from './payload.ts';
import type { NewForeignKey } from './sql/model-sql.ts';

/** The foreign key of a told relation; undefined for one of several columns, and where the database has none. */
export function foreignKeyOf(
  { api }: Pick<KnownModel, 'api'>,
  told: ModelRelation,
  { descriptor, field }: FoundColumn,
): NewForeignKey | undefined {
  const relation = descriptor.relations.find((one) => one.kind === 'm2o' && one.field === field);
  const target = api.collections.find(({ name }) => name === relation?.target);
  const schema = schemaOf(told);
  const [onUpdate, onDelete] = [textIn(schema, 'on_update'), textIn(schema, 'on_delete')];
  if (relation?.kind !== 'm2o' || target === undefined || onUpdate === undefined || onDelete === undefined) return;
  const [{ to: column } = { to: '' }, ...others] = relation.on;
  return others.length > 0 ? undefined : { target: target.table, column, onUpdate, onDelete };
}

/** The foreign key of a field, with its name; undefined where the field has none of its own. */
export function findRelationOf(
  known: KnownModel,
  found: FoundColumn,
): { readonly name: string; readonly key: NewForeignKey | undefined } | undefined {
  const { collection, field } = found;
  const told = known.document.relations.find((one) => one.collection === collection && one.field === field);
  const name = told === undefined ? undefined : textIn(schemaOf(told), 'constraint_name');
  return told === undefined || name === undefined ? undefined : { name, key: foreignKeyOf(known, told, found) };
}
