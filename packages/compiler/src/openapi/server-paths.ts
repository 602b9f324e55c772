/** The paths under `/server`. Source: API specification, section 13. */

import { commonFailures, type FailureName } from '@tablewright/runtime/operations';
import { anyObject, type JsonObject, objectOf, reference } from './json.ts';
import { failuresByStatus } from './responses.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const serverTag = 'server';

const tokenFailures = [...commonFailures, 'InvalidToken'] as const;

/** The paths of the server with their operations; administrators are told more. */
export function serverPaths(administrator: boolean): readonly (readonly [string, JsonObject])[] {
  return [
    ['/server/ping', { get: ping() }],
    ['/server/health', { get: health(administrator) }],
    ['/server/ready', { get: readiness(administrator) }],
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
    ...head(
      'serverHealth',
      'Check the health',
      'Tells whether the server can serve requests. With `warn` it serves a part of them: its database only reads, or single tables no longer fit the API.',
    ),
    responses: objectOf([
      ['200', { description: 'The server can serve requests.', content }],
      ...failuresByStatus(failed),
      ['503', unhealthy],
    ]),
  };
}

function readiness(administrator: boolean): JsonObject {
  const content = { 'application/json': { schema: reference('schemas', 'Readiness') } };
  const checks = administrator ? ' The checks show why.' : '';
  const headers = { 'Retry-After': reference('headers', 'RetryAfter') };
  const failed = tokenFailures.filter((name) => name !== 'ServiceUnavailable');
  const role = { type: 'string', enum: ['any'] };
  return {
    ...head('serverReady', 'Check the readiness', 'Tells whether requests should be sent here: for load balancers.'),
    parameters: [
      { name: 'role', in: 'query', description: 'Whether it is enough that the server can read.', schema: role },
    ],
    responses: objectOf([
      ['200', { description: 'The server takes requests.', content }],
      ...failuresByStatus(failed),
      ['503', { description: `The server should get no requests now.${checks}`, headers, content }],
    ]),
  };
}

function information(administrator: boolean): JsonObject {
  const versions = administrator ? ' Administrators see its versions too.' : '';
  const schema = { type: 'object', properties: { data: reference('schemas', 'Information') }, required: ['data'] };
  return {
    ...head('serverInfo', 'Describe the server', `Describes the project that is served.${versions}`),
    responses: answers('Facts of the project.', 'application/json', schema, tokenFailures),
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
    ['Readiness', readinessSchema(administrator)],
    ['Information', informationSchema(administrator)],
  ];
}

function healthSchema(administrator: boolean): JsonObject {
  const properties = { status: healthStatus, ...(administrator && { checks: checksSchema() }) };
  return { type: 'object', properties, required: ['status'] };
}

function readinessSchema(administrator: boolean): JsonObject {
  const status = { type: 'string', enum: ['ok', 'starting', 'draining', 'database', 'schema'] };
  const properties = { status, ...(administrator && { checks: checksSchema() }) };
  return { type: 'object', properties, required: ['status'] };
}

const healthStatus: JsonObject = { type: 'string', enum: ['ok', 'warn', 'error'] };

function checksSchema(): JsonObject {
  const states = ['primary', 'read-only', 'joining', 'no-quorum', 'away'];
  const check = {
    type: 'object',
    properties: {
      status: healthStatus,
      responseTime: { type: 'number', description: 'Milliseconds.' },
      state: { type: 'string', enum: states, description: 'The state that the database server reports.' },
      lag: { type: 'number', description: 'Milliseconds by which a standby is behind.' },
      output: { type: 'array', items: { type: 'string' } },
    },
    required: ['status'],
  };
  return { type: 'object', additionalProperties: check };
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
