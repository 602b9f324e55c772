/** The user who asks, invitations and second factors. Source: API specification, sections 3.1, 3.3 and 3.4. */
import { linkSchema, passwordSchema } from './auth.ts';
import { commonFailures } from './failures.ts';
import type { Resource } from './operation.ts';
import type { ValueSchema } from './schema.ts';

const failures = ['RequestsExceeded', 'InternalServerError', 'ServiceUnavailable', 'UnsupportedMediaType'] as const;
const byOtp = [...failures, 'InvalidSearch', 'OtpRefused', 'InvalidToken'] as const;

const emailSchema = {
  type: 'string',
  format: 'email',
  maxLength: 128,
  field: ['platform_users', 'email'],
} as const satisfies ValueSchema;

const otpSchema = { type: 'string', description: 'One-time password of six digits, or a recovery code.' } as const;

/** Operations of the user who asks. */
export const ownUserResource = {
  tag: 'users',
  installed: true,
  operations: {
    usersMeTrackPage: {
      route: 'PATCH /users/me/track/page',
      summary: 'Keep the page that was looked at last',
      description: 'Needs no permission.',
      access: 'own-user',
      input: { last_page: { type: ['string', 'null'], maxLength: 255, description: 'Path of a page.' } },
      closed: true,
      output: { description: 'It is kept.' },
      failures: [...commonFailures, 'InvalidBody', 'UnsupportedMediaType'],
    },
  },
} as const satisfies Resource;

/** Operations on users beside those of their collection. */
export const userResource = {
  tag: 'auth',
  installed: true,
  operations: {
    usersInvite: {
      route: 'POST /users/invite',
      summary: 'Invite users',
      description: 'Makes users with the role and mails each an invitation.',
      access: { action: 'create', collection: 'platform_users', fields: ['email', 'role'] },
      keyed: true,
      input: {
        email: { anyOf: [emailSchema, { type: 'array', items: emailSchema, minItems: 1 }], graphql: 'String!' },
        role: { type: 'string', format: 'uuid' },
        'invite_url?': linkSchema,
      },
      output: { description: 'The users are invited.' },
      failures: [...failures, 'InvalidWrite', 'Unauthorized', 'Forbidden', 'Unprocessable'],
      graphql: { mutation: 'users_invite' },
      client: 'users.invites.send(email, role, invite_url)',
    },
    usersInviteAccept: {
      route: 'POST /users/invite/accept',
      summary: 'Accept an invitation',
      description: 'Sets the password of the invited user, where there are passwords.',
      access: 'unchecked',
      input: {
        token: { type: 'string', description: 'The token of an invitation, which works once.' },
        password: passwordSchema,
      },
      output: { description: 'The user can sign in with the password.' },
      failures: [...failures, 'InvalidWrite', 'MailedTokenExpired', 'InvalidToken', 'Unprocessable'],
      graphql: { mutation: 'users_invite_accept' },
      client: 'users.invites.accept(token, password)',
    },
    usersMeTfaGenerate: {
      route: 'POST /users/me/tfa/generate',
      summary: 'Make a secret',
      description: 'Makes a secret that waits ten minutes to be confirmed.',
      access: 'own-user',
      input: { password: passwordSchema },
      output: {
        description: 'The secret.',
        data: {
          graphql: 'users_me_tfa_generate_data',
          members: {
            secret: { type: 'string', description: '160 bits in base32.' },
            otpauth_url: { type: 'string', description: 'Address that authenticators read from a QR code.' },
          },
        },
      },
      failures: [...failures, 'InvalidSearch', 'Unauthorized', 'InvalidToken'],
      graphql: { mutation: 'users_me_tfa_generate' },
      client: 'users.me.tfa.generate(password)',
    },
    usersMeTfaEnable: {
      route: 'POST /users/me/tfa/enable',
      summary: 'Set up the second factor',
      description: 'Confirms the secret. All other sessions end.',
      access: 'own-user',
      input: { secret: { type: 'string', description: 'The secret that was made.' }, otp: otpSchema },
      output: { description: 'Sign-ins need a one-time password.' },
      failures: byOtp,
      graphql: { mutation: 'users_me_tfa_enable', order: ['otp', 'secret'] },
      client: 'users.me.tfa.enable(secret, otp)',
    },
    usersMeTfaDisable: {
      route: 'POST /users/me/tfa/disable',
      summary: 'Give up the second factor',
      description: 'Removes the secret. All other sessions end.',
      access: 'own-user',
      input: { otp: otpSchema },
      output: { description: 'Sign-ins need no one-time password.' },
      failures: byOtp,
      graphql: { mutation: 'users_me_tfa_disable' },
      client: 'users.me.tfa.disable(otp)',
    },
    usersMeTfaRecoveryCodes: {
      route: 'POST /users/me/tfa/recovery-codes',
      summary: 'Make recovery codes',
      description: 'Makes ten codes in place of all earlier ones.',
      access: 'own-user',
      input: { otp: otpSchema },
      output: {
        description: 'The codes, which are never shown again.',
        data: {
          members: {
            recovery_codes: {
              type: 'array',
              items: { type: 'string' },
              description: 'Each works once in place of an otp.',
            },
          },
        },
      },
      failures: byOtp,
    },
    usersTfaDisable: {
      route: 'POST /users/{id}/tfa/disable',
      summary: 'Remove a second factor',
      description: 'Removes the second factor of a user, whose sessions end.',
      access: 'administrator',
      anonymous: 'INVALID_CREDENTIALS',
      input: { id: { type: 'string', format: 'uuid' } },
      output: { description: 'The user has no second factor.' },
      keyed: true,
      failures: [...failures, 'InvalidWrite', 'Unauthorized', 'Forbidden', 'RouteNotFound', 'Unprocessable'],
    },
  },
} as const satisfies Resource;
