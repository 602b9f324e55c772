/** The enums of a schema, and the inputs that compare their values. */
import type { GraphqlEnum } from '@tablewright/introspect/schema';
import { sdlEnum } from '../print/sdl.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import { enumGroup, operatorInput } from './operators.ts';

/** Prints the enums that something of a schema has, sorted by name. */
export function enumTypes({ collections, functions }: RoleView): readonly string[] {
  const read = enumsOf(
    collections.flatMap(({ fields }) => fields.filter(({ descriptor }) => descriptor.type !== 'array')),
  );
  const all = new Set([
    ...enumsOf(collections.flatMap(fieldsOf)),
    ...functions.flatMap(({ graphqlEnums }) => graphqlEnums.map(({ type }) => type)),
  ]);
  const compared = new Set(read);
  return [...all]
    .sort((left, right) => (left.name < right.name ? -1 : 1))
    .map((found) => {
      const input = compared.has(found) ? [operatorInput(enumGroup(found.name))] : [];
      return [sdlEnum(found.name, found.labels), ...input].join('\n');
    });
}

/** Fields of an item, and those of its payloads: some can only be written. */
function fieldsOf({ fields, key, writes }: RoleCollection) {
  return [
    ...fields,
    ...key,
    ...(writes?.key ?? []),
    ...(writes?.create?.fields ?? []),
    ...(writes?.update?.fields ?? []),
  ];
}

function enumsOf(fields: readonly Pick<RoleCollection['fields'][number], 'valuesType'>[]): readonly GraphqlEnum[] {
  return fields.flatMap(({ valuesType }) => valuesType?.graphqlEnum ?? []);
}
