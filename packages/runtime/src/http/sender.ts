/** Where a request came from, as activity keeps it. Source: API specification, section 10.1. */
import type { IncomingMessage } from 'node:http';
import type { Sender } from '../write/job.ts';

/** The address of the client and the headers that tell what it is; null where it does not say. */
export function senderOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Sender {
  return {
    // Node writes addresses of version 4 in the form of version 6 when it listens on both.
    ip: socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? null,
    userAgent: headers['user-agent'] ?? null,
    origin: headers.origin ?? null,
  };
}
