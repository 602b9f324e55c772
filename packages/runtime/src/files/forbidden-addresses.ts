/**
 * Addresses that a server is never sent to by its callers: they lead into its own network. Source: API specification,
 * section 16; the registries of special addresses, RFC 6890.
 */
import { networkInterfaces } from 'node:os';
import type { ImportEnvironment } from '../environment/files.ts';
import { type Address, createNetworks, readAddress } from '../environment/networks.ts';

const special = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // All but the public range 2000::/3, and the parts of that with a special purpose.
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
];

/** Makes the function that tells if an address, as resolvers return it, must not be connected to. */
export function createForbiddenAddresses({
  denied,
  allowed,
}: Pick<ImportEnvironment, 'denied' | 'allowed'>): (text: string) => boolean {
  const always = createNetworks(special);
  const [deniedHere, allowedHere] = [createNetworks(denied), createNetworks(allowed)];
  return function isForbidden(text) {
    const address = readAddress(text);
    if (address === null) return true;
    if (allowedHere.has(address)) return false;
    return always.has(address) || deniedHere.has(address) || isOwn(address);
  };
}

/** True if it is an address of this machine; these may change while a server runs. */
function isOwn({ text }: Address): boolean {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return interfaces.some(({ address }) => readAddress(address)?.text === text);
}
