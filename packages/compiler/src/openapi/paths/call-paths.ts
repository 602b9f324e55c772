/** The paths of functions of the database, and of routes of the project's own code. */
import {
  type ArgumentDescriptor,
  type CustomRoute,
  isTextual,
  type ObjectShape,
  type ResultMember,
  type Shape,
  type ShapeMember,
} from '@tablewright/runtime/language';
import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { sha256 } from '../../print/json.ts';
import { requiredArguments } from '../../role-view/build-role-view.ts';
import type { RoleFunction } from '../../role-view/role-view.ts';
import { orNull, scalarInput, valueSchema } from '../components/values.ts';
import { described, envelope, type JsonObject, meta, objectOf, type Parts, reference } from '../json.ts';
import { answerParameters, files, listParameters, use, useHeader } from '../parameters.ts';
import { failuresByStatus } from '../responses.ts';
import { addressed } from './addressed.ts';

export const functionTag = 'functions';

export function functionPaths(functions: readonly RoleFunction[]): Parts {
  return functions.map((called) => [
    `/functions/${encodeURIComponent(called.name)}`,
    objectOf(
      called.reads
        ? [['get', read(called)] as const, ['x-platform-search', search(called)] as const]
        : [['post', write(called)] as const],
    ),
  ]);
}

const failures = [...commonFailures, 'Forbidden', 'RouteNotFound', 'Unprocessable'] as const;
const bodyFailures = [...failures.filter((name) => name !== 'InvalidQuery'), 'UnsupportedMediaType'] as const;

function read(called: RoleFunction): JsonObject {
  const args = called.arguments.map((argument) => ({
    name: argument.name,
    in: 'query',
    required: argument.optional !== true,
    ...queryForm(argument),
  }));
  const names = new Set(args.map(({ name }) => name));
  const options = optionsOf(called).filter((option) => typeof option.name !== 'string' || !names.has(option.name));
  const parameters: readonly JsonObject[] = [...args, ...options];
  return {
    ...head(called, 'read'),
    ...(parameters.length > 0 && { parameters }),
    responses: responsesOf(called, [...failures.filter((name) => name !== 'InvalidQuery'), 'InvalidSearch']),
  };
}

function search(called: RoleFunction): JsonObject {
  const body: JsonObject = {
    type: 'object',
    properties: {
      args: argumentsSchema(called.arguments),
      query: { type: 'object', description: 'Parameters of the query in the address.' },
    },
    additionalProperties: false,
  };
  return {
    ...head(called, 'search'),
    description: 'Answers as GET does. Send it with the method SEARCH.',
    requestBody: { content: { 'application/json': { schema: body } } },
    responses: responsesOf(called, [...bodyFailures, 'InvalidSearch']),
  };
}

function write(called: RoleFunction): JsonObject {
  const { items, returns } = called;
  const shaped =
    items === null || returns.kind !== 'items' ? [] : answerParameters(addressed(items), returns.many === true);
  return {
    ...head(called, 'call'),
    parameters: [...shaped, useHeader('idempotencyKey')],
    requestBody: {
      required: requiredArguments(called.arguments).length > 0,
      content: { 'application/json': { schema: argumentsSchema(called.arguments) } },
    },
    responses: responsesOf(called, [...bodyFailures, 'InvalidWrite']),
  };
}

function head({ name, note }: RoleFunction, verb: string): JsonObject {
  const plain = name.replaceAll(/\W/g, '');
  const id = plain === name ? plain : `${plain}__${sha256(name).slice(0, 10)}`;
  return { operationId: `${verb}Function_${id}`, tags: [functionTag], summary: `Call ${name}`, ...described(note) };
}

/** Arrays are texts with commas or of JSON, JSON and objects are texts. */
function queryForm(argument: ArgumentDescriptor): JsonObject {
  if (argument.type === 'json') return { schema: { type: 'string', contentMediaType: 'application/json' } };
  if (argument.type === 'array') return { explode: false, schema: { type: 'array', items: {} } };
  const schema = inputOf(argument);
  if (argument.type === 'composite')
    return { schema: { type: 'string', contentMediaType: 'application/json', contentSchema: schema } };
  // The word stands for null where no text can be meant.
  return { schema: isTextual(argument.type) ? schema : { anyOf: [schema, { type: 'string', enum: ['null'] }] } };
}

function inputOf({ type, native, element, values, attributes }: ArgumentDescriptor): JsonObject {
  const facts = { ...(element && { element }), ...(attributes && { attributes }) };
  return orNull(scalarInput({ type, native, wire: { kind: 'text' }, ...facts }, values ?? null));
}

