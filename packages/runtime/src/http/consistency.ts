/**
 * Positions in the log of changes, which clients carry from their writes to their reads. A replica that is behind answers
 * none of them. Source: scale-out notes, section 4.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Statement } from '../database/database.ts';
import { type HasReached, latestPosition } from '../database/hosts/positions.ts';
import { type LogPosition, requestRecord } from '../operate/request-record.ts';
import { findCookie } from './auth/cookies.ts';

/** Tells what a read has to see, and what an answer tells of it. */
export type Consistency = ReturnType<typeof createConsistency>;

export interface ConsistencyOptions {
  readonly secret: string;
  /** History that is written now; null where that is unknown. */
  readonly history: () => Omit<LogPosition, 'position'> | null;
  readonly hasReached: HasReached;
  readonly hasPrimary: () => boolean;
  /** Name of the cookie that a session in cookies has, and the attributes of ours. */
  readonly sessionCookie: string;
  readonly cookieAttributes: readonly string[];
}

/** Name of the header, and of the cookie. */
const header = 'X-Consistency-Token';
export const consistencyCookie = 'platform_consistency';
const maxAgeSeconds = 60;
/** Longest value that is looked at, and most tokens in it: writes that were under way at once. */
const maxLength = 512;
const maxTokens = 8;

const none: readonly string[] = [];

export function createConsistency(options: ConsistencyOptions) {
  const { history, hasReached, hasPrimary, sessionCookie, cookieAttributes } = options;
  const codec = createTokenCodec(options.secret);

  /** The position that a request has to see: null for any, `latest` where only the primary has it for sure. */
  function requestedPosition(request: IncomingMessage): LogPosition | 'latest' | null {
    const sent = request.headers[header.toLowerCase()] ?? findCookie(request.headers.cookie, consistencyCookie);
    if (sent === undefined || sent === null) return null;
    const current = history();
    if (current === null || sent.length > maxLength) return 'latest';
    const tokens = String(sent).split(',', maxTokens + 1);
    if (tokens.length > maxTokens) return 'latest';
    let greatest: LogPosition | null = null;
    for (const token of tokens) {
      const read = codec.read(token.trim());
      if (read === null || read.system !== current.system || read.timeline !== current.timeline) return 'latest';
      if (greatest === null || hasReached(read.position, greatest.position)) greatest = read;
    }
    return greatest;
  }

  function answered(request: IncomingMessage): string | null {
    const written = request[requestRecord]?.written ?? null;
    const sent = requestedPosition(request);
    if (written === latestPosition) return latestPosition;
    if (written === null) return sent === null || sent === 'latest' ? null : codec.write(sent);
    const isGreater = sent !== null && sent !== 'latest' && sent.timeline === written.timeline;
    return codec.write(isGreater && hasReached(sent.position, written.position) ? sent : written);
  }

  return {
    /** False while no server that takes writes is known. */
    hasPrimary,
    /** The statement for a replica that has come as far as the request has to see; the same where the primary has to answer. */
    late(request: IncomingMessage, statement: Statement): Statement {
      if (statement.mayLag !== true) return statement;
      const position = requestedPosition(request);
      if (position === 'latest') return statement;
      return { ...statement, after: position?.position ?? '' };
    },
    headers(request: IncomingMessage): readonly string[] {
      const token = answered(request);
      if (token === null) return none;
      const isWrite = request[requestRecord]?.written != null;
      if (!isWrite || findCookie(request.headers.cookie, sessionCookie) === null) return [header, token];
      const cookie = [`${consistencyCookie}=${token}`, ...cookieAttributes, `Max-Age=${maxAgeSeconds}`].join('; ');
      return [header, token, 'Set-Cookie', cookie];
    },
  };
}

const macBytes = 8;
const keyBytes = 16;

/** Tokens tell nothing of the database: their text is encrypted under its authentication code. */
function createTokenCodec(secret: string) {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'platform.consistency', 2 * keyBytes));
  const [macKey, cipherKey] = [derived.subarray(0, keyBytes), derived.subarray(keyBytes)];
  const macOf = (text: Buffer): Buffer => createHmac('sha256', macKey).update(text).digest().subarray(0, macBytes);
  const vectorOf = (mac: Buffer): Buffer => Buffer.concat([mac, Buffer.alloc(keyBytes - macBytes)]);

  return {
    write({ system, timeline, position }: LogPosition): string {
      const text = Buffer.from(JSON.stringify([system ?? '', timeline ?? 0, position]));
      const mac = macOf(text);
      const cipher = createCipheriv('aes-128-ctr', cipherKey, vectorOf(mac));
      return Buffer.concat([mac, cipher.update(text), cipher.final()]).toString('base64url');
    },
    /** Null for a text that is no token of ours. */
    read(token: string): LogPosition | null {
      const bytes = Buffer.from(token, 'base64url');
      if (bytes.length <= macBytes || bytes.toString('base64url') !== token) return null;
      const mac = bytes.subarray(0, macBytes);
      const decipher = createDecipheriv('aes-128-ctr', cipherKey, vectorOf(mac));
      const text = Buffer.concat([decipher.update(bytes.subarray(macBytes)), decipher.final()]);
      if (!timingSafeEqual(macOf(text), mac)) return null;
      const [system, timeline, position]: [string, number, string] = JSON.parse(text.toString());
      return { system, timeline, position };
    },
  };
}
