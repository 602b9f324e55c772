import { ownMigrations } from '../dialects/index.ts';
import type { Migration } from '../system/migration.ts';

/** Names of the migrations of the platform's own tables, in their order; each dialect has its texts under these names. */
const names = [
  'accounts',
  'sessions',
  'activity',
  'model',
  'requests',
  'files',
  'product-name',
  'activity-actions',
] as const;

/** Every migration of the platform's own tables, in their order. */
export const systemMigrations: readonly Migration[] = names.map((name, index) => ({
  ...{ id: index + 1, name },
  ...ownMigrations(name),
}));
