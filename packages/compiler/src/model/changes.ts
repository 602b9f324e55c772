import type { Api } from '../api.ts';

/** Whether administrators can change the model while it is served: what they say of it lies in the platform's own tables. */
export function changesModel({ collections }: Api): boolean {
  return collections.some(({ descriptor }) => descriptor.name === 'platform_collections');
}
