/** Examples that hold for every project, recorded by `scripts/record-examples.ts`. Do not edit. */
import type { JsonValue } from '@tablewright/runtime/language';
import type { OperationExamples } from '../../api.ts';

/** Answers to requests that fail, by code. */
export const failureExamples: Readonly<Record<string, JsonValue>> = {
  FAILED_VALIDATION: {
    errors: [
      {
        message: '"name" is required.',
        extensions: { code: 'FAILED_VALIDATION', collection: 'tags', field: 'name', type: 'required' },
      },
    ],
  },
  FORBIDDEN: { errors: [{ message: 'Not found, or you do not have permission.', extensions: { code: 'FORBIDDEN' } }] },
  INVALID_CREDENTIALS: {
    errors: [{ message: 'The credentials are not valid.', extensions: { code: 'INVALID_CREDENTIALS' } }],
  },
  INVALID_PAYLOAD: { errors: [{ message: 'The body is not valid JSON.', extensions: { code: 'INVALID_PAYLOAD' } }] },
  INVALID_QUERY: {
    errors: [{ message: '"limit" must be an integer of at least -1.', extensions: { code: 'INVALID_QUERY' } }],
  },
  ROUTE_NOT_FOUND: { errors: [{ message: 'There is no such endpoint.', extensions: { code: 'ROUTE_NOT_FOUND' } }] },
  UNSUPPORTED_MEDIA_TYPE: {
    errors: [{ message: 'Send the body as application/json.', extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }],
  },
};

export const ownExamples: OperationExamples = {
  authLogin: [
    {
      request: 'POST /auth/login',
      body: { email: 'admin@example.com', password: '**********', mode: 'json' },
      status: 200,
      answer: { data: { access_token: '**********', expires: 900000, refresh_token: '**********' } },
    },
  ],
  authLogout: [{ request: 'POST /auth/logout', body: { refresh_token: '**********' }, status: 204 }],
  authPasswordRequest: [{ request: 'POST /auth/password/request', body: { email: 'reader@example.com' }, status: 204 }],
  authProviders: [{ request: 'GET /auth', status: 200, answer: { data: [], disableDefault: false } }],
  authRefresh: [
    {
      request: 'POST /auth/refresh',
      body: { refresh_token: '**********', mode: 'json' },
      status: 200,
      answer: { data: { access_token: '**********', expires: 900000, refresh_token: '**********' } },
    },
  ],
  serverHealth: [
    {
      request: 'GET /server/health',
      status: 200,
      answer: {
        status: 'ok',
        checks: { database: { status: 'ok', state: 'primary', responseTime: 0.9 }, schema: { status: 'ok' } },
      },
    },
    { request: 'GET /server/health', status: 200, answer: { status: 'ok' } },
  ],
  serverReady: [
    {
      request: 'GET /server/ready',
      status: 200,
      answer: {
        status: 'ok',
        checks: { database: { status: 'ok', state: 'primary', responseTime: 0.9 }, schema: { status: 'ok' } },
      },
    },
    { request: 'GET /server/ready', status: 200, answer: { status: 'ok' } },
  ],
  serverInfo: [
    {
      request: 'GET /server/info',
      status: 200,
      answer: {
        data: {
          project: {
            project_name: 'Tablewright',
            project_descriptor: null,
            project_logo: null,
            project_color: null,
            default_language: 'en-US',
            public_foreground: null,
            public_background: null,
            public_note: null,
            custom_css: null,
          },
          platform: { version: '0.1.0' },
          node: { version: '24.21.0' },
          rateLimit: false,
        },
      },
    },
    {
      request: 'GET /server/info',
      status: 200,
      answer: {
        data: {
          project: {
            project_name: 'Tablewright',
            project_descriptor: null,
            project_logo: null,
            project_color: null,
            default_language: 'en-US',
            public_foreground: null,
            public_background: null,
            public_note: null,
            custom_css: null,
          },
        },
      },
    },
  ],
  utilsCacheClear: [{ request: 'POST /utils/cache/clear', status: 200 }],
  utilsHashGenerate: [
    { request: 'POST /utils/hash/generate', body: { string: 'a text' }, status: 200, answer: { data: '**********' } },
  ],
  utilsHashVerify: [
    {
      request: 'POST /utils/hash/verify',
      body: { string: 'a text', hash: '**********' },
      status: 200,
      answer: { data: true },
    },
  ],
  utilsRandomString: [
    { request: 'GET /utils/random/string?length=16', status: 200, answer: { data: 'wOcmYve5RbLuTYrQ' } },
    { request: 'GET /utils/random/string?length=16', status: 200, answer: { data: 'csaSijNYw65lqY3e' } },
  ],
};
