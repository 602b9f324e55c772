import { type OwnTable, ownKey, reference, required, withDefault } from './table.ts';

export const collections: OwnTable = {
  name: 'platform_collections',
  columns: {
    collection: { type: 'varchar(64)', key: true },
    icon: 'varchar(30)',
    note: 'text',
    display_template: 'varchar(255)',
    color: 'varchar(255)',
    hidden: required('boolean', false),
    singleton: required('boolean', false),
    sort_field: 'varchar(64)',
    archive_field: 'varchar(64)',
    archive_value: 'varchar(255)',
    unarchive_value: 'varchar(255)',
    archive_app_filter: required('boolean', true),
    accountability: { type: 'varchar(255)', default: 'all', among: ['all', 'activity'] },
    translations: 'json',
    item_duplication_fields: 'json',
    sort: 'integer',
    group: reference('platform_collections', 'ON DELETE SET NULL ON UPDATE CASCADE', 'varchar(64)'),
    collapse: { ...required('varchar(255)', 'open'), among: ['open', 'closed', 'locked'] },
  },
  indexes: ['group'],
};

export const fields: OwnTable = {
  name: 'platform_fields',
  columns: {
    id: ownKey('integer'),
    collection: required('varchar(64)'),
    field: required('varchar(64)'),
    special: 'text',
    required: withDefault('boolean', false),
    validation: 'json',
    validation_message: 'text',
    readonly: required('boolean', false),
    hidden: required('boolean', false),
    interface: 'varchar(64)',
    display: 'varchar(64)',
    group: 'varchar(64)',
    options: 'json',
    display_options: 'json',
    translations: 'json',
    conditions: 'json',
    sort: 'integer',
    width: withDefault('varchar(30)', 'full'),
    note: 'text',
  },
  unique: ['collection', 'field'],
};

export const relations: OwnTable = {
  name: 'platform_relations',
  columns: {
    id: ownKey('integer'),
    many_collection: required('varchar(64)'),
    many_field: required('varchar(64)'),
    one_collection: 'varchar(64)',
    one_field: 'varchar(64)',
    one_collection_field: 'varchar(64)',
    one_allowed_collections: 'text',
    junction_field: 'varchar(64)',
    sort_field: 'varchar(64)',
    one_deselect_action: { ...required('varchar(255)', 'nullify'), among: ['nullify', 'delete'] },
  },
  unique: ['many_collection', 'many_field'],
};

const presets: OwnTable = {
  name: 'platform_presets',
  columns: {
    id: ownKey('integer'),
    bookmark: 'varchar(255)',
    user: reference('platform_users', 'ON DELETE CASCADE'),
    role: reference('platform_roles', 'ON DELETE CASCADE'),
    collection: 'varchar(64)',
    search: 'varchar(100)',
    layout: withDefault('varchar(100)', 'tabular'),
    layout_query: 'json',
    layout_options: 'json',
    filter: 'json',
    refresh_interval: 'integer',
    icon: withDefault('varchar(30)', 'bookmark'),
    color: 'varchar(255)',
  },
  indexes: ['user', 'role'],
};

const settings: OwnTable = {
  name: 'platform_settings',
  columns: {
    id: {
      ...{ type: 'integer', key: true, default: 1, check: 'id = 1' },
      note: 'One row: two that are written first at the same time must not both be there.',
    },
    project_name: required('varchar(100)', 'Platform'),
    project_descriptor: 'varchar(100)',
    project_url: 'varchar(255)',
    project_color: 'varchar(255)',
    project_logo: reference('platform_files', 'ON DELETE SET NULL'),
    public_foreground: reference('platform_files', 'ON DELETE SET NULL'),
    public_background: reference('platform_files', 'ON DELETE SET NULL'),
    public_note: 'text',
    custom_css: 'text',
    default_language: required('varchar(255)', 'en-US'),
    auth_login_attempts: withDefault('integer', 25),
    auth_password_policy: 'varchar(100)',
    storage_asset_transform: { type: 'varchar(7)', default: 'all', among: ['all', 'none', 'presets'] },
    storage_asset_presets: 'json',
    storage_default_folder: reference('platform_folders', 'ON DELETE SET NULL'),
    module_bar: 'json',
    basemaps: 'json',
    translation_strings: 'json',
    custom_aspect_ratios: 'json',
    mapbox_key: 'varchar(255)',
  },
};

export const modelTables = [collections, fields, relations, presets, settings];
