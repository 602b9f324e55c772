/** The routes of a project's own code, with what their types say. */
import type { CustomRoute, ObjectShape, Shape, ShapeMember } from '@tablewright/runtime/language';
import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { sha256 } from '../../print/json.ts';
import { type JsonObject, objectOf } from '../json.ts';
import { failuresByStatus } from '../responses.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const customTag = 'extensions';

/** The paths of routes with their operations. */
export function customPaths(routes: readonly CustomRoute[]): readonly (readonly [string, JsonObject])[] {
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
    responses: objectOf([success(route), ...failuresByStatus(failuresOf(route))]),
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

function success({ response }: CustomRoute): readonly [string, JsonObject] {
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
