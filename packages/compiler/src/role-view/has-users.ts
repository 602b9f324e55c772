import type { Api } from '../api.ts';

/** True if an API has users, so that callers can sign in. */
export function hasUsers({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.system === true && descriptor.name === 'platform_users');
}
