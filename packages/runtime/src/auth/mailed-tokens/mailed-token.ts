/**
 * Tokens that are mailed and work once. The database keeps a hash of a token's key. Mails that wait to be sent contain
 * the key, from which a token cannot be made without SECRET. Source: API specification, sections 2.2, 2.6 and 3.3.
 */
import { randomBytes } from 'node:crypto';
import { createPurge } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import type { MailEnvironment } from '../../environment/mail.ts';
import { linkWith } from '../../mail/allowed-url.ts';
import type { WaitingMail } from '../../mail/outbox.ts';
import type { WriteLetter } from '../../mail/templates.ts';
import type { MailTransport } from '../../mail/transport.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { Tokens } from '../sessions/tokens.ts';
import type { ReadAccountSettings } from '../settings.ts';

interface LettersOptions {
  readonly tokens: Tokens;
  readonly settings: ReadAccountSettings;
  readonly write: WriteLetter;
  readonly transport: Pick<MailTransport, 'send'>;
  readonly environment: MailEnvironment;
  /** Public address of the server, without a trailing slash. */
  readonly publicUrl: () => string;
}

const letters = {
  invite: { kind: 'invite', page: '/admin/accept-invite' },
  'password-reset': { kind: 'password_reset', page: '/admin/reset-password' },
} as const satisfies Record<string, { readonly kind: MailedKind; readonly page: string }>;

export function createLetters(options: LettersOptions): (mail: WaitingMail) => Promise<void> {
  const { tokens, settings, write, transport, environment, publicUrl } = options;

  async function deliverMention(email: string, { collection, item, comment }: WaitingMail['values']): Promise<void> {
    const { projectName: project } = await settings();
    const view = { project, email, collection: String(collection), item: String(item), comment: String(comment) };
    await transport.send(email, write('mention', view));
  }

  return async function deliver({ template, recipient, values }) {
    if (template === 'mention') return deliverMention(recipient, values);
    if (!isLetter(template)) throw new Error(`There is no mail "${template}".`);
    const { kind, page } = letters[template];
    const { ttl } = kind === 'invite' ? environment.invite : environment.reset;
    const [user, key, proof, url] = [values.user, values.key, values.proof, values.url ?? `${publicUrl()}${page}`];
    const token = signMailed(tokens, kind, { user: String(user), key: String(key), proof: String(proof) }, ttl);
    const link = linkWith(String(url), token);
    const { projectName: project } = await settings();
    await transport.send(
      recipient,
      write(template, { project, link, email: recipient, validFor: formatDuration(ttl) }),
    );
  };
}

function isLetter(template: string): template is keyof typeof letters {
  return Object.hasOwn(letters, template);
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** A duration as people say it, in the largest unit that does not promise more than there is. */
function formatDuration(ms: number): string {
  const [name, size] = units.find(([, unit]) => ms >= unit) ?? ['second', 1000];
  const count = Math.max(1, Math.floor(ms / size));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

export type MailedKind = 'invite' | 'password_reset';

interface MailedToken {
  readonly user: string;
  /** Key that tells this token from all others. */
  readonly key: string;
  /** A hash of the user's password at the time when the token was asked for. */
  readonly proof: string;
}

/** Makes the key of a token: 256 bits. */
export function makeMailedKey(): string {
  return randomBytes(32).toString('base64url');
}

/** Interval at which tokens of long ago are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

/** Makes what removes tokens of long ago, where others are made. */
export function createTokenPurge(location: SystemPlace): ReturnType<typeof createPurge> {
  const { table, shifted, purge } = ownTables(location);
  const ended = purge({
    ...{ table: table('platform_single_use_tokens'), key: 'hash', by: 'expires_at', limit: maxPurged },
    where: `expires_at < ${shifted(-7, 'day')}`,
  });
  return createPurge(ended, purgeEveryMs);
}

export function signMailed(tokens: Tokens, kind: MailedKind, { user, key, proof }: MailedToken, ttlMs: number): string {
  return tokens.sign(kind, { id: user, key, proof }, ttlMs);
}

/** Reads a token that a client has sent. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
export function readMailed(tokens: Tokens, kind: MailedKind, token: string): MailedToken {
  const { id, key, proof } = tokens.verify(kind, token).claims;
  return { user: String(id), key: String(key), proof: String(proof) };
}
