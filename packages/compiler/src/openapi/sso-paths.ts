/** The paths of single sign-on, where there are users. Source: API specification, section 2.8. */

import { authResource, type FailureName, tokensSchema } from '@tablewright/runtime/operations';
import { type JsonObject, objectOf } from './json.ts';
import { schemaOf } from './operations.ts';
import { failuresByStatus } from './responses.ts';

const always = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'RouteNotFound'] as const;
const arriving = [...always, 'ArrivalRefused', 'InvalidToken'] as const;

/** The paths with their operations. Which providers there are is said by the environment of a server. */
export function ssoPaths(): readonly (readonly [string, JsonObject])[] {
  return [
    ['/auth/login/{provider}', { get: depart() }],
    ['/auth/login/{provider}/callback', { get: arrive(), post: arriveByForm() }],
  ];
}

function depart(): JsonObject {
  return {
    ...head('authLoginProvider', 'Sign in elsewhere', 'Sends the browser to a provider of single sign-on.'),
    parameters: [
      provider,
      text('redirect', 'Where the browser goes on to when it is back, if the provider allows the address.'),
    ],
    responses: objectOf([
      ['302', redirection('To the provider; a cookie holds the state.')],
      ...failuresByStatus([...always, 'InvalidQuery']),
    ]),
  };
}

function arrive(): JsonObject {
  return {
    ...head('authLoginCallback', 'Come back', 'Takes what the provider says, and begins a session.'),
    parameters: [provider, ...brought.map(([name, description]) => text(name, description))],
    responses: answers(arriving),
  };
}

function arriveByForm(): JsonObject {
  const properties = objectOf(brought.map(([name, description]) => [name, { type: 'string', description }]));
  const schema: JsonObject = { type: 'object', properties };
  return {
    ...head(
      'authLoginCallbackForm',
      'Come back by a form',
      'The same for providers that have the browser send a form.',
    ),
    parameters: [provider],
    requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema } } },
    responses: answers([...arriving, 'InvalidBody', 'UnsupportedMediaType']),
  };
}

/** Parameters that a provider sends along. */
const brought = [
  ['state', 'The state that the provider was sent.'],
  ['code', 'The code that is exchanged for the profile.'],
  ['iss', 'The issuer.'],
  ['error', 'Why there is no code.'],
] as const;

const provider: JsonObject = {
  name: 'provider',
  in: 'path',
  required: true,
  description: 'Name of a provider, as `GET /auth` lists them.',
  schema: { type: 'string' },
};

function text(name: string, description: string): JsonObject {
  return { name, in: 'query', description, schema: { type: 'string' } };
}

function redirection(description: string): JsonObject {
  const schema = { type: 'string', format: 'uri' };
  return { description, headers: { Location: { required: true, schema } } };
}

function answers(failures: readonly FailureName[]): JsonObject {
  const onward = 'To the address that was asked for: with the cookie of the session, or with a parameter `reason`.';
  return objectOf([
    [
      '200',
      {
        description: 'The tokens of the session.',
        content: { 'application/json': { schema: schemaOf({ members: { data: tokensSchema } }, false) } },
      },
    ],
    ['303', redirection(onward)],
    ...failuresByStatus(failures),
  ]);
}

/** No token is looked at. */
function head(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: [authResource.tag], summary, description, security: [] };
}
