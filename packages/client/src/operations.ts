/** Methods of the platform's operations. `npm run golden` prints this file from their declarations. */
import type { JsonObject, JsonValue, Key, RequestOptions } from './call.ts';
import type { Requester } from './requester.ts';

/** Methods by the handlers of a client. */
export interface OperationMethods {
  readonly server: {
    /** Tells that the server runs. No token is looked at. */
    ping(options?: RequestOptions): Promise<string>;
    /** Tells whether the server can serve requests. With `warn` it serves a part of them: its database only reads, or single tables no longer fit the API. */
    health(options?: RequestOptions): Promise<{
      readonly status: 'ok' | 'warn' | 'error';
      readonly checks?: {
        readonly [name: string]: {
          readonly status: 'ok' | 'warn' | 'error';
          /** Milliseconds. */
          readonly responseTime?: number;
          /** The state that the database server reports. */
          readonly state?: 'primary' | 'read-only' | 'joining' | 'no-quorum' | 'away';
          /** Milliseconds by which a standby is behind. */
          readonly lag?: number;
          readonly hosts?: readonly {
            readonly role: 'write' | 'read';
            /** The state that the database server reports. */
            readonly state: 'primary' | 'read-only' | 'joining' | 'no-quorum' | 'away';
            /** Milliseconds by which a replica is behind. */
            readonly lag?: number;
          }[];
          readonly output?: readonly string[];
        };
      };
    }>;
    /** Describes the project that is served. */
    info(options?: RequestOptions): Promise<{
      readonly project: {
        readonly project_name?: string | null;
        readonly project_descriptor?: string | null;
        readonly project_logo?: string | null;
        readonly project_color?: string | null;
        readonly default_language?: string | null;
        readonly public_foreground?: string | null;
        readonly public_background?: string | null;
        readonly public_note?: string | null;
        readonly custom_css?: string | null;
      };
      readonly platform?: {
        readonly version: string;
      };
      readonly node?: {
        readonly version: string;
      };
      readonly rateLimit?: JsonValue;
    }>;
    /** Returns the OpenAPI document of what the caller may read. */
    oas(options?: RequestOptions): Promise<{
      readonly openapi: string;
      readonly info: JsonObject;
      readonly paths: JsonObject;
      readonly components: JsonObject;
      readonly servers: readonly JsonObject[];
      readonly security: readonly JsonObject[];
      readonly tags: readonly JsonObject[];
    }>;
  };
  readonly utils: {
    readonly random: {
      /** Letters, digits, `-` and `_`, 6 bits of randomness each. */
      string(length?: number, options?: RequestOptions): Promise<string>;
    };
    readonly hash: {
      /** By Argon2id. At most 1,024 bytes, for who is signed in. */
      generate(string: string, options?: RequestOptions): Promise<string>;
      /** At most 1,024 bytes, for who is signed in. */
      verify(string: string, hash: string, options?: RequestOptions): Promise<boolean>;
    };
    /** Gives it the position of another one and shifts those between them. */
    sort(collection: string, item: Key, to: Key, options?: RequestOptions): Promise<void>;
    /** Writes back what a revision holds, as an update by the caller. */
    revert(revision: Key, options?: RequestOptions): Promise<void>;
  };
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
      /** Makes users with the role and mails each an invitation. */
      send(
        email: string | readonly string[],
        role: string,
        inviteUrl?: string,
        options?: RequestOptions,
      ): Promise<void>;
      /** Sets the password of the invited user, where there are passwords. */
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
export function createOperationMethods(requester: Requester): OperationMethods {
  return {
    server: serverMethods(requester),
    utils: utilsMethods(requester),
    auth: authMethods(requester),
    users: usersMethods(requester),
  };
}

function serverMethods({ data, text, whole }: Requester): OperationMethods['server'] {
  return {
    ping: (options) => text({ method: 'GET', path: ['server', 'ping'], options, isAnonymous: true }),
    health: (options) => whole({ method: 'GET', path: ['server', 'health'], options, accepts: 503 }),
    info: (options) => data({ method: 'GET', path: ['server', 'info'], options }),
    oas: (options) => whole({ method: 'GET', path: ['server', 'specs', 'oas'], options }),
  };
}

function utilsMethods({ data, nothing }: Requester): OperationMethods['utils'] {
  return {
    random: {
      string: (length = 32, options) =>
        data({ method: 'GET', path: ['utils', 'random', 'string'], query: { length }, options }),
    },
    hash: {
      generate: (string, options) =>
        data({ method: 'POST', path: ['utils', 'hash', 'generate'], body: { string }, options }),
      verify: (string, hash, options) =>
        data({ method: 'POST', path: ['utils', 'hash', 'verify'], body: { string, hash }, options }),
    },
    sort: (collection, item, to, options) =>
      nothing({ method: 'POST', path: ['utils', 'sort', collection], body: { item, to }, options }),
    revert: (revision, options) => nothing({ method: 'POST', path: ['utils', 'revert', revision], options }),
  };
}

function authMethods({ nothing }: Requester): OperationMethods['auth'] {
  return {
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
  };
}

function usersMethods({ data, nothing }: Requester): OperationMethods['users'] {
  return {
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
  };
}
