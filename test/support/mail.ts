/** A mail server of a test's own, and what lies in mails. */
import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';

/** A mail that arrived. */
export interface ReceivedMail {
  readonly from: string;
  /** Every address that the server was told, whatever the head of the mail says. */
  readonly to: readonly string[];
  /** The whole mail with its parts decoded from quoted-printable. */
  readonly text: string;
}

type MailCommand = 'MAIL FROM' | 'RCPT TO' | 'DATA';

/** A mail server that keeps what it takes. */
export interface MailServer {
  readonly port: number;
  readonly mails: readonly ReceivedMail[];
  /** Answers this to the command of a mail until told otherwise, such as `451 later`; null takes all. */
  refuse(answer: string | null, command?: MailCommand): void;
  /** The mails to an address, as soon as there are so many. */
  to(address: string, count?: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/** Starts one on a free port of the loopback. */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let refusal: { readonly answer: string | null; readonly command: MailCommand } = { answer: null, command: 'DATA' };
  /** The refusal of a command; null where it is taken. */
  function refusalOf(command: MailCommand): Error | null {
    const { answer } = refusal;
    if (answer === null || refusal.command !== command) return null;
    return Object.assign(new Error(answer.slice(4)), { responseCode: Number(answer.slice(0, 3)) });
  }
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onMailFrom: (_address, _session, callback) => callback(refusalOf('MAIL FROM')),
    onRcptTo: (_address, _session, callback) => callback(refusalOf('RCPT TO')),
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const refused = refusalOf('DATA');
        if (refused !== null) return callback(refused);
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : (mailFrom?.address ?? '');
        mails.push({
          from,
          to: rcptTo.map(({ address }) => address),
          text: decode(Buffer.concat(chunks).toString('latin1')),
        });
        callback();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const of = (to: string) => mails.filter((mail) => mail.to.some((one) => one.toLowerCase() === to.toLowerCase()));
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mails,
    refuse(answer, command = 'DATA') {
      refusal = { answer, command };
    },
    async to(named, count = 1) {
      await expect.poll(() => of(named).length, { timeout: 10_000 }).toBeGreaterThanOrEqual(count);
      return of(named);
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** The link in a mail, without what surrounds it. */
export function linkIn(mail: string | undefined): URL {
  const link = /https?:\/\/[^\s"<>]+/.exec(mail ?? '')?.[0];
  if (link === undefined) throw new Error('The mail has no link.');
  return new URL(link.replaceAll('&amp;', '&'));
}

/** The token of the link in a mail. */
export function tokenIn(mail: string | undefined): string {
  return linkIn(mail).searchParams.get('token') ?? '';
}

function decode(text: string): string {
  const joined = text.replaceAll('\r\n', '\n').replace(/=\n/g, '');
  const bytes = joined.replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
