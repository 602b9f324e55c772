/** Address of a client: that of the socket, or of trusted proxies. Source: API specification, 2.2 and 2.9. */
import type { IncomingMessage } from 'node:http';
import { type Address, createNetworks, networkOf, readAddress } from '../environment/networks.ts';
import type { OperateEnvironment } from '../environment/operate.ts';
import type { Environment } from '../environment.ts';

/** Finds the address of the client; null where the connection has none. */
export type FindClientAddress = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => Address | null;

/** Makes the finder; `proxies` are addresses and CIDR blocks, none by default. */
export function createClientAddress(proxies: readonly string[]): FindClientAddress {
  const trusted = createNetworks(proxies);
  return function findClientAddress({ socket, headers }) {
    const peer = readAddress(socket.remoteAddress ?? '');
    if (proxies.length === 0 || peer === null || !trusted.has(peer)) return peer;
    const forwarded = headers['x-forwarded-for'];
    const addresses = typeof forwarded === 'string' ? forwarded.split(',') : (forwarded ?? []);
    return believe(peer, addresses, trusted.has);
  };
}

/**
 * Each proxy appends the address of its peer, so the way is followed back from the end while the sender of an entry is
 * trusted. An entry that is not an address ends it: its sender is the last known address.
 */
function believe(peer: Address, addresses: readonly string[], trusts: (address: Address) => boolean): Address {
  let client = peer;
  for (const text of addresses.toReversed()) {
    if (!trusts(client)) break;
    const before = readAddress(withoutPort(text.trim()));
    if (before === null) break;
    client = before;
  }
  return client;
}

/** Some proxies add the port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
}

/** Makes the finder; undefined where LOG_ADDRESSES says `none`, and for a connection without an address. */
export function createLogAddress({ operate, auth }: Environment): (request: IncomingMessage) => string | undefined {
  const clientAddress = createClientAddress(auth.trustedProxies);
  const form = operate.logAddresses;
  if (form === 'none') return () => undefined;
  if (auth.trustedProxies.length > 0) {
    return function addressOf(request) {
      const address = clientAddress(request);
      return address === null ? undefined : formatAddress(form, address);
    };
  }
  let last: string | undefined;
  let formatted: string | undefined;
  // Most requests come from where the one before came from.
  return function addressOf(request) {
    const { remoteAddress } = request.socket;
    if (remoteAddress === last) return formatted;
    const address = clientAddress(request);
    last = remoteAddress;
    formatted = address === null ? undefined : formatAddress(form, address);
    return formatted;
  };
}

/** An address as far as a line may name it. */
export function formatAddress(form: OperateEnvironment['logAddresses'], address: Address): string | undefined {
  if (form === 'none') return undefined;
  return form === 'full' ? address.text : networkOf(address);
}
