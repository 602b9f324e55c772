/** Root fields and types of the platform's operations, from their declarations. */
import type { AccessClass } from '@tablewright/runtime/language';
import {
  listMembers,
  type NamedOperation,
  operationsOf,
  type Resource,
  type ValueSchema,
} from '@tablewright/runtime/operations';
import { type SdlField, sdlEnum, sdlType } from '../print/sdl.ts';
import { mayCall } from '../role-view/callable.ts';

/** Root fields of a resource, as far as a class may call its operations. */
export function operationFields(
  resource: Resource,
  access: AccessClass,
  kind: 'query' | 'mutation',
  reads: (collection: string) => boolean,
): readonly SdlField[] {
  return operationsOf(resource).flatMap((operation): readonly SdlField[] => {
    const name = operation.graphql?.[kind];
    return name === undefined || !mayCall(operation, access, reads) ? [] : [rootField(operation, name)];
  });
}

/** Types that only these fields have. */
export function operationTypes(resource: Resource): readonly string[] {
  const schemas = operationsOf(resource).flatMap(({ graphql, input = {}, output: { data, body } }) =>
    graphql === undefined
      ? []
      : [...Object.values(input), graphql.type === undefined ? (data ?? body ?? []) : []].flat(),
  );
  return [...new Map(schemas.flatMap(namedIn)).values()];
}

function rootField({ graphql, input = {}, output: { data, body } }: NamedOperation, name: string): SdlField {
  const args = fieldsOf(input);
  const value = data ?? body;
  const { type = value === undefined ? 'Boolean' : typeOf(value), order = args.map((argument) => argument.name) } =
    graphql ?? {};
  return {
    name,
    type,
    args: order.flatMap((argumentName) => args.find((argument) => argument.name === argumentName) ?? []),
  };
}

/** Named types of a schema, those that it refers to before itself. */
function namedIn(schema: ValueSchema): readonly (readonly [string, string])[] {
  const { graphql = '', members = {}, items, enum: choices } = schema;
  if (schema.members === undefined) {
    if (choices !== undefined && /^[a-z]/.test(graphql)) return [[graphql, sdlEnum(graphql, choices)]];
    return items === undefined ? [] : namedIn(items);
  }
  return [...Object.values(members).flatMap(namedIn), [graphql, sdlType('type', graphql, fieldsOf(members))]];
}

function fieldsOf(members: NonNullable<ValueSchema['members']>): readonly SdlField[] {
  return listMembers(members).map(({ name, isRequired, schema: { note = null, ...schema } }) => {
    const isSpelled = schema.graphql !== undefined && schema.members === undefined;
    return { name, type: isRequired && !isSpelled ? `${typeOf(schema)}!` : typeOf(schema), note };
  });
}

/** Type of a value that may be null. */
function typeOf({ graphql, items, type = 'object' }: ValueSchema): string {
  if (graphql !== undefined) return graphql;
  if (items !== undefined) return `[${typeOf(items)}!]`;
  return scalars[[type].flat()[0] ?? 'object'];
}

const scalars = {
  string: 'String',
  integer: 'Int',
  number: 'Float',
  boolean: 'Boolean',
  object: 'JSON',
  array: 'JSON',
  null: 'Void',
} as const;
