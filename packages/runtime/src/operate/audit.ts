/**
 * Lines about what concerns security, with `"audit":true`. They are written at every level but `silent`, and name no value
 * of a request: names of sign-ins are there as an HMAC. Source: operations notes, section 4.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { readAddress } from '../environment/networks.ts';
import type { Environment } from '../environment.ts';
import { formatAddress } from './client-address.ts';
import { currentRecord } from './request-record.ts';

const sentences = {
  'sign-in': 'A user signed in.',
  'sign-in-refused': 'A sign-in was refused.',
  'second-factor-refused': 'A one-time password was refused.',
  'refresh-token-reused': 'A refresh token came for the second time: its session has ended.',
  'ip-refused': 'An address was refused that the role may not be used from.',
  'limit-reached': 'A limit is reached.',
  'password-changed': 'A password was changed.',
  'provider-changed': 'Users were given another way to sign in: a provider, or an identifier there.',
  'token-made': 'A static token was made.',
  'role-changed': 'Roles were changed.',
  'permission-changed': 'Permissions were changed.',
  'model-changed': 'The model was changed.',
  'admin-token-used': 'The admin token was used.',
} as const;

export type AuditEvent = keyof typeof sentences;

/** Facts of an event; absent members are left out of the line. */
export interface AuditDetails {
  /** Key of the user whom the event is about. */
  readonly user?: string | undefined;
  /** Key of the user who did it; null: `ADMIN_TOKEN`. */
  readonly by?: string | null | undefined;
  /** E-mail address of a sign-in. The line has its HMAC. */
  readonly name?: string | undefined;
  /** Code of the error that answered. */
  readonly reason?: string | undefined;
  readonly provider?: string | undefined;
  readonly limit?: string | undefined;
  readonly action?: string | undefined;
  readonly collection?: string | undefined;
  /** Keys of the platform's own items. */
  readonly items?: readonly string[] | undefined;
}

/** Origin of an event: an address, or what stands for several of them. */
export interface AuditOrigin {
  readonly ip: string | null;
}

/** Writes the line of an event. */
export type Audit = (event: AuditEvent, origin: AuditOrigin, details: AuditDetails) => void;

/** Milliseconds in which an event of these kinds is told once per address and limit. */
const pauses: Partial<Record<AuditEvent, number>> = { 'limit-reached': 60_000, 'admin-token-used': 3_600_000 };

/** Addresses that are remembered for that. */
const maxRemembered = 10_000;

/** Makes the function that writes the lines; `log` is asked for with the first one. */
export function createAudit({ auth, operate }: Environment, log: () => FastifyBaseLogger): Audit {
  const key = hmacKey(auth.secret);
  const remembered = new Map<string, number>();
  let lines: Pick<FastifyBaseLogger, 'info'> | null = null;

  /** True if the same was told a moment ago. */
  function isRepeated(pause: number, subject: string): boolean {
    const now = performance.now();
    const last = remembered.get(subject);
    if (last !== undefined && now - last < pause) return true;
    remembered.delete(subject);
    remembered.set(subject, now);
    const [oldest] = remembered.keys();
    if (remembered.size > maxRemembered && oldest !== undefined) remembered.delete(oldest);
    return false;
  }

  return function audit(event, { ip }, { name, by, ...details }) {
    const pause = pauses[event];
    if (pause !== undefined && isRepeated(pause, `${event} ${details.limit} ${ip} ${name}`)) return;
    // The level of the log does not count for these lines.
    lines ??= log().child({ audit: true }, { level: 'info' });
    const address = readAddress(ip?.split('/')[0] ?? '');
    lines.info(
      {
        event,
        requestId: currentRecord()?.id,
        ...details,
        name: name === undefined ? undefined : hmacOf(key, name),
        by: by ?? undefined,
        address: address === null ? undefined : formatAddress(operate.logAddresses, address),
      },
      sentences[event],
    );
  };
}

/** Makes what writes the line of a limit of requests. */
export function requestLimitReached(audit: Audit): (limit: string, client: string) => void {
  return (limit, client) => audit('limit-reached', { ip: client }, { limit: `requests.${limit}` });
}

/** Writes nothing. */
export const silentAudit: Audit = () => {};

/** Bytes of the key, and of an HMAC as lines have it. */
const keyBytes = 32;
const printedBytes = 16;

/** Without a secret there is no user, and no name. */
function hmacKey(secret: string | null): Buffer {
  if (secret === null) return randomBytes(keyBytes);
  return Buffer.from(hkdfSync('sha256', secret, '', 'platform.audit', keyBytes));
}

/** The same for all spellings of an address. */
function hmacOf(key: Buffer, name: string): string {
  const normal = name.normalize('NFKC').trim().toLowerCase();
  return createHmac('sha256', key).update(normal).digest().toString('base64url', 0, printedBytes);
}
