/** The paths of passwords by mail and of second factors. Source: API specification, sections 2.6, 3.3 and 3.4. */
import type { AccessClass } from '@tablewright/runtime/language';
import { authTag } from './auth-paths.ts';
import { type JsonObject, objectOf } from './json.ts';
import { useHeader } from './parameters.ts';
import { type FailureName, failuresByStatus } from './responses.ts';

const always = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'UnsupportedMediaType'] as const;
const byMailedToken = [...always, 'InvalidWrite', 'MailedTokenExpired', 'InvalidToken'] as const;
const byOtp = [...always, 'InvalidSearch', 'OtpRefused', 'InvalidToken'] as const;

/** The paths with their operations, as far as an access class may use them; null: all. */
export function accountPaths(access: AccessClass | null): readonly (readonly [string, JsonObject])[] {
  const administrator = access === null || access.admin;
  return [
    ['/auth/password/request', { post: requestReset() }],
    ['/auth/password/reset', { post: setPassword('authPasswordReset', 'Reset a password', 'of a reset') }],
    ...(administrator || mayInvite(access) ? [['/users/invite', { post: invite() }] as const] : []),
    ['/users/invite/accept', { post: setPassword('usersInviteAccept', 'Accept an invitation', 'of an invitation') }],
    ['/users/me/tfa/generate', { post: generate() }],
    ['/users/me/tfa/enable', { post: enable() }],
    ['/users/me/tfa/disable', { post: disable() }],
    ['/users/me/tfa/recovery-codes', { post: recoveryCodes() }],
    ...(administrator ? [['/users/{id}/tfa/disable', { post: disableFor() }] as const] : []),
  ];
}

/** True if some rules let the class create users with an address and a role. */
export function mayInvite({ collections }: AccessClass): boolean {
  const rules = collections.find(({ collection }) => collection === 'platform_users')?.create ?? [];
  const fields = new Set(rules.flatMap((rule) => rule.fields));
  return fields.has('email') && fields.has('role');
}

function requestReset(): JsonObject {
  const properties = {
    email: { type: 'string', format: 'email' },
    reset_url: text('Where the link leads, when the server allows it; the token is added as a parameter.'),
  };
  return {
    ...head('authPasswordRequest', 'Ask for a reset', 'Mails a link, if there is a user with this address.'),
    security: [],
    requestBody: body({ type: 'object', properties, required: ['email'] }),
    responses: done('A mail is sent, or there is nobody to send it to.', [...always, 'InvalidBody']),
  };
}

function setPassword(operationId: string, summary: string, whose: string): JsonObject {
  const properties = { token: text(`The token ${whose}, which works once.`), password };
  return {
    ...head(operationId, summary, 'Sets the password of the user to whom the token was mailed.'),
    security: [],
    requestBody: body({ type: 'object', properties, required: ['token', 'password'] }),
    responses: done('The user can sign in with the password.', byMailedToken),
  };
}

function invite(): JsonObject {
  const address = { type: 'string', format: 'email' };
  const properties = {
    email: { anyOf: [address, { type: 'array', items: address, minItems: 1 }] },
    role: { type: 'string', format: 'uuid' },
    invite_url: text('Where the link leads, when the server allows it; the token is added as a parameter.'),
  };
  return {
    ...head('usersInvite', 'Invite users', 'Makes users with the role and mails each a link to choose a password.'),
    parameters: [useHeader('idempotencyKey')],
    requestBody: body({ type: 'object', properties, required: ['email', 'role'] }),
    responses: done('The users are invited.', [
      ...always,
      'InvalidWrite',
      'Unauthorized',
      'Forbidden',
      'Unprocessable',
    ]),
  };
}

function generate(): JsonObject {
  const data = {
    type: 'object',
    properties: { secret: text('160 bits in base32.'), otpauth_url: text('What a QR code for authenticators holds.') },
    required: ['secret', 'otpauth_url'],
  };
  return {
    ...head('usersMeTfaGenerate', 'Make a secret', 'Makes a secret that waits ten minutes to be confirmed.'),
    requestBody: body({ type: 'object', properties: { password }, required: ['password'] }),
    responses: answer('The secret.', data, [...always, 'InvalidSearch', 'Unauthorized', 'InvalidToken']),
  };
}

function enable(): JsonObject {
  const properties = { secret: text('The secret that was made.'), otp };
  return {
    ...head('usersMeTfaEnable', 'Set up the second factor', 'Confirms the secret. All other sessions end.'),
    requestBody: body({ type: 'object', properties, required: ['secret', 'otp'] }),
    responses: done('Sign-ins need a one-time password.', byOtp),
  };
}

function disable(): JsonObject {
  return {
    ...head('usersMeTfaDisable', 'Give up the second factor', 'Removes the secret. All other sessions end.'),
    requestBody: body({ type: 'object', properties: { otp }, required: ['otp'] }),
    responses: done('Sign-ins need no one-time password.', byOtp),
  };
}

function recoveryCodes(): JsonObject {
  const codes = { type: 'array', items: { type: 'string' }, description: 'Each works once in place of an otp.' };
  const data = { type: 'object', properties: { recovery_codes: codes }, required: ['recovery_codes'] };
  return {
    ...head('usersMeTfaRecoveryCodes', 'Make recovery codes', 'Makes ten codes in place of all earlier ones.'),
    requestBody: body({ type: 'object', properties: { otp }, required: ['otp'] }),
    responses: answer('The codes, which are never shown again.', data, byOtp),
  };
}

function disableFor(): JsonObject {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } };
  return {
    ...head('usersTfaDisable', 'Remove a second factor', 'Removes the second factor of a user, whose sessions end.'),
    parameters: [id],
    responses: done('The user has no second factor.', [...always, 'InvalidQuery', 'Unauthorized', 'Forbidden']),
  };
}

const password: JsonObject = { type: 'string', format: 'password', minLength: 1 };
const otp: JsonObject = text('One-time password of six digits, or a recovery code.');

function head(operationId: string, summary: string, description: string): JsonObject {
  return { operationId, tags: [authTag], summary, description };
}

function text(description: string): JsonObject {
  return { type: 'string', description };
}

function body(schema: JsonObject): JsonObject {
  return { required: true, content: { 'application/json': { schema } } };
}

function done(description: string, failures: readonly FailureName[]): JsonObject {
  return objectOf([['204', { description }], ...failuresByStatus(failures)]);
}

function answer(description: string, data: JsonObject, failures: readonly FailureName[]): JsonObject {
  const schema = { type: 'object', properties: { data }, required: ['data'] };
  return objectOf([
    ['200', { description, content: { 'application/json': { schema } } }],
    ...failuresByStatus(failures),
  ]);
}
