import type { CollectionConfig } from '../../config/config.ts';
import { namedIn } from '../../passes/lookup.ts';
import type { Collection } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { unknownName } from './config-problem.ts';
import { configuredTables } from './configured.ts';

/** The fields named under `key`, `sort`, `archive` and `softDelete` exist. */
export const configFieldReferences: Rule = (schema, sources) =>
  configuredTables(schema, sources).flatMap(({ name, config, collection }) =>
    collection === undefined
      ? []
      : references(config)
          .filter((reference) => namedIn(collection.fields, reference.field) === undefined)
          .map(({ path, field }) => unknownField(['collections', name, ...path], field, collection)),
  );

interface Reference {
  readonly path: readonly (string | number)[];
  readonly field: string;
}

function references({ key, sort, archive: archiveRule, softDelete }: CollectionConfig): readonly Reference[] {
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
