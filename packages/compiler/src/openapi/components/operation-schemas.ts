/** Schemas of the platform's operations, from their declarations. */
import {
  listMembers,
  type NamedOperation,
  operationsOf,
  type Resource,
  type SchemaMember,
  type ValueSchema,
} from '@tablewright/runtime/operations';
import { type JsonObject, objectOf, reference } from '../json.ts';

/** Components of a resource that its operations refer to. */
export function operationSchemas(
  resource: Resource,
  administrator: boolean,
): readonly (readonly [string, JsonObject])[] {
  const named = componentsIn(operationsOf(resource).flatMap(schemasOf)).map(
    ({ component = '', ...schema }) => [component, schemaOf(schema, administrator)] as const,
  );
  return [...new Map(named)];
}

/** Prints a schema; only administrators see all its members. */
export function schemaOf(schema: ValueSchema, administrator: boolean): JsonObject {
  const {
    component,
    graphql,
    note,
    argument,
    payload,
    flag,
    collections,
    field,
    refusal,
    administrators,
    ...described
  } = schema;
  const { members, items, anyOf, additionalProperties, maxBytes, ...plain } = described;
  const print = (below: ValueSchema): JsonObject => schemaOf(below, administrator);
  if (component !== undefined) return reference('schemas', component);
  const printed: JsonObject = {
    ...(members && objectSchema(listMembers(members), administrator)),
    ...(anyOf && { anyOf: anyOf.map(print) }),
    ...plain,
    // No character has less than a byte.
    ...(maxBytes && { maxLength: maxBytes }),
    ...(items && { items: print(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? print(additionalProperties) : additionalProperties,
    }),
  };
  // In the order of the declaration.
  const names = Object.keys(schema).map((name) => (name === 'maxBytes' ? 'maxLength' : name));
  return objectOf(Object.entries(printed).sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
}

/** Inputs, and the output. */
function schemasOf({ input = {}, body, output }: NamedOperation): readonly ValueSchema[] {
  return [...Object.values(input), body ?? [], output.data ?? output.body ?? []].flat();
}

/** Components of schemas, those that refer to others before these. */
function componentsIn(schemas: readonly ValueSchema[]): readonly ValueSchema[] {
  const nearest = (schema: ValueSchema): readonly ValueSchema[] =>
    schema.component === undefined ? partsOf(schema).flatMap(nearest) : [schema];
  const found = schemas.flatMap(nearest);
  return found.length === 0 ? [] : [...found, ...componentsIn(found.flatMap(partsOf))];
}

function partsOf({ items, members = {}, anyOf = [] }: ValueSchema): readonly ValueSchema[] {
  return [...Object.values(members), ...anyOf, items ?? []].flat();
}

/** Prints an object with these members. */
export function objectSchema(members: readonly SchemaMember[], administrator: boolean): JsonObject {
  const shown = members.filter(({ schema }) => administrator || schema.administrators !== true);
  const required = shown.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: objectOf(shown.map(({ name, schema }) => [name, schemaOf(schema, administrator)])),
    ...(required.length > 0 && { required }),
  };
}
