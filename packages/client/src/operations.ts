/** Methods of the platform's operations. `npm run golden` prints this file from their declarations. */
import type { RequestOptions } from './call.ts';
import type { Requester } from './requester.ts';

/** Methods by the handlers of a client. */
export interface OperationMethods {
  readonly auth: {
    readonly password: {
      /** Mails a link, if there is a user with this address. */
      request(email: string, resetUrl?: string, options?: RequestOptions): Promise<void>;
      /** Sets the password of the user to whom the token was mailed. */
      reset(token: string, password: string, options?: RequestOptions): Promise<void>;
    };
  };
  readonly users: {
    readonly invites: {
      /** Makes users with the role and mails each a link to choose a password. */
      send(
        email: string | readonly string[],
        role: string,
        inviteUrl?: string,
        options?: RequestOptions,
      ): Promise<void>;
      /** Sets the password of the user to whom the token was mailed. */
      accept(token: string, password: string, options?: RequestOptions): Promise<void>;
    };
    readonly me: {
      readonly tfa: {
        /** Makes a secret that waits ten minutes to be confirmed. */
        generate(
          password: string,
          options?: RequestOptions,
        ): Promise<{
          /** 160 bits in base32. */
          readonly secret: string;
          /** Address that authenticators read from a QR code. */
          readonly otpauth_url: string;
        }>;
        /** Confirms the secret. All other sessions end. */
        enable(secret: string, otp: string, options?: RequestOptions): Promise<void>;
        /** Removes the secret. All other sessions end. */
        disable(otp: string, options?: RequestOptions): Promise<void>;
      };
    };
  };
}

/** Makes the methods. */
export function createOperationMethods({ data, nothing }: Requester): OperationMethods {
  return {
    auth: {
      password: {
        request: (email, resetUrl, options) =>
          nothing({
            method: 'POST',
            path: ['auth', 'password', 'request'],
            body: { email, reset_url: resetUrl },
            options,
            isAnonymous: true,
          }),
        reset: (token, password, options) =>
          nothing({
            method: 'POST',
            path: ['auth', 'password', 'reset'],
            body: { token, password },
            options,
            isAnonymous: true,
          }),
      },
    },
    users: {
      invites: {
        send: (email, role, inviteUrl, options) =>
          nothing({ method: 'POST', path: ['users', 'invite'], body: { email, role, invite_url: inviteUrl }, options }),
        accept: (token, password, options) =>
          nothing({
            method: 'POST',
            path: ['users', 'invite', 'accept'],
            body: { token, password },
            options,
            isAnonymous: true,
          }),
      },
      me: {
        tfa: {
          generate: (password, options) =>
            data({ method: 'POST', path: ['users', 'me', 'tfa', 'generate'], body: { password }, options }),
          enable: (secret, otp, options) =>
            nothing({ method: 'POST', path: ['users', 'me', 'tfa', 'enable'], body: { secret, otp }, options }),
          disable: (otp, options) =>
            nothing({ method: 'POST', path: ['users', 'me', 'tfa', 'disable'], body: { otp }, options }),
        },
      },
    },
  };
}
