/** The paths under `/server`. Source: API specification, section 13. */
import { anyObject, type JsonObject, objectOf, reference } from './json.ts';
import { commonFailures, type FailureName, failuresByStatus } from './responses.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const serverTag = 'server';

const tokenFailures = [...commonFailures, 'InvalidToken'] as const;

/** The paths of the server with their operations; administrators are told more. */
export function serverPaths(administrator: boolean): readonly (readonly [string, JsonObject])[] {
  return [
    ['/server/ping', { get: ping() }],
    ['/server/health', { get: health(administrator) }],
    ['/server/info', { get: information(administrator) }],
    ['/server/specs/oas', { get: specification() }],
  ];
}

function ping(): JsonObject {
  const schema = { type: 'string', const: 'pong' };
  return {
    ...head('serverPing', 'Ping', 'Tells that the server runs. No token is looked at.'),
    security: [],
    responses: answers('The server runs.', 'text/plain', schema, ['RequestsExceeded', 'InternalServerError']),
  };
}

function health(administrator: boolean): JsonObject {
  const content = { 'application/health+json': { schema: reference('schemas', 'Health') } };
  const checks = administrator ? ' The checks show why.' : '';
  const failed = tokenFailures.filter((name) => name !== 'ServiceUnavailable');
  const headers = { 'Retry-After': reference('headers', 'RetryAfter') };
  const unhealthy = { description: `The server cannot serve requests now.${checks}`, headers, content };
  return {
    ...head('serverHealth', 'Check the health', 'Tells whether the server can serve requests.'),
    responses: objectOf([
      ['200', { description: 'The server can serve requests.', content }],
      ...failuresByStatus(failed),
      ['503', unhealthy],
    ]),
  };
}

function information(administrator: boolean): JsonObject {
  const versions = administrator ? ' Administrators see its versions too.' : '';
  const schema = { type: 'object', properties: { data: reference('schemas', 'Information') }, required: ['data'] };
  return {
    ...head('serverInfo', 'Describe the server', `Describes the project that is served.${versions}`),
    responses: answers('What is known of the project.', 'application/json', schema, tokenFailures),
  };
}

function specification(): JsonObject {
  const parts = ['info', 'paths', 'components'];
  const lists = ['servers', 'security', 'tags'];
  const list = { type: 'array', items: anyObject() };
  const schema = {
    type: 'object',
    properties: {
      openapi: { type: 'string', const: '3.1.0' },
      ...objectOf(parts.map((name) => [name, anyObject()])),
      ...objectOf(lists.map((name) => [name, list])),
    },
    required: ['openapi', ...parts, ...lists],
  };
  return {
    ...head('serverSpecsOas', 'Read this document', 'Returns the OpenAPI document of what the caller may read.'),
    responses: answers('An OpenAPI 3.1 document.', 'application/json', schema, tokenFailures),
  };
}

/** The components that only these paths use, by name. */
export function serverSchemas(administrator: boolean): readonly (readonly [string, JsonObject])[] {
  return [
    ['Health', healthSchema(administrator)],
    ['Information', informationSchema(administrator)],
  ];
}

function healthSchema(administrator: boolean): JsonObject {
  const status = { type: 'string', enum: ['ok', 'error'] };
  const check = {
    type: 'object',
    properties: {
      status: { type: 'string', enum: ['ok', 'warn', 'error'] },
      responseTime: { type: 'number', description: 'Milliseconds.' },
      output: { type: 'array', items: { type: 'string' } },
    },
    required: ['status'],
  };
  const checks = { type: 'object', additionalProperties: check };
  return { type: 'object', properties: { status, ...(administrator && { checks }) }, required: ['status'] };
}

const projectNames = [
  'project_name',
  'project_descriptor',
  'project_logo',
  'project_color',
  'default_language',
  'public_foreground',
  'public_background',
  'public_note',
  'custom_css',
] as const;

function informationSchema(administrator: boolean): JsonObject {
  const text = { type: ['string', 'null'] };
  const project = { type: 'object', properties: objectOf(projectNames.map((name) => [name, text])) };
  const version = { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] };
  const more = { platform: version, node: version, rateLimit: {} };
  return { type: 'object', properties: { project, ...(administrator && more) }, required: ['project'] };
}

function head(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: [serverTag], summary, description };
}

function answers(description: string, type: string, schema: JsonObject, failures: readonly FailureName[]): JsonObject {
  return objectOf([['200', { description, content: { [type]: { schema } } }], ...failuresByStatus(failures)]);
}
