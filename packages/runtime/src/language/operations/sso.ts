/** Single sign-on, where there are users. Source: API specification, section 2.8. */
import { tokensSchema } from './auth.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'RouteNotFound'] as const;
const failuresOfReturn = [...failures, 'ArrivalRefused', 'InvalidToken'] as const;

const provider = {
  type: 'string',
  description: 'Name of a provider, as `GET /auth` lists them.',
} as const satisfies ValueSchema;

/** Parameters that a provider sends along; several of one name mean nothing. */
const form = {
  type: 'application/x-www-form-urlencoded',
  members: {
    'state?': { type: 'string', description: 'The state that the provider was sent.' },
    'code?': { type: 'string', description: 'The code that is exchanged for the profile.' },
    'iss?': { type: 'string', description: 'The issuer.' },
    'error?': { type: 'string', description: 'Why there is no code.' },
  },
} as const;

const tokens = {
  description: 'The tokens of the session.',
  data: tokensSchema,
  redirect: {
    status: 303,
    description: 'To the address that was asked for: with the cookie of the session, or with a parameter `reason`.',
  },
} as const;

/** Ways to a provider and back. A server has a route for each of its providers. */
export const ssoResource = {
  tag: 'auth',
  installed: true,
  operations: {
    authLoginProvider: {
      route: 'GET /auth/login/{provider}',
      summary: 'Sign in elsewhere',
      description: 'Sends the browser to a provider of single sign-on.',
      access: 'unchecked',
      input: {
        provider,
        'redirect?': {
          type: 'string',
          description: 'Where the browser goes on to when it is back, if the provider allows the address.',
        },
      },
      output: {
        description: 'To the provider.',
        redirect: { status: 302, description: 'To the provider; a cookie holds the state.' },
      },
      failures: [...failures, 'InvalidQuery'],
    },
    authLoginCallback: {
      route: 'GET /auth/login/{provider}/callback',
      summary: 'Come back',
      description: 'Takes what the provider says, and begins a session.',
      access: 'unchecked',
      input: { provider },
      form,
      output: tokens,
      failures: failuresOfReturn,
    },
    authLoginCallbackForm: {
      route: 'POST /auth/login/{provider}/callback',
      summary: 'Come back by a form',
      description: 'The same for providers that have the browser send a form.',
      access: 'unchecked',
      input: { provider },
      form,
      output: tokens,
      failures: [...failuresOfReturn, 'InvalidBody', 'UnsupportedMediaType'],
    },
  },
} as const satisfies Resource;
