/** The server itself. Source: API specification, section 13. */
import { commonFailures } from './failures.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = [...commonFailures, 'InvalidToken'] as const;
const failuresOfState = [
  'InvalidQuery',
  'Unauthorized',
  'RequestsExceeded',
  'InternalServerError',
  'InvalidToken',
] as const;

const healthStatusSchema = { type: 'string', enum: ['ok', 'warn', 'error'] } as const satisfies ValueSchema;

const hostStateSchema = {
  type: 'string',
  enum: ['primary', 'read-only', 'joining', 'no-quorum', 'away'],
  description: 'The state that the database server reports.',
} as const satisfies ValueSchema;

const checksSchema = {
  component: 'HealthChecks',
  type: 'object',
  additionalProperties: {
    members: {
      status: healthStatusSchema,
      'responseTime?': { type: 'number', description: 'Milliseconds.' },
      'state?': hostStateSchema,
      'lag?': { type: 'number', description: 'Milliseconds by which a standby is behind.' },
      'hosts?': {
        type: 'array',
        items: {
          members: {
            role: { type: 'string', enum: ['write', 'read'] },
            state: hostStateSchema,
            'lag?': { type: 'number', description: 'Milliseconds by which a replica is behind.' },
          },
        },
      },
      'output?': { type: 'array', items: { type: 'string' } },
    },
  },
  administrators: true,
} as const satisfies ValueSchema;

const versionSchema = {
  members: { version: { type: 'string' } },
  administrators: true,
} as const satisfies ValueSchema;

const textSchema = { type: ['string', 'null'] } as const satisfies ValueSchema;

const informationSchema = {
  component: 'Information',
  members: {
    project: {
      members: {
        'project_name?': textSchema,
        'project_descriptor?': textSchema,
        'project_logo?': textSchema,
        'project_color?': textSchema,
        'default_language?': textSchema,
        'public_foreground?': textSchema,
        'public_background?': textSchema,
        'public_note?': textSchema,
        'custom_css?': textSchema,
      },
    },
    'platform?': versionSchema,
    'node?': versionSchema,
    'rateLimit?': { administrators: true },
  },
} as const satisfies ValueSchema;

const anyObject = { type: 'object', additionalProperties: true } as const satisfies ValueSchema;
const anyObjects = { type: 'array', items: anyObject } as const satisfies ValueSchema;
const checksNote = 'The checks show why.';

/** State and descriptions of the server. */
export const serverResource = {
  tag: 'server',
  installed: false,
  operations: {
    serverPing: {
      route: 'GET /server/ping',
      summary: 'Ping',
      description: 'Tells that the server runs. No token is looked at.',
      access: 'unchecked',
      output: { description: 'The server runs.', type: 'text/plain', body: { type: 'string', const: 'pong' } },
      failures: ['RequestsExceeded', 'InternalServerError'],
      graphql: { query: 'server_ping' },
      client: 'server.ping()',
    },
    serverHealth: {
      route: 'GET /server/health',
      summary: 'Check the health',
      description:
        'Tells whether the server can serve requests. With `warn` it serves a part of them: its database only reads, or single tables no longer fit the API.',
      access: 'anyone',
      output: {
        description: 'The server can serve requests.',
        type: 'application/health+json',
        body: { component: 'Health', members: { status: healthStatusSchema, 'checks?': checksSchema } },
        unavailable: { description: 'The server cannot serve requests now.', administrators: checksNote },
      },
      failures: failuresOfState,
      graphql: { query: 'server_health', type: 'JSON' },
      client: 'server.health()',
    },
    serverReady: {
      route: 'GET /server/ready',
      summary: 'Check the readiness',
      description: 'Tells whether requests should be sent here: for load balancers.',
      access: 'anyone',
      input: {
        'role?': {
          type: 'string',
          enum: ['any'],
          description: 'Whether it is enough that the server can read.',
        },
      },
      output: {
        description: 'The server takes requests.',
        body: {
          component: 'Readiness',
          members: {
            status: { type: 'string', enum: ['ok', 'starting', 'draining', 'database', 'schema'] },
            'checks?': checksSchema,
          },
        },
        unavailable: { description: 'The server should get no requests now.', administrators: checksNote },
      },
      failures: failuresOfState,
    },
    serverInfo: {
      route: 'GET /server/info',
      summary: 'Describe the server',
      description: 'Describes the project that is served.',
      administrators: 'Administrators see its versions too.',
      access: 'anyone',
      output: { description: 'Facts of the project.', data: informationSchema },
      failures,
      graphql: { query: 'server_info', type: 'JSON' },
      client: 'server.info()',
    },
    serverSpecsOas: {
      route: 'GET /server/specs/oas',
      summary: 'Read this document',
      description: 'Returns the OpenAPI document of what the caller may read.',
      access: 'anyone',
      output: {
        description: 'An OpenAPI 3.1 document.',
        body: {
          members: {
            openapi: { type: 'string', const: '3.1.0' },
            info: anyObject,
            paths: anyObject,
            components: anyObject,
            servers: anyObjects,
            security: anyObjects,
            tags: anyObjects,
          },
        },
      },
      failures,
      graphql: { query: 'server_specs_oas', type: 'JSON' },
      client: 'server.oas()',
    },
  },
} as const satisfies Resource;
