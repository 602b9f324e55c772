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
  const reader = { lists, administrator: view.administrator };
  const operations = callableOperations(resource, access, view, lists);
  const [reads, others] = [true, false].map((isRead) =>
    operations.filter((operation) => (routeOf(operation).method === 'GET') === isRead),
  );
  const paths = Map.groupBy([...(reads ?? []), ...(others ?? [])], (operation) => routeOf(operation).path);
  return [...paths].map(([path, alternatives]) => [
    path,
    objectOf(
      alternatives.map((operation) => [routeOf(operation).method.toLowerCase(), describeOperation(operation, reader)]),
    ),
  ]);
}

/** Components of a resource that its operations refer to. */
export function operationSchemas(resource: Resource, administrator: boolean): Parts {
  const named = operationsOf(resource)
    .flatMap(schemasOf)
    .flatMap(componentsIn)
    .map(({ component = '', ...schema }) => [component, schemaOf(schema, administrator)] as const);
  return [...new Map(named)];
}

/** Prints a schema; only administrators see all its members. */
export function schemaOf(schema: ValueSchema, administrator: boolean): JsonObject {
  const { component, graphql, note, maxBytes, field, collections, administrators, ...described } = schema;
  const { members, items, anyOf, additionalProperties, ...plain } = described;
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
function schemasOf({ input = {}, output: { data, body } }: NamedOperation): readonly ValueSchema[] {
  return [...Object.values(input), data ?? body ?? []].flat();
}

function componentsIn(schema: ValueSchema): readonly ValueSchema[] {
  const { items, members = {}, anyOf = [] } = schema;
  const below = [...Object.values(members), ...anyOf, items ?? []].flat().flatMap(componentsIn);
  return schema.component === undefined ? below : [schema, ...below];
}

/** Access class that a document is printed for. */
interface Reader {
  readonly lists: CollectionLists;
  readonly administrator: boolean;
}

function describeOperation(operation: NamedOperation, reader: Reader): JsonObject {
  const { id, tag, summary, access, input = {}, keyed, failures } = operation;
  const { method, parameters } = routeOf(operation);
  const members = listMembers(input);
  const others = members.filter(({ name }) => !parameters.includes(name));
  const queried = method === 'GET' ? others : [];
  const listed = [
    ...members.filter(({ name }) => parameters.includes(name)).map((member) => parameterOf(member, 'path', reader)),
    ...queried.map((member) => parameterOf(member, 'query', reader)),
    ...(keyed ? [reference('parameters', 'IdempotencyKey')] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...descriptionOf(operation, reader),
    ...(access === 'unchecked' && { security: [] }),
    ...(listed.length > 0 && { parameters: listed }),
    ...(others.length > queried.length && { requestBody: requestBody(others, operation.closed, reader) }),
    responses: objectOf([...answers(operation, reader), ...failuresByStatus(failures)]),
  };
}

/** The description for a reader. */
function descriptionOf(
  { description, administrators }: Pick<NamedOperation, 'description' | 'administrators'>,
  { administrator }: Reader,
): { readonly description: string } {
  return { description: administrator && administrators ? `${description} ${administrators}` : description };
}

function parameterOf(
  { name, isRequired, schema: { collections, description, ...schema } }: SchemaMember,
  kind: 'path' | 'query',
  { lists, administrator }: Reader,
): JsonObject {
  const choices = collections && { enum: [...lists[collections]] };
  return {
    name,
    in: kind,
    ...(isRequired && { required: true }),
    ...(description && { description }),
    schema: { ...schemaOf(schema, administrator), ...choices },
  };
}

function requestBody(members: readonly SchemaMember[], closed = false, { administrator }: Reader): JsonObject {
  const required = members.some(({ isRequired }) => isRequired);
  const schema = { ...objectSchema(members, administrator), ...(closed && { additionalProperties: false }) };
  return { required, content: { 'application/json': { schema } } };
}

/** Successful answers by status, and that of a server that cannot serve requests. */
function answers({ output }: NamedOperation, reader: Reader): Parts {
  const { description, data, body, status, type = 'application/json', unavailable } = output;
  const whole = data === undefined ? body : { members: { data } };
  if (whole === undefined) return [[String(status ?? 204), { description }]];
  const content = { [type]: { schema: schemaOf(whole, reader.administrator) } };
  const headers = { 'Retry-After': reference('headers', 'RetryAfter') };
  return [
    [String(status ?? 200), { description, content }],
    ...(unavailable ? [['503', { ...descriptionOf(unavailable, reader), headers, content }] as const] : []),
  ];
}

function objectSchema(members: readonly SchemaMember[], administrator: boolean): JsonObject {
  const shown = members.filter(({ schema }) => administrator || schema.administrators !== true);
  const required = shown.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: objectOf(shown.map(({ name, schema }) => [name, schemaOf(schema, administrator)])),
    ...(required.length > 0 && { required }),
  };
}
