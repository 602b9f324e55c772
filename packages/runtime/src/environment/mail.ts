/** Variables of mail and of the links in it. Source: API specification, sections 2.6, 3.3 and 16. */
import { type Read, readBoolean, readInteger, readLongDuration, readMatching, readText, readUrls } from './values.ts';

export type MailEnvironment = ReturnType<typeof readMail>;

/** A server that takes mail. */
export interface SmtpEnvironment {
  readonly host: string;
  readonly port: number;
  /** Null: it asks for none. */
  readonly user: string | null;
  readonly password: string | null;
  /** TLS from the first byte on. */
  readonly secure: boolean;
  /** No TLS, even where the server offers it. */
  readonly ignoreTls: boolean;
}

export type LinkEnvironment = ReturnType<typeof readLink>;

export function readMail(read: Read) {
  const host = read<string | null>('EMAIL_SMTP_HOST', readName, null);
  const smtp = {
    port: read('EMAIL_SMTP_PORT', readInteger(1, 65_535), 587),
    user: read<string | null>('EMAIL_SMTP_USER', readText, null),
    password: read<string | null>('EMAIL_SMTP_PASSWORD', readText, null),
    secure: read('EMAIL_SMTP_SECURE', readBoolean, false),
    ignoreTls: read('EMAIL_SMTP_IGNORE_TLS', readBoolean, false),
  };
  return {
    /** An address, or a name and an address: `Shop <no-reply@example.com>`. */
    from: read('EMAIL_FROM', readFrom, 'no-reply@localhost'),
    /** Null: mail is written into a folder. */
    smtp: host === null ? null : { host, ...smtp },
    /** Mails with a link that sets a password. */
    reset: readLink(read, 'PASSWORD_RESET', 86_400_000),
    invite: readLink(read, 'USER_INVITE', 604_800_000),
  } as const;
}

function readLink(read: Read, name: string, ttl: number) {
  return {
    /** Milliseconds for which a link works. */
    ttl: read(`${name}_TOKEN_TTL`, readLongDuration, ttl),
    /** Addresses that a request may have the link lead to; none when empty. */
    allowed: read<readonly string[]>(`${name}_URL_ALLOW_LIST`, readUrls, []),
  } as const;
}

const readName = readMatching(/^[A-Za-z0-9._:%-]+$/, 'must be a host name or an address.');

const readFrom = readMatching(
  /^(?:[^\p{C}<>@]*<[^\s\p{C}<>@]+@[^\s\p{C}<>@]+>|[^\s\p{C}<>@,;]+@[^\s\p{C}<>@,;]+)$/u,
  'must be an address such as "no-reply@example.com" or "Shop <no-reply@example.com>".',
);
