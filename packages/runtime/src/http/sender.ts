/** Where a request came from, as activity keeps it. Source: API specification, section 10.1. */

import type { IncomingMessage } from 'node:http';
import type { FindClientAddress } from '../operate/client-address.ts';
import type { RequestOrigin } from '../write/execute/running.ts';

/** Makes the reader of senders: the address of the client, and its descriptive headers; null for missing ones. */
export function createSenderOf(clientAddress: FindClientAddress): (request: IncomingMessage) => RequestOrigin {
  return (request) => ({
    ip: clientAddress(request)?.text ?? null,
    userAgent: request.headers['user-agent'] ?? null,
    origin: request.headers.origin ?? null,
  });
}
