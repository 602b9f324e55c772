import type { Api } from '../api.ts';

/**
 * True if administrators can change the model while it is served: its declarations lie in the platform's own tables.
 */
export function changesModel({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.name === 'platform_collections');
}
