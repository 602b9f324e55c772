import { made, type OwnTable, ownKey, reference, required, withDefault } from './table.ts';

/** Actions of the first version; a later migration adds to them. */
export const firstActions = ['create', 'update', 'delete', 'revert', 'comment', 'upload', 'login'];

const activity: OwnTable = {
  name: 'platform_activity',
  columns: {
    id: ownKey('integer'),
    action: { ...required('varchar(45)'), among: firstActions },
    user: reference('platform_users', 'ON DELETE SET NULL'),
    timestamp: required('timestamp', made.now),
    ip: 'varchar(50)',
    user_agent: 'varchar(255)',
    origin: 'varchar(255)',
    collection: required('varchar(64)'),
    item: required('varchar(255)'),
    comment: 'text',
  },
  indexes: ['user', 'timestamp', ['item', 'collection', 'item']],
};

const revisions: OwnTable = {
  name: 'platform_revisions',
  note: 'json and not jsonb: the text of a value stays as it was, and rows that jsonb refuses can be written.',
  columns: {
    id: ownKey('integer'),
    activity: { ...reference('platform_activity', 'ON DELETE CASCADE', 'integer'), required: true },
    collection: required('varchar(64)'),
    item: required('varchar(255)'),
    data: 'json text',
    delta: 'json text',
    parent: reference('platform_revisions', 'ON DELETE SET NULL', 'integer'),
  },
  indexes: ['activity', ['item', 'collection', 'item'], 'parent'],
};

const comments: OwnTable = {
  name: 'platform_comments',
  columns: {
    id: ownKey('uuid'),
    collection: required('varchar(64)'),
    item: required('varchar(255)'),
    comment: required('text'),
    date_created: withDefault('timestamp', made.now),
    date_updated: 'timestamp',
    user_created: reference('platform_users', 'ON DELETE SET NULL'),
    user_updated: reference('platform_users', 'ON DELETE SET NULL'),
    activity: reference('platform_activity', 'ON DELETE SET NULL', 'integer'),
  },
  indexes: [['item', 'collection', 'item'], 'user_created', 'user_updated', 'activity'],
};

export const activityTables = [activity, revisions, comments];
