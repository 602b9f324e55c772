/** Migrations of the platform's tables, for all servers. Released ones never change: databases keep their checksums. */
import { accountTables, sessionTables } from './accounts.ts';
import { activityTables, firstActions } from './activity.ts';
import { modelTables } from './model.ts';
import { createdAt, made, type OwnMigration, type OwnTable, ownKey, required } from './table.ts';

const idempotencyKeys: OwnTable = {
  name: 'platform_idempotency_keys',
  note: 'Status and body are null while the first request runs; its row makes the second one wait.',
  columns: {
    caller: required('varchar(64)'),
    key: required('varchar(255)'),
    request_hash: required('hash'),
    status: 'smallint',
    content_type: 'varchar(255)',
    body: 'bytes',
    created_at: createdAt,
    expires_at: required('datetime'),
  },
  key: ['caller', 'key'],
  indexes: ['expires_at'],
};

const mails: OwnTable = {
  name: 'platform_mails',
  note: 'Mail that waits to be sent; sending deletes the row, because the values of a template may hold a token.',
  columns: {
    id: ownKey('bigint'),
    template: required('varchar(64)'),
    recipient: required('varchar(128)'),
    template_values: required('json', '{}'),
    created_at: createdAt,
    due_at: required('datetime', made.now),
    attempts: required('integer', 0),
    last_error: 'text',
  },
  indexes: ['due_at'],
};

const looseFiles: OwnTable = {
  name: 'platform_loose_files',
  note: `Contents that no row of platform_files names: not yet, because they are put down first, or not any more. Whoever finds
one that is due removes it; attempts are counted before, so that a row which is taken back was never touched.`,
  columns: {
    id: ownKey('bigint'),
    storage: required('varchar(255)'),
    filename_disk: required('varchar(255)'),
    due_at: required('datetime', made.now),
    attempts: required('integer', 0),
  },
  indexes: ['due_at', 'filename_disk'],
};

const nameProjects = (name: string): string =>
  `ALTER TABLE platform_settings ALTER COLUMN project_name SET DEFAULT '${name}'`;

const allowActions = (actions: readonly string[]): string => `ALTER TABLE platform_activity
  DROP CONSTRAINT platform_activity_action_check,
  ADD CONSTRAINT platform_activity_action_check
    CHECK (action IN (${actions.map((action) => `'${action}'`).join(', ')}))`;

/** In their order, from which they have their numbers. */
export const ownMigrations: readonly OwnMigration[] = [
  { name: 'accounts', tables: accountTables },
  { name: 'sessions', tables: sessionTables },
  { name: 'activity', tables: activityTables },
  { name: 'model', tables: modelTables },
  // Rows that a write keeps in its transaction for later: its answer in case of a repeated request, and mail to send.
  { name: 'requests', tables: [idempotencyKeys, mails] },
  // Where the contents of files lie, and which of them belong to no file.
  { name: 'files', tables: [looseFiles] },
  // The name of a project that names none is that of the product. Rows keep the name that they hold.
  { name: 'product-name', tables: [], up: nameProjects('Tablewright'), down: nameProjects('Platform') },
  // Activity takes items that were archived, and calls of functions.
  {
    name: 'activity-actions',
    tables: [],
    up: allowActions([...firstActions, 'archive', 'call']),
    down: `UPDATE platform_activity SET action = 'delete' WHERE action = 'archive';
DELETE FROM platform_activity WHERE action = 'call';
${allowActions(firstActions)}`,
  },
];
