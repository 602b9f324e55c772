import { createdAt, made, type OwnTable, ownKey, reference, required, withDefault } from './table.ts';

const folders: OwnTable = {
  name: 'platform_folders',
  columns: { id: ownKey('uuid'), name: required('varchar(255)'), parent: reference('platform_folders') },
  indexes: ['parent'],
};

const files: OwnTable = {
  name: 'platform_files',
  columns: {
    id: ownKey('uuid'),
    storage: required('varchar(255)'),
    filename_disk: 'varchar(255)',
    filename_download: required('varchar(255)'),
    title: 'varchar(255)',
    type: 'varchar(255)',
    charset: 'varchar(50)',
    folder: reference('platform_folders'),
    uploaded_by: reference('platform_users', 'ON DELETE SET NULL'),
    modified_by: reference('platform_users', 'ON DELETE SET NULL'),
    uploaded_on: required('timestamp', made.now),
    modified_on: required('timestamp', made.now),
    filesize: 'bigint',
    width: 'integer',
    height: 'integer',
    duration: 'integer',
    metadata: 'json',
    embed: 'varchar(200)',
    description: 'text',
    location: 'text',
    tags: 'text',
  },
  indexes: ['folder', 'uploaded_by', 'modified_by'],
};

const roles: OwnTable = {
  name: 'platform_roles',
  columns: {
    id: ownKey('uuid'),
    name: required('varchar(100)'),
    icon: required('varchar(30)', 'supervised_user_circle'),
    description: 'text',
    ip_access: 'text',
    enforce_tfa: required('boolean', false),
    admin_access: required('boolean', false),
    app_access: required('boolean', true),
  },
};

const users: OwnTable = {
  name: 'platform_users',
  columns: {
    id: ownKey('uuid'),
    first_name: 'varchar(50)',
    last_name: 'varchar(50)',
    email: 'varchar(128)',
    password: 'varchar(255)',
    location: 'varchar(255)',
    title: 'varchar(50)',
    description: 'text',
    tags: 'text',
    avatar: reference('platform_files', 'ON DELETE SET NULL'),
    language: 'varchar(255)',
    theme: { type: 'varchar(20)', default: 'auto', among: ['auto', 'light', 'dark'] },
    tfa_secret: 'varchar(255)',
    status: {
      ...required('varchar(16)', 'active'),
      among: ['draft', 'invited', 'active', 'suspended', 'archived'],
    },
    role: {
      ...reference('platform_roles'),
      note: 'No action: whoever deletes a role must also suspend its users.',
    },
    token: { type: 'varchar(255)', unique: true },
    last_access: 'timestamp',
    last_page: 'varchar(255)',
    provider: required('varchar(128)', 'default'),
    external_identifier: 'varchar(255)',
    auth_data: 'json',
    email_notifications: withDefault('boolean', true),
    security_version: {
      ...required('integer', 0),
      note: 'Counts what ends sessions; a session remembers the number it was made under.',
    },
  },
  unique: ['provider', 'external_identifier'],
  indexes: ['role', 'avatar'],
};

const permissions: OwnTable = {
  name: 'platform_permissions',
  columns: {
    id: ownKey('integer'),
    role: reference('platform_roles', 'ON DELETE CASCADE'),
    collection: required('varchar(64)'),
    action: { ...required('varchar(10)'), among: ['create', 'read', 'update', 'delete'] },
    permissions: 'json',
    validation: 'json',
    presets: 'json',
    fields: 'text',
  },
  indexes: ['role'],
};

export const accountTables = [folders, files, roles, users, permissions];

const sessions: OwnTable = {
  name: 'platform_sessions',
  note: 'A family of refresh tokens. Ending a session deletes its row.',
  columns: {
    id: ownKey('uuid'),
    user: { ...reference('platform_users', 'ON DELETE CASCADE'), required: true },
    security_version: required('integer'),
    ip: 'varchar(50)',
    user_agent: 'varchar(255)',
    created_at: createdAt,
    expires_at: required('datetime'),
  },
  indexes: ['user', 'expires_at'],
};

const refreshTokens: OwnTable = {
  name: 'platform_refresh_tokens',
  note: 'Tokens that were used stay as long as their session, so that a second use is noticed.',
  columns: {
    hash: { type: 'hash', key: true },
    session: { ...reference('platform_sessions', 'ON DELETE CASCADE'), required: true },
    created_at: createdAt,
    expires_at: required('datetime'),
    rotated_at: 'datetime',
  },
  indexes: ['session'],
};

const secondFactors: OwnTable = {
  name: 'platform_tfa',
  note: 'Second factors: the secret that was generated and waits to be confirmed, and the last time step that was accepted.',
  columns: {
    user: { ...reference('platform_users', 'ON DELETE CASCADE'), key: true },
    pending_hash: 'hash',
    pending_until: 'datetime',
    last_step: 'bigint',
  },
  check: '(pending_hash IS NULL) = (pending_until IS NULL)',
};

const recoveryCodes: OwnTable = {
  name: 'platform_recovery_codes',
  columns: {
    user: { ...reference('platform_users', 'ON DELETE CASCADE'), required: true },
    hash: required('hash'),
    used_at: 'datetime',
  },
  key: ['user', 'hash'],
};

const singleUseTokens: OwnTable = {
  name: 'platform_single_use_tokens',
  note: 'Invites, password resets and states of single sign-on.',
  columns: {
    hash: { type: 'hash', key: true },
    purpose: { ...required('varchar(32)'), among: ['invite', 'password_reset', 'oauth_state'] },
    user: reference('platform_users', 'ON DELETE CASCADE'),
    created_at: createdAt,
    expires_at: required('datetime'),
    used_at: 'datetime',
  },
  indexes: ['user', 'expires_at'],
};

const attempts: OwnTable = {
  name: 'platform_auth_attempts',
  note: 'Counters of failed attempts, in windows. What is counted stands hashed: an account, an address, or one on the other.',
  columns: {
    purpose: required('varchar(32)'),
    subject: required('hash'),
    attempts: required('integer'),
    expires_at: required('datetime'),
  },
  key: ['purpose', 'subject'],
  indexes: ['expires_at'],
};

/** Tables for signing in; none of them is a collection. Tokens and codes are stored as SHA-256 only. */
export const sessionTables = [sessions, refreshTokens, secondFactors, recoveryCodes, singleUseTokens, attempts];
