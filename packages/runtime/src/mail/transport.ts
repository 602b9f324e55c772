/** Sends mail to a server, or without one into a folder, for people who develop. */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Transporter } from 'nodemailer';
import type { MailEnvironment, SmtpEnvironment } from '../environment/mail.ts';
import type { Log } from '../operate/log.ts';
import type { Letter } from './templates.ts';

/** Hands a letter over. Rejects when it was not taken; `isRefused` tells if it never will be. */
export interface MailTransport {
  send(to: string, letter: Letter): Promise<void>;
  close(): void;
}

/** Time that a mail server may be silent, in milliseconds. */
const timeoutMs = 20_000;

/** Makes the way out of a server; `folder` is for environments without a mail server. */
export function createMailTransport(
  environment: MailEnvironment,
  folder: string,
  log: Pick<Log, 'info'>,
): MailTransport {
  const { smtp, from } = environment;
  return smtp === null ? folderTransport(from, folder, log) : smtpTransport(from, smtp);
}

/** Facts of an error that is an answer of a mail server. */
type MailRefusal = Error & { readonly [fact in 'code' | 'command' | 'response' | 'responseCode']?: unknown };

/** Answers that are about who sends: credentials, or the rules of a server (RFC 3463, 5.7). */
const isAboutSender = /^5(?:3\d|\d\d[ -]5\.7\.)/;

/** True if a mail server has answered that it will never take a letter. Its sender and credentials may be right tomorrow. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, command, response, responseCode }: MailRefusal = error;
  const isAboutLetter = (code === 'EENVELOPE' || code === 'EMESSAGE') && command !== 'MAIL FROM';
  return isAboutLetter && Number(responseCode) >= 500 && !isAboutSender.test(String(response));
}

function smtpTransport(from: string, smtp: SmtpEnvironment): MailTransport {
  let transport: Promise<Transporter> | null = null;
  return {
    async send(to, { subject, text, html }) {
      transport ??= connect(smtp);
      await (await transport).sendMail({ from, to: { name: '', address: to }, subject, text, html });
    },
    close: () => void transport?.then((made) => made.close()),
  };
}

/** Loads the mailer, which is much code, when the first mail is sent. */
async function connect({ host, port, user, password, secure, ignoreTls }: SmtpEnvironment): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure,
    ignoreTLS: ignoreTls,
    // A password travels over TLS, unless the configuration waives that.
    requireTLS: user !== null && !secure && !ignoreTls,
    ...(user !== null && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Writes files that mail programs open and people can read: nothing in them is encoded. */
function folderTransport(from: string, folder: string, log: Pick<Log, 'info'>): MailTransport {
  return {
    async send(to, letter) {
      const now = new Date();
      const name = `${now.toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}.eml`;
      const file = join(folder, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(file, printMessage(from, to, letter, now), { mode: 0o600, flag: 'wx' });
      log.info({ file }, 'A mail was written into a file, because EMAIL_SMTP_HOST names no server.');
    },
    close() {},
  };
}

function printMessage(from: string, to: string, { subject, text, html }: Letter, now: Date): string {
  const boundary = `part-${randomBytes(12).toString('hex')}`;
  const part = (type: string, content: string): string =>
    `--${boundary}\nContent-Type: ${type}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n${content.trimEnd()}\n\n`;
  const head = [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${subject}`,
    `Date: ${now.toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
  ];
  return `${head.join('\n')}\n\n${part('text/plain', text)}${part('text/html', html)}--${boundary}--\n`;
}
