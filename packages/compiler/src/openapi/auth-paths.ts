/** The paths under `/auth`, where there are users. Source: API specification, sections 2.3 to 2.7. */
import type { Api } from '../api.ts';
import { type JsonObject, objectOf, reference } from './json.ts';
import { type FailureName, failuresByStatus } from './responses.ts';

/** Tag of the operations. No collection has it: theirs have a slash. */
export const authTag = 'auth';

/** True if an API has users, so that callers can sign in. */
export function hasUsers({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.system === true && descriptor.name === 'platform_users');
}

const always = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable'] as const;
const withBody = [...always, 'InvalidBody', 'UnsupportedMediaType'] as const;

/** The paths with their operations; they are the same for everybody. */
export function authPaths(): readonly (readonly [string, JsonObject])[] {
  return [
    ['/auth', { get: providers() }],
    ['/auth/login', { post: login() }],
    ['/auth/refresh', { post: refresh() }],
    ['/auth/logout', { post: logout() }],
  ];
}

function providers(): JsonObject {
  const schema = {
    type: 'object',
    properties: {
      data: { type: 'array', items: reference('schemas', 'AuthProvider') },
      disableDefault: { type: 'boolean', description: 'Whether nobody signs in by password.' },
    },
    required: ['data', 'disableDefault'],
  };
  return {
    ...head('authProviders', 'List ways to sign in', 'Lists the providers of single sign-on.'),
    responses: answers('The providers.', schema, ['InternalServerError']),
  };
}

function login(): JsonObject {
  const properties = {
    email: text('Address of the user, in any case.'),
    password: { type: 'string', format: 'password' },
    otp: text('One-time password, where the user has a second factor.'),
    mode,
  };
  return {
    ...head('authLogin', 'Sign in', 'Begins a session.'),
    requestBody: body({ type: 'object', properties, required: ['email', 'password'] }, true),
    responses: answers('The tokens of the session.', tokens, [...withBody, 'SignInRefused', 'RouteNotFound']),
  };
}

function refresh(): JsonObject {
  const properties = { refresh_token: text('Needed unless the cookie holds it.'), mode };
  return {
    ...head('authRefresh', 'Exchange a refresh token', 'Gives new tokens. The refresh token is used up by it.'),
    requestBody: body({ type: 'object', properties }, false),
    responses: answers('The tokens of the session.', tokens, [...withBody, 'RefreshRefused', 'ForeignPage']),
  };
}

function logout(): JsonObject {
  const all = { type: 'boolean', description: 'True ends every session of the user; else this one ends.' };
  const properties = { refresh_token: text('Needed unless the cookie holds it.'), all };
  return {
    ...head('authLogout', 'Sign out', 'Ends the session, also when it has ended before.'),
    requestBody: body({ type: 'object', properties }, false),
    responses: objectOf([
      ['204', { description: 'The session has ended.' }],
      ...failuresByStatus([...withBody, 'ForeignPage']),
    ]),
  };
}

const mode: JsonObject = {
  type: 'string',
  enum: ['json', 'cookie'],
  description: 'Where the refresh token is answered: in the body, or in a cookie that scripts cannot read.',
};

/** The answer of a sign-in. */
export const tokens: JsonObject = {
  type: 'object',
  properties: { data: reference('schemas', 'AuthTokens') },
  required: ['data'],
};

/** The components that only these paths use, by name. */
export function authSchemas(): readonly (readonly [string, JsonObject])[] {
  const properties = {
    access_token: text('Sent as Bearer with every request.'),
    expires: { type: 'integer', minimum: 1, description: 'Milliseconds for which the access token is valid.' },
    refresh_token: text('Absent in cookie mode.'),
  };
  const provider = {
    name: { type: 'string' },
    driver: { type: 'string', enum: ['oauth2', 'openid'] },
    icon: { type: 'string' },
    label: { type: 'string' },
  };
  return [
    ['AuthTokens', { type: 'object', properties, required: ['access_token', 'expires'] }],
    ['AuthProvider', { type: 'object', properties: provider, required: ['name', 'driver'] }],
  ];
}

/** No token is looked at. */
function head(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: [authTag], summary, description, security: [] };
}

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function body(schema: JsonObject, required: boolean): JsonObject {
  return { required, content: { 'application/json': { schema } } };
}

function answers(description: string, schema: JsonObject, failures: readonly FailureName[]): JsonObject {
  return objectOf([
    ['200', { description, content: { 'application/json': { schema } } }],
    ...failuresByStatus(failures),
  ]);
}
