/** Paths and schemas of the platform's operations, from their declarations. */
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
  type CallableApi,
  type CallableView,
  type CollectionLists,
  callableOperations,
  collectionLists,
} from '../../role-view/callable.ts';
import { envelope, type JsonObject, objectOf, type Parts, reference } from '../json.ts';
import { failuresByStatus } from '../responses.ts';

/** The paths of a resource, as far as an access class may call its operations; null: all. Reads come first. */
export function operationPaths(
  resource: Resource,
  api: CallableApi,
  access: AccessClass | null,
  view: CallableView,
): Parts {
  const lists = collectionLists(api, view);
  const items = new Map(
    view.collections.flatMap(({ name, names, readable }) => (readable ? [[name, names.item]] : [])),
  );
  const reader = {
    lists,
    items,
    administrator: view.administrator,
    parametersOfPaths: resource.parametersOfPaths === true,
  };
  const operations = callableOperations(resource, access, view, lists);
  const [reads, others] = [true, false].map((isRead) =>
    operations.filter((operation) => (routeOf(operation).method === 'GET') === isRead),
  );
  const paths = Map.groupBy([...(reads ?? []), ...(others ?? [])], (operation) => routeOf(operation).path);
  return [...paths].map(([path, alternatives]) => [
    path,
    {
      ...(reader.parametersOfPaths && sharedParameters(alternatives, reader)),
      ...objectOf(
        alternatives.map((operation) => [
          routeOf(operation).method.toLowerCase(),
          describeOperation(operation, reader),
        ]),
      ),
    },
  ]);
}

/** Access class that a document is printed for. */
interface Reader {
  readonly lists: CollectionLists;
  /** Components of items that it may read, by collection. */
  readonly items: ReadonlyMap<string, string>;
  readonly parametersOfPaths: boolean;
  readonly administrator: boolean;
}

function describeOperation(operation: NamedOperation, reader: Reader): JsonObject {
  const { id, tag, summary, access, keyed, failures } = operation;
  const form = routeOf(operation).method === 'GET' ? listMembers(operation.form?.members ?? {}) : [];
  const queried = [...membersBeside(operation).filter((member) => isQueried(operation, member)), ...form];
  const listed = [
    ...(reader.parametersOfPaths ? [] : pathMembers(operation)).map((member) => parameterOf(member, 'path', reader)),
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
    ...requestBody(operation, reader),
    responses: objectOf([...answers(operation, reader), ...failuresByStatus(failures)]),
  };
}

/** Parameters of a path, to be spread. */
function sharedParameters(alternatives: readonly NamedOperation[], reader: Reader): JsonObject {
  const members = alternatives.slice(0, 1).flatMap(pathMembers);
  return members.length === 0 ? {} : { parameters: members.map((member) => parameterOf(member, 'path', reader)) };
}

function pathMembers({ input = {}, ...operation }: NamedOperation): readonly SchemaMember[] {
  const { parameters } = routeOf(operation);
  return listMembers(input).filter(({ name }) => parameters.includes(name));
}

function membersBeside({ input = {}, ...operation }: NamedOperation): readonly SchemaMember[] {
  const { parameters } = routeOf(operation);
  return listMembers(input).filter(({ name }) => !parameters.includes(name));
}

function isQueried(operation: NamedOperation, { schema }: SchemaMember): boolean {
  return routeOf(operation).method === 'GET' || schema.flag !== undefined;
}

function descriptionOf(
  { description, administrators }: Pick<NamedOperation, 'description' | 'administrators'>,
  { administrator }: Reader,
): { readonly description: string } {
  return { description: administrator && administrators ? `${description} ${administrators}` : description };
}

function parameterOf(
  { name, isRequired, schema: { collections, description, flag, ...schema } }: SchemaMember,
  kind: 'path' | 'query',
  { lists, administrator }: Reader,
): JsonObject {
  if (flag !== undefined)
    return { name: flag[0], in: kind, description: description ?? '', schema: { type: 'string', enum: [flag[1]] } };
  const choices = collections && { enum: [...lists[collections]] };
  return {
    name,
    in: kind,
    ...(isRequired && { required: true }),
    ...(description && { description }),
    schema: { ...schemaOf(schema, administrator), ...choices },
  };
}

function requestBody(operation: NamedOperation, { administrator }: Reader): JsonObject {
  const { body, form, closed = false } = operation;
  if (form !== undefined && routeOf(operation).method !== 'GET') {
    const schema = objectSchema(listMembers(form.members), administrator);
    return { requestBody: { required: true, content: { [form.type]: { schema } } } };
  }
  const members = membersBeside(operation).filter((member) => !isQueried(operation, member));
  if (body === undefined && members.length === 0) return {};
  const schema =
    body === undefined
      ? { ...objectSchema(members, administrator), ...(closed && { additionalProperties: false }) }
      : schemaOf(body, administrator);
  const required = body !== undefined || members.some(({ isRequired }) => isRequired);
  return { requestBody: { required, content: { 'application/json': { schema } } } };
}

/** Successful answers by status, and that of a server that cannot serve requests. */
function answers({ output }: NamedOperation, reader: Reader): Parts {
  const { description, data, body, status, type = 'application/json', unavailable, item, empty, redirect } = output;
  const moved = redirect === undefined ? [] : [redirection(redirect)];
  if (item !== undefined && empty !== undefined) return itemAnswers(item, description, empty, reader);
  const whole = data === undefined ? body : { members: { data } };
  if (whole === undefined) return redirect === undefined ? [[String(status ?? 204), { description }]] : moved;
  const content = { [type]: { schema: schemaOf(whole, reader.administrator) } };
  const headers = { 'Retry-After': reference('headers', 'RetryAfter') };
  return [
    [String(status ?? 200), { description, content }],
    ...moved,
    ...(unavailable ? [['503', { ...descriptionOf(unavailable, reader), headers, content }] as const] : []),
  ];
}

function redirection(redirect: NonNullable<NamedOperation['output']['redirect']>): Parts[number] {
  const { status, description } = redirect;
  const schema = { type: 'string', format: 'uri' };
  return [String(status), { description, headers: { Location: { required: true, schema } } }];
}

/** The item, and the empty answer for items that may not be read. */
function itemAnswers(collection: string, description: string, empty: string, { items }: Reader): Parts {
  const item = items.get(collection);
  const data = item === undefined ? null : reference('schemas', item);
  const schema = data && envelope(data);
  return [
    ...(schema ? [['200', { description, content: { 'application/json': { schema } } }] as const] : []),
    ['204', { description: empty }],
  ];
}

export function operationSchemas(resource: Resource, administrator: boolean): Parts {
  const named = componentsIn(operationsOf(resource).flatMap(schemasOf))
    .filter(({ administrators }) => administrator || administrators !== true)
    .map(({ component = '', ...schema }) => [component, schemaOf(schema, administrator)] as const);
  return [...new Map(named)];
}

/** Prints a schema; only administrators see all its members. */
function schemaOf(schema: ValueSchema, administrator: boolean): JsonObject {
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

function objectSchema(members: readonly SchemaMember[], administrator: boolean): JsonObject {
  const shown = members.filter(({ schema }) => administrator || schema.administrators !== true);
  const required = shown.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: objectOf(shown.map(({ name, schema }) => [name, schemaOf(schema, administrator)])),
    ...(required.length > 0 && { required }),
  };
}
