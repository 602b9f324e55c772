/** Signing in and out, and passwords by mail. Source: API specification, sections 2.3 to 2.7. */
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable'] as const;
const withBody = [...failures, 'InvalidBody', 'UnsupportedMediaType'] as const;

/** A password that is not empty. */
export const passwordSchema = { type: 'string', format: 'password', minLength: 1 } as const satisfies ValueSchema;

/** Address of a link that is mailed. */
export const linkSchema = {
  type: 'string',
  description: 'Where the link leads, when the server allows it; the token is added as a parameter.',
} as const satisfies ValueSchema;

const modeSchema = {
  type: 'string',
  enum: ['json', 'cookie'],
  description: 'Where the refresh token is answered: in the body, or in a cookie that scripts cannot read.',
  graphql: 'auth_mode',
} as const satisfies ValueSchema;

/** Tokens of a session. */
export const tokensSchema = {
  component: 'AuthTokens',
  graphql: 'auth_tokens',
  members: {
    access_token: { type: 'string', description: 'Sent as Bearer with every request.', graphql: 'String' },
    expires: {
      type: 'integer',
      minimum: 1,
      description: 'Milliseconds for which the access token is valid.',
      graphql: 'Int',
    },
    'refresh_token?': {
      type: 'string',
      description: 'Absent in cookie mode.',
      note: 'Null where a cookie holds it.',
    },
  },
} as const satisfies ValueSchema;

const providerSchema = {
  component: 'AuthProvider',
  graphql: 'auth_provider',
  members: {
    name: { type: 'string' },
    driver: { type: 'string', enum: ['oauth2', 'openid'], graphql: 'String!' },
    'icon?': { type: 'string' },
    'label?': { type: 'string' },
  },
} as const satisfies ValueSchema;

const refreshTokenSchema = { type: 'string', description: 'Needed unless the cookie holds it.' } as const;

/** Sessions. */
export const authResource = {
  tag: 'auth',
  installed: true,
  operations: {
    authLogin: {
      route: 'POST /auth/login',
      summary: 'Sign in',
      description: 'Begins a session.',
      access: 'unchecked',
      input: {
        email: { type: 'string', description: 'Address of the user, in any case.' },
        password: { type: 'string', format: 'password' },
        'otp?': { type: 'string', description: 'One-time password, where the user has a second factor.' },
        'mode?': modeSchema,
      },
      output: { description: 'The tokens of the session.', data: tokensSchema },
      failures: [...withBody, 'SignInRefused', 'RouteNotFound'],
      graphql: { mutation: 'auth_login' },
    },
    authRefresh: {
      route: 'POST /auth/refresh',
      summary: 'Exchange a refresh token',
      description: 'Gives new tokens. The refresh token is used up by it.',
      access: 'unchecked',
      input: { 'refresh_token?': refreshTokenSchema, 'mode?': modeSchema },
      output: { description: 'The tokens of the session.', data: tokensSchema },
      failures: [...withBody, 'RefreshRefused', 'ForeignPage'],
      graphql: { mutation: 'auth_refresh' },
    },
    authLogout: {
      route: 'POST /auth/logout',
      summary: 'Sign out',
      description: 'Ends the session, also when it has ended before.',
      access: 'unchecked',
      input: {
        'refresh_token?': refreshTokenSchema,
        'all?': { type: 'boolean', description: 'True ends every session of the user; else this one ends.' },
      },
      output: { description: 'The session has ended.' },
      failures: [...withBody, 'ForeignPage'],
      graphql: { mutation: 'auth_logout' },
    },
    authProviders: {
      route: 'GET /auth',
      summary: 'List ways to sign in',
      description: 'Lists the providers of single sign-on.',
      access: 'unchecked',
      output: {
        description: 'The providers.',
        body: {
          graphql: 'auth_providers_data',
          members: {
            data: { type: 'array', items: providerSchema },
            disableDefault: { type: 'boolean', description: 'True if users cannot sign in by password.' },
          },
        },
      },
      failures: ['InternalServerError'],
      graphql: { query: 'auth_providers' },
    },
  },
} as const satisfies Resource;

/** Forgotten passwords. */
export const passwordResource = {
  tag: 'auth',
  installed: true,
  operations: {
    authPasswordRequest: {
      route: 'POST /auth/password/request',
      summary: 'Ask for a reset',
      description: 'Mails a link, if there is a user with this address.',
      access: 'unchecked',
      stalled: true,
      input: { email: { type: 'string', format: 'email' }, 'reset_url?': linkSchema },
      output: { description: 'A mail is sent if the address has an account.' },
      failures: withBody,
      graphql: { mutation: 'auth_password_request' },
      client: 'auth.password.request(email, reset_url)',
    },
    authPasswordReset: {
      route: 'POST /auth/password/reset',
      summary: 'Reset a password',
      description: 'Sets the password of the user to whom the token was mailed.',
      access: 'unchecked',
      input: {
        token: { type: 'string', description: 'The token of a reset, which works once.' },
        password: passwordSchema,
      },
      output: { description: 'The user can sign in with the password.' },
      failures: [...failures, 'UnsupportedMediaType', 'InvalidWrite', 'MailedTokenExpired', 'InvalidToken'],
      graphql: { mutation: 'auth_password_reset' },
      client: 'auth.password.reset(token, password)',
    },
  },
} as const satisfies Resource;

const ssoFailures = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'RouteNotFound'] as const;
const failuresOfReturn = [...ssoFailures, 'ArrivalRefused', 'InvalidToken'] as const;

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
          description: 'Where the browser goes on to when it is back, if the provider allows it.',
        },
        'invitation?': {
          type: 'string',
          description: 'Token of an invitation that the sign-in accepts.',
        },
      },
      output: {
        description: 'To the provider.',
        redirect: {
          status: 302,
          description: 'To the provider, or back with `reason`; sets a cookie.',
        },
      },
      failures: [...ssoFailures, 'InvalidQuery', 'MailedTokenExpired', 'InvalidToken'],
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
