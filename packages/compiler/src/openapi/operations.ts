/** Paths and components of the platform's operations, from their declarations. */
import type { AccessClass } from '@tablewright/runtime/language';
import {
  listMembers,
  type NamedOperation,
  operationsOf,
  type Resource,
  routeOf,
  type SchemaMember,
  type ValueSchema,
} from '@tablewright/runtime/operations';
import {
  type CollectionLists,
  callableOperations,
  type SeenApi,
  type SeenView,
  sortableNames,
} from '../role-view/callable.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import { failuresByStatus } from './responses.ts';

/** Members of a document by name. */
type Parts = readonly (readonly [string, JsonObject])[];

/** The paths of a resource, as far as an access class may call its operations; null: all. Reads come first. */
export function operationPaths(resource: Resource, api: SeenApi, access: AccessClass | null, view: SeenView): Parts {
  const lists = { sortable: sortableNames(api, view) };
  const operations = callableOperations(resource, access, view, lists);
  const [reads, others] = [true, false].map((isRead) =>
    operations.filter((operation) => (routeOf(operation).method === 'GET') === isRead),
  );
  const paths = Map.groupBy([...(reads ?? []), ...(others ?? [])], (operation) => routeOf(operation).path);
  return [...paths].map(([path, alternatives]) => [
    path,
    objectOf(
      alternatives.map((operation) => [routeOf(operation).method.toLowerCase(), describeOperation(operation, lists)]),
    ),
  ]);
}

/** Components of a resource that its operations refer to. */
export function operationSchemas(resource: Resource): Parts {
  const named = operationsOf(resource)
    .flatMap(schemasOf)
    .flatMap(componentsIn)
    .map(({ component = '', ...schema }) => [component, schemaOf(schema)] as const);
  return [...new Map(named)];
}

/** Prints a schema. */
export function schemaOf(schema: ValueSchema): JsonObject {
  const { component, graphql, note, maxBytes, field, collections, members, items, anyOf, ...plain } = schema;
  if (component !== undefined) return reference('schemas', component);
  const printed: JsonObject = {
    ...(members && objectSchema(listMembers(members))),
    ...(anyOf && { anyOf: anyOf.map(schemaOf) }),
    ...plain,
    // No character has less than a byte.
    ...(maxBytes && { maxLength: maxBytes }),
    ...(items && { items: schemaOf(items) }),
  };
  // In the order of the declaration.
  const names = Object.keys(schema).map((name) => (name === 'maxBytes' ? 'maxLength' : name));
  return objectOf(Object.entries(printed).sort(([a], [b]) => names.indexOf(a) - names.indexOf(b)));
}

/** Inputs, and the output. */
function schemasOf({ input = {}, output: { data, body } }: NamedOperation): readonly ValueSchema[] {
  return [...Object.values(input), data ?? body ?? []].flat();
}

function componentsIn(schema: ValueSchema): readonly ValueSchema[] {
  const { items, members = {}, anyOf = [] } = schema;
  const below = [...Object.values(members), ...anyOf, items ?? []].flat().flatMap(componentsIn);
  return schema.component === undefined ? below : [schema, ...below];
}

function describeOperation(operation: NamedOperation, lists: CollectionLists): JsonObject {
  const { id, tag, summary, description, access, input = {}, keyed, failures } = operation;
  const { method, parameters } = routeOf(operation);
  const members = listMembers(input);
  const others = members.filter(({ name }) => !parameters.includes(name));
  const queried = method === 'GET' ? others : [];
  const listed = [
    ...members.filter(({ name }) => parameters.includes(name)).map((member) => pathParameter(member, lists)),
    ...queried.map(({ name, isRequired, schema }) => {
      return { name, in: 'query', ...(isRequired && { required: true }), schema: schemaOf(schema) };
    }),
    ...(keyed ? [reference('parameters', 'IdempotencyKey')] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(access === 'unchecked' && { security: [] }),
    ...(listed.length > 0 && { parameters: listed }),
    ...(others.length > queried.length && { requestBody: requestBody(others, operation.closed) }),
    responses: objectOf([answer(operation), ...failuresByStatus(failures)]),
  };
}

function pathParameter({ name, schema: { collections, ...schema } }: SchemaMember, lists: CollectionLists): JsonObject {
  const choices = collections && { enum: [...lists[collections]] };
  return { name, in: 'path', required: true, schema: { ...schemaOf(schema), ...choices } };
}

function requestBody(members: readonly SchemaMember[], closed = false): JsonObject {
  const required = members.some(({ isRequired }) => isRequired);
  const schema = { ...objectSchema(members), ...(closed && { additionalProperties: false }) };
  return { required, content: { 'application/json': { schema } } };
}

function answer({ output: { description, data, body, status } }: NamedOperation): readonly [string, JsonObject] {
  const whole = data === undefined ? body : { members: { data } };
  if (whole === undefined) return [String(status ?? 204), { description }];
  return [String(status ?? 200), { description, content: { 'application/json': { schema: schemaOf(whole) } } }];
}

function objectSchema(members: readonly SchemaMember[]): JsonObject {
  const required = members.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: objectOf(members.map(({ name, schema }) => [name, schemaOf(schema)])),
    ...(required.length > 0 && { required }),
  };
}
