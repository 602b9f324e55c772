/** The foreign key of a field as it is told and as SQL says it. */

import type { ModelRelation } from '../language/index.ts';
import { schemaOf } from './find.ts';
import type { FoundColumn, KnownModel, NewForeignKey } from './model-sql.ts';
import { textIn } from './payload.ts';

/** The foreign key of a told relation; undefined for one of several columns, and where the database has none. */
export function foreignKeyOf(
  { api }: Pick<KnownModel, 'api'>,
  modelRelation: ModelRelation,
  { descriptor, field }: FoundColumn,
): NewForeignKey | undefined {
  const relation = descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.field === field);
  const target = api.collections.find(({ name }) => name === relation?.target);
  const schema = schemaOf(modelRelation);
  const [onUpdate, onDelete] = [textIn(schema, 'on_update'), textIn(schema, 'on_delete')];
  if (relation?.kind !== 'm2o' || target === undefined || onUpdate === undefined || onDelete === undefined) return;
  const [{ to: column } = { to: '' }, ...others] = relation.on;
  return others.length > 0 ? undefined : { target: target.table, column, onUpdate, onDelete };
}

/** The foreign key of a field, with its name; undefined where the field has none of its own. */
export function findRelationOf(
  model: KnownModel,
  found: FoundColumn,
): { readonly name: string; readonly key: NewForeignKey | undefined } | undefined {
  const { collection, field } = found;
  const relation = model.document.relations.find(
    (candidate) => candidate.collection === collection && candidate.field === field,
  );
  const name = relation === undefined ? undefined : textIn(schemaOf(relation), 'constraint_name');
  return relation === undefined || name === undefined ? undefined : { name, key: foreignKeyOf(model, relation, found) };
}
