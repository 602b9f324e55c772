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
  return function addressOf(request) {
    const address = clientAddress(request);
    return address === null ? undefined : formatAddress(form, address);
  };
}

/** An address as far as a line may name it. */
export function formatAddress(form: OperateEnvironment['logAddresses'], address: Address): string | undefined {
  if (form === 'none') return undefined;
  return form === 'full' ? address.text : networkOf(address);
}
