/** Whether a role may be used from an address. Source: API specification, section 2.2. */
import { type Address, createNetworks, type Networks } from '../http/networks.ts';

/** Lists that were read already; more roles than that have theirs read again. */
const mostKnown = 1_000;
const known = new Map<string, Networks>();

/**
 * Compares a client with a role's list of addresses and CIDR blocks; an empty list is met by everybody. Entries that are
 * neither are met by nobody, and so is a list by a client without an address.
 */
export function mayUseFrom(list: readonly string[], client: Address | null): boolean {
  if (list.length === 0) return true;
  return client !== null && networksOf(list).has(client);
}

function networksOf(list: readonly string[]): Networks {
  const text = list.join();
  const read = known.get(text) ?? createNetworks(list);
  if (known.size >= mostKnown) known.clear();
  known.set(text, read);
  return read;
}
