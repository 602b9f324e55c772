/** Handlers of second factors. Source: API specification, section 3.4. */
import type { IncomingMessage } from 'node:http';
import type { Owner, SecondFactors } from '../auth/second-factor.ts';
import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import { type Answerer, type Exchange, mediaTypes } from './answer.ts';
import { bodyObject, requiredText } from './auth-body.ts';
import type { FindClientAddress } from './client-address.ts';
import { subnetOf } from './networks.ts';
import { readPathTexts, splitTarget } from './target.ts';

type TfaHandler = (exchange: Exchange, call: { readonly caller: Caller }, body: JsonValue | undefined) => Promise<void>;

/** Handlers by what they do. They reject with the error that answers the request. */
export interface TfaHandlers {
  readonly generate: TfaHandler;
  readonly enable: TfaHandler;
  readonly disable: TfaHandler;
  readonly recoveryCodes: TfaHandler;
  /** For administrators: disables it for the user that the path names. */
  readonly disableFor: TfaHandler;
}

/** Options of the handlers. */
export interface TfaHandlersOptions {
  readonly secondFactors: SecondFactors;
  readonly answerer: Answerer;
  readonly clientAddress: FindClientAddress;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
  readonly isAdmin: (caller: Caller) => boolean;
}

/** Path of the administrators' route. */
export const disableForPath = '/users/:id/tfa/disable';

/** Makes the handlers. */
export function createTfaHandlers({
  secondFactors,
  answerer,
  clientAddress,
  senderOf,
  isAdmin,
}: TfaHandlersOptions): TfaHandlers {
  function ownerOf({ request }: Exchange, caller: Caller): Owner {
    const { session } = caller;
    return { user: userOf(caller), sender: senderOf(request), ...(session !== undefined && { session }) };
  }

  function done(exchange: Exchange): void {
    answerer.send(exchange, { status: 204 });
  }

  function answer(exchange: Exchange, data: JsonValue): void {
    const body = Buffer.from(JSON.stringify({ data }));
    answerer.send(exchange, { status: 200, type: mediaTypes.json, body });
  }

  return {
    async generate(exchange, { caller }, body) {
      const user = userOf(caller);
      const password = requiredText(bodyObject(body), 'password');
      const address = clientAddress(exchange.request);
      const client = address === null ? '' : subnetOf(address);
      const { secret, otpauthUrl } = await secondFactors.generate(user, password, client);
      answer(exchange, { secret, otpauth_url: otpauthUrl });
    },
    async enable(exchange, { caller }, body) {
      const owner = ownerOf(exchange, caller);
      const asked = bodyObject(body);
      await secondFactors.enable(owner, requiredText(asked, 'secret'), requiredText(asked, 'otp'));
      done(exchange);
    },
    async disable(exchange, { caller }, body) {
      const owner = ownerOf(exchange, caller);
      await secondFactors.disable(owner, requiredText(bodyObject(body), 'otp'));
      done(exchange);
    },
    async recoveryCodes(exchange, { caller }, body) {
      const user = userOf(caller);
      const codes = await secondFactors.makeCodes(user, requiredText(bodyObject(body), 'otp'));
      answer(exchange, { recovery_codes: codes });
    },
    async disableFor(exchange, { caller }) {
      if (!isAdmin(caller)) throw new PlatformError(caller.user === null ? 'INVALID_CREDENTIALS' : 'FORBIDDEN');
      const { path } = splitTarget(exchange.request.url ?? '');
      const user = readPathTexts(disableForPath, path)?.get('id')?.[0] ?? '';
      await secondFactors.disableFor(user, { by: caller.user, sender: senderOf(exchange.request) });
      done(exchange);
    },
  };
}

function userOf({ user }: Caller): string {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return user;
}
