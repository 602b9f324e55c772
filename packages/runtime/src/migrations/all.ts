import type { Migration } from '../system/migration.ts';
import { accounts } from './0001-accounts.ts';
import { sessions } from './0002-sessions.ts';
import { activity } from './0003-activity.ts';
import { model } from './0004-model.ts';
import { requests } from './0005-requests.ts';
import { files } from './0006-files.ts';
import { productName } from './0007-product-name.ts';

/** Every migration of the platform's own tables, in their order. */
export const systemMigrations: readonly Migration[] = [
  accounts,
  sessions,
  activity,
  model,
  requests,
  files,
  productName,
];
