/** Addresses of clients as far as lines of the log may name them. Source: operations notes, section 3. */
import type { IncomingMessage } from 'node:http';
import { type Address, networkOf } from '../environment/networks.ts';
import type { OperateEnvironment } from '../environment/operate.ts';
import type { Environment } from '../environment.ts';
import { createClientAddress } from './client-address.ts';

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
