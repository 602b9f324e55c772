/** Addresses from which a role may be used. Source: API specification, section 2.2. */
import { type Address, createNetworks, type Networks, readAddress } from '../environment/networks.ts';
import { PlatformError } from '../errors.ts';
import { createBoundedCache } from '../language/values/bounded-cache.ts';
import { findOrCreate } from '../language/values/once.ts';
import type { Audit } from '../operate/audit.ts';
import type { Account } from '../users/account.ts';
import type { RequestOrigin } from '../write/execute/running.ts';

/** Lists that were read already; more roles than that have theirs read again. */
const maxCached = 1_000;
const cache = createBoundedCache<Networks>(maxCached);

/** Compares a client with a role's networks; an empty list admits all. Clients without address match no entry. */
export function mayUseFrom(list: readonly string[], client: Address | null): boolean {
  if (list.length === 0) return true;
  return client !== null && networksOf(list).has(client);
}

/** Throws INVALID_IP where the role of a user may not be used from where a request came from. */
export function checkAddress({ id, role }: Account, sender: RequestOrigin, audit: Audit): void {
  if (mayUseFrom(role?.ipAccess ?? [], readAddress(sender.ip ?? ''))) return;
  audit('ip-refused', sender, { user: id });
  throw new PlatformError('INVALID_IP');
}

function networksOf(list: readonly string[]): Networks {
  return findOrCreate(cache, list.join(), () => createNetworks(list));
}
