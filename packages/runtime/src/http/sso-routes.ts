/** Handlers of single sign-on, for each provider. Source: API specification, section 2.8. */
import type { IncomingMessage } from 'node:http';
import type { Arrival, SingleSignOn } from '../auth/sso/single-sign-on.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import { type Answerer, type Exchange, jsonAnswer } from './answer.ts';
import { tokensResult } from './pair-answer.ts';
import { plainParameters } from './plain-parameters.ts';
import { createRefreshCookie } from './refresh-cookie.ts';
import { createStateCookie } from './state-cookie.ts';

type SsoHandler = (exchange: Exchange, call: { readonly query: string }, body: JsonValue | undefined) => Promise<void>;

/** Handlers by what they do. They reject with the error that answers the request. */
export interface SsoHandlers {
  /** Sends the browser to the provider. */
  readonly depart: SsoHandler;
  /** Takes the browser back, with the parameters that the provider has written into the address. */
  readonly arrive: SsoHandler;
  /** The same where the provider has the browser POST a form, whose text is the body. */
  readonly arriveByForm: SsoHandler;
}

/** Options of the handlers. */
export interface SsoHandlersOptions {
  readonly way: SingleSignOn;
  readonly answerer: Answerer;
  readonly environment: Environment;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Makes the handlers of one provider. */
export function createSsoHandlers({ way, answerer, environment, senderOf }: SsoHandlersOptions): SsoHandlers {
  const cookie = createStateCookie(way.environment.name, environment.auth.cookie.secure);
  const refreshCookie = createRefreshCookie(environment);

  function sendOn(exchange: Exchange, status: 302 | 303, to: URL, headers: readonly string[]): void {
    const all = ['Location', to.href, ...headers];
    answerer.send(exchange, { status, headers: all });
  }

  function answer(exchange: Exchange, { redirect, spent, outcome }: Arrival): void {
    const cleared = spent ? ['Set-Cookie', cookie.clear()] : [];
    if ('pair' in outcome) {
      if (redirect === null) {
        const { value } = tokensResult(outcome.pair, 'json', environment.auth.accessTokenTtl, refreshCookie);
        answerer.send(exchange, { ...jsonAnswer(200, Buffer.from(JSON.stringify({ data: value }))), headers: cleared });
      } else sendOn(exchange, 303, redirect, [...cleared, ...refreshCookie.set(outcome.pair.refreshToken)]);
    } else {
      const { error } = outcome;
      if (redirect === null) throw spent ? withHeader(error, 'set-cookie', cookie.clear()) : error;
      sendOn(exchange, 303, withReason(redirect, error), cleared);
    }
  }

  async function arrive(exchange: Exchange, brought: URLSearchParams): Promise<void> {
    const { request } = exchange;
    answer(exchange, await way.arrive(brought, cookie.read(request), senderOf(request)));
  }

  return {
    async depart(exchange, { query }) {
      const { location, cookie: held } = await way.depart(redirectIn(query));
      sendOn(exchange, 302, location, ['Set-Cookie', cookie.set(held)]);
    },
    arrive: (exchange, { query }) => arrive(exchange, new URLSearchParams(query)),
    async arriveByForm(exchange, _call, body = '') {
      if (typeof body !== 'string') throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as a form.');
      await arrive(exchange, new URLSearchParams(body));
    },
  };
}

/** Where the browser wants to go on to; null when nothing is said. Throws INVALID_QUERY where it is said twice. */
function redirectIn(query: string): string | null {
  return plainParameters(query, ['redirect']).get('redirect') ?? null;
}

function withReason(redirect: URL, { code }: PlatformError): URL {
  const url = new URL(redirect);
  url.searchParams.set('reason', code);
  return url;
}

function withHeader(error: PlatformError, name: string, value: string): PlatformError {
  const headers = { ...error.headers, [name]: value };
  return new PlatformError(error.code, error.message, error.extensions, { cause: error.cause, headers });
}
