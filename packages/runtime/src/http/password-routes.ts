/** Handlers of passwords by mail: resets and invitations. Source: API specification, sections 2.6 and 3.3. */
import type { IncomingMessage } from 'node:http';
import type { Accounts } from '../auth/accounts.ts';
import type { Invite } from '../auth/invites.ts';
import { stall } from '../auth/stall.ts';
import type { Caller } from '../caller.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import type { JsonValue } from '../language/index.ts';
import { allowedUrl } from '../mail/allowed-url.ts';
import { isEmail } from '../users/email.ts';
import { readIdempotencyKey } from '../write/idempotency.ts';
import type { KeyedOnce } from '../write/keyed-once.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import { type Answerer, type Exchange, jsonAnswer } from './answer.ts';
import { bodyObject, optionalText, requiredText } from './auth-body.ts';
import type { FindClientAddress } from './client-address.ts';
import { subnetOf } from './networks.ts';

type PasswordHandler = (
  exchange: Exchange,
  call: { readonly caller: Caller; readonly query: string },
  body: JsonValue | undefined,
) => Promise<void>;

/** Handlers by what they do. They reject with the error that answers the request. */
export interface PasswordHandlers {
  readonly request: PasswordHandler;
  readonly reset: PasswordHandler;
  readonly invite: PasswordHandler;
  readonly accept: PasswordHandler;
}

/** Options of the password handlers. */
export interface PasswordHandlersOptions {
  readonly accounts: Pick<Accounts<unknown>, 'requestReset' | 'setPassword' | 'attempts' | 'outbox'>;
  readonly invite: Invite;
  readonly keyed: KeyedOnce;
  readonly answerer: Answerer;
  readonly environment: Environment;
  readonly clientAddress: FindClientAddress;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

type Members = ReturnType<typeof bodyObject>;

/** Characters of the longest address that a user can have. */
const longestEmail = 128;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Makes the handlers. */
export function createPasswordHandlers(options: PasswordHandlersOptions): PasswordHandlers {
  const { accounts, invite, keyed, answerer, environment, clientAddress, senderOf } = options;
  const { mail, auth, maxBatchMutation } = environment;

  function clientOf({ request }: Exchange): string {
    const address = clientAddress(request);
    return address === null ? '' : subnetOf(address);
  }

  function done(exchange: Exchange): void {
    answerer.send(exchange, { status: 204 });
  }

  async function setPassword(kind: 'invite' | 'password_reset', exchange: Exchange, asked: Members): Promise<void> {
    const token = requiredText(asked, 'token');
    const password = requiredText(asked, 'password');
    await accounts.setPassword(kind, token, password, senderOf(exchange.request));
    done(exchange);
  }

  return {
    async request(exchange, _call, body) {
      // Every answer takes equally long, regardless of the work to do and of errors.
      await stall(auth.loginStallTime, async () => {
        const asked = bodyObject(body);
        const email = requiredText(asked, 'email');
        if (!isEmail(email)) throw invalidPayload('"email" must be an e-mail address.');
        const url = linkOf(asked, 'reset_url', mail.reset.allowed);
        await accounts.requestReset(email, url, clientOf(exchange));
      });
      done(exchange);
      accounts.outbox.wake();
    },
    reset: (exchange, _call, body) => setPassword('password_reset', exchange, bodyObject(body)),
    accept: (exchange, _call, body) => setPassword('invite', exchange, bodyObject(body)),
    async invite(exchange, { caller, query }, body) {
      const asked = bodyObject(body);
      const emails = emailsOf(asked.email, maxBatchMutation);
      const role = requiredText(asked, 'role');
      if (!uuid.test(role)) throw invalidPayload('"role" must be the key of a role.');
      const url = linkOf(asked, 'invite_url', mail.invite.allowed);
      const key = readIdempotencyKey(exchange.request.headers['idempotency-key']);
      const sender = senderOf(exchange.request);
      const request = { caller, sender, collection: '/users/invite', query, ...(key !== undefined && { key }) };
      const { status, body: bytes } = await keyed(request, body, async () => {
        await accounts.attempts.mail('invite', emails, clientOf(exchange));
        return invite(caller, sender, { emails, role, url });
      });
      answerer.send(exchange, jsonAnswer(status, bytes));
      accounts.outbox.wake();
    },
  };
}

/**
 * One address, or several. Throws INVALID_PAYLOAD for a value that is no text, FAILED_VALIDATION for a text that is no
 * address.
 */
function emailsOf(value: JsonValue | undefined, maximum: number | null): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const emails = list.filter((email) => typeof email === 'string');
  if (emails.length < list.length || emails.length === 0) {
    throw invalidPayload('"email" must be an e-mail address, or an array of them.');
  }
  if (maximum !== null && emails.length > maximum) throw invalidPayload(`"email" has more than ${maximum} addresses.`);
  if (!emails.every(isEmail)) throw invalidEmail('email', 'must be an e-mail address');
  if (emails.some((email) => [...email].length > longestEmail)) {
    throw invalidEmail('max_length', `must have at most ${longestEmail} characters`);
  }
  return emails;
}

/** Where a link is to lead; null when nothing is said. Throws INVALID_PAYLOAD where that is not allowed. */
function linkOf(asked: Members, name: string, allowed: readonly string[]): URL | null {
  const text = optionalText(asked, name);
  if (text === null) return null;
  const url = allowedUrl(text, allowed);
  if (url === null) throw invalidPayload(`"${name}" is not allowed.`);
  return url;
}

function invalidPayload(message: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', message);
}

function invalidEmail(type: string, message: string): PlatformError {
  const extensions = { collection: 'platform_users', field: 'email', type };
  return new PlatformError('FAILED_VALIDATION', `"email" ${message}.`, extensions);
}
