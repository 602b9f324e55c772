import { accounts } from './accounts.ts';
import { activity, activityActions } from './activity.ts';
import { files } from './files.ts';
import { model } from './model.ts';
import { productName } from './product-name.ts';
import { requests } from './requests.ts';
import { sessions } from './sessions.ts';

/** Migrations of the platform's own tables on PostgreSQL, by their names. */
export const postgresMigrations = {
  accounts,
  sessions,
  activity,
  model,
  requests,
  files,
  'product-name': productName,
  'activity-actions': activityActions,
} as const;