function argumentsSchema(args: readonly ArgumentDescriptor[]): JsonObject {
  const required = requiredArguments(args);
  return {
    type: 'object',
    properties: objectOf(args.map((argument) => [argument.name, inputOf(argument)] as const)),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Parameters beside the arguments. */
function optionsOf({ items, returns }: RoleFunction): readonly JsonObject[] {
  if (items !== null) return listParameters(addressed(items), false);
  const isList = 'many' in returns && returns.many === true;
  return isList ? [use('limit'), use('offset'), use('page')] : [];
}

function responsesOf(called: RoleFunction, names: Parameters<typeof failuresByStatus>[0]): JsonObject {
  return objectOf([...success(called), ...failuresByStatus(names)]);
}

function success({ returns, items, reads }: RoleFunction): Parts {
  const done = ['204', { description: 'It is done, and there is nothing to answer.' }] as const;
  if (returns.kind === 'nothing') return [done];
  const schema = envelope(dataOf(returns, items), items === null ? {} : meta);
  const content = { 'application/json': { schema }, ...(items !== null && reads && files) };
  const answered = ['200', { description: 'The answer of the function.', content }] as const;
  return items !== null && !reads ? [answered, done] : [answered];
}

function dataOf(returns: RoleFunction['returns'], items: RoleFunction['items']): JsonObject {
  if (returns.kind === 'nothing') return {};
  const single = oneOf(returns, items);
  if (returns.many === true) return { type: 'array', items: single };
  return items === null ? single : orNull(single);
}

function oneOf(
  returns: Exclude<RoleFunction['returns'], { kind: 'nothing' }>,
  items: RoleFunction['items'],
): JsonObject {
  if (returns.kind === 'value') return memberSchema(returns.value);
  if (returns.kind === 'items') return items === null ? {} : reference('schemas', items.names.item);
  return {
    type: 'object',
    properties: objectOf(returns.members.map((member) => [member.name, memberSchema(member)] as const)),
    required: returns.members.map(({ name }) => name),
  };
}

function memberSchema(member: ResultMember): JsonObject {
  return orNull(valueSchema(member, member.values ?? null));
}

/** Tag of the operations. No collection has it: theirs have a slash. */
export const customTag = 'extensions';

export function customPaths(routes: readonly CustomRoute[]): Parts {
  const byPath = Map.groupBy(routes, ({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'));
  return [...byPath].map(([path, same]) => [
    path,
    objectOf(same.map((route) => [route.method.toLowerCase(), operation(route)] as const)),
  ]);
}

function operation(route: CustomRoute): JsonObject {
  const { method, path, body } = route;
  const parameters = [...parametersOf('path', route.params), ...parametersOf('query', route.query)];
  return {
    operationId: operationId(route),
    tags: [customTag],
    summary: `${method} ${path}`,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, true) } } } }),
    responses: objectOf([customSuccess(route), ...failuresByStatus(failuresOf(route))]),
  };
}

/** `callGetReports_year`. A path that loses characters on the way ends in its hash. */
function operationId({ method, path }: CustomRoute): string {
  const parts = path.slice(1).split('/');
  const formatted = parts.map((part) =>
    part.startsWith(':') ? `_${part.slice(1)}` : part.charAt(0).toUpperCase() + part.slice(1),
  );
  const plain = parts.every((part) => /^(:[A-Za-z0-9]+|[a-z][a-z0-9]*)$/.test(part));
  const name = formatted.join('').replaceAll(/\W/g, '');
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  return `call${verb}${name}${plain ? '' : `__${sha256(path).slice(0, 10)}`}`;
}

function parametersOf(location: 'path' | 'query', shape: ObjectShape | undefined): readonly JsonObject[] {
  return (shape?.members ?? []).map(({ name, optional, shape: schema }) => ({
    name,
    in: location,
    // An array without elements is not sent.
    required: optional !== true && schema.kind !== 'array',
    schema: schemaOf(schema, true),
  }));
}

function customSuccess({ response }: CustomRoute): readonly [string, JsonObject] {
  if (response === undefined) return ['204', { description: 'It is done.' }];
  const content = { 'application/json': { schema: schemaOf(response, false) } };
  return ['200', { description: 'The answer of the route.', content }];
}

function failuresOf({ body }: CustomRoute): readonly FailureName[] {
  const common = commonFailures.filter((name) => name !== 'InvalidQuery');
  const ofBodies: readonly FailureName[] = body ? ['UnsupportedMediaType'] : [];
  return ['InvalidWrite', ...common, 'Forbidden', 'RouteNotFound', 'Unprocessable', ...ofBodies];
}

/** A shape as a schema. Inputs are closed; outputs may get more members later. */
function schemaOf(shape: Shape, closed: boolean): JsonObject {
  switch (shape.kind) {
    case 'json':
      return {};
    case 'date':
      return { type: 'string', format: 'date-time' };
    case 'literal':
      return { enum: [...shape.values] };
    case 'array':
      return { type: 'array', items: schemaOf(shape.of, closed) };
    case 'union':
      return { anyOf: shape.of.map((alternative) => schemaOf(alternative, closed)) };
    case 'object':
      return objectSchema(shape, closed);
    default:
      return { type: shape.kind };
  }
}

function objectSchema({ members, rest }: ObjectShape, closed: boolean): JsonObject {
  const required = members.filter(({ optional }: ShapeMember) => optional !== true).map(({ name }) => name);
  return {
    type: 'object',
    properties: objectOf(members.map(({ name, shape }) => [name, schemaOf(shape, closed)] as const)),
    ...(required.length > 0 && { required }),
    ...(rest ? { additionalProperties: schemaOf(rest, closed) } : closed && { additionalProperties: false }),
  };
}
