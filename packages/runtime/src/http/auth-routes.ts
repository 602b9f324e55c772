/** Handlers of the routes below `/auth`. Source: API specification, sections 2.3 to 2.5 and 2.7. */
import type { IncomingMessage } from 'node:http';
import type { SignIn } from '../auth/sign-in.ts';
import type { ProviderEnvironment } from '../environment/providers.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import { bodyObject, optionalFlag, optionalText, requiredText } from './auth-body.ts';
import { createPairSender, type Mode } from './pair-answer.ts';
import { createRefreshCookie } from './refresh-cookie.ts';

type AuthHandler = (exchange: Exchange, call: unknown, body: JsonValue | undefined) => Promise<void>;

/** Handlers by what they do. They reject with the error that answers the request. */
export interface AuthHandlers {
  readonly providers: AuthHandler;
  readonly login: AuthHandler;
  readonly refresh: AuthHandler;
  readonly logout: AuthHandler;
}

/** Options of the handlers. */
export interface AuthHandlersOptions {
  readonly signIn: SignIn;
  readonly answerer: Answerer;
  readonly environment: Environment;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Makes the handlers. */
export function createAuthHandlers({ signIn, answerer, environment, senderOf }: AuthHandlersOptions): AuthHandlers {
  const cookie = createRefreshCookie(environment);
  const sendPair = createPairSender(answerer, environment, cookie);

  return {
    async providers(exchange) {
      const { providers, disableDefault } = environment.auth;
      const body = jsonBytes({ data: [...providers.values()].map(describeProvider), disableDefault });
      answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
    },
    async login(exchange, _call, body) {
      const asked = bodyObject(body);
      const email = requiredText(asked, 'email');
      const password = requiredText(asked, 'password');
      const otp = optionalText(asked, 'otp');
      const mode = modeOf(asked) ?? 'json';
      sendPair(exchange, await signIn.login({ email, password, otp }, senderOf(exchange.request)), mode);
    },
    async refresh(exchange, _call, body) {
      const asked = bodyObject(body);
      const token = optionalText(asked, 'refresh_token');
      const wanted = modeOf(asked);
      const held = cookie.read(exchange.request);
      const pair = await signIn.refresh(presented(token, held), senderOf(exchange.request));
      // The token returns to where it came from.
      sendPair(exchange, pair, wanted ?? (token === null ? 'cookie' : 'json'));
    },
    async logout(exchange, _call, body) {
      const asked = bodyObject(body);
      const token = optionalText(asked, 'refresh_token');
      const all = optionalFlag(asked, 'all');
      const held = cookie.read(exchange.request);
      await signIn.logout(presented(token, held), all);
      const headers = held === null ? [] : cookie.clear();
      answerer.send(exchange, { status: 204, headers });
    },
  };
}

/** Facts of a provider that are public. */
function describeProvider({ name, endpoints: { driver }, icon, label }: ProviderEnvironment): JsonValue {
  return { name, driver, ...(icon !== null && { icon }), ...(label !== null && { label }) };
}

function modeOf(asked: Readonly<Record<string, JsonValue>>): Mode | null {
  const mode = optionalText(asked, 'mode');
  if (mode === null || mode === 'json' || mode === 'cookie') return mode;
  throw new PlatformError('INVALID_PAYLOAD', '"mode" must be "json" or "cookie".');
}

/** The token in the body takes precedence over the cookie. */
function presented(sent: string | null, held: string | null): string {
  const token = sent ?? held;
  if (token === null || token === '') throw new PlatformError('INVALID_PAYLOAD', 'There is no refresh token.');
  return token;
}

function jsonBytes(value: JsonValue): Buffer {
  return Buffer.from(JSON.stringify(value));
}
