/** What the compiler makes of the platform's own tables is what section 10 of the API specification lists. */
import { parsePermissions, resolveSchema } from '@tablewright/introspect';
import type { Collection, Schema } from '@tablewright/introspect/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factsOf } from '../introspect/facts.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { installSystem } from '../support/system.ts';

let database: TestDatabase;
let schema: Schema;
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE platform_stray (id int PRIMARY KEY)');
  await installSystem(database.url);
  // Of another project on the same database: never served, least of all unmasked.
  await installSystem(database.url, { schema: 'neighbour' });
  const facts = await factsOf(database.url);
  const resolved = resolveSchema(facts, {}, parsePermissions('', 'permissions.yaml').document);
  expect(resolved.diagnostics.map(({ code, place }) => `${code} ${place}`)).toEqual([
    'reserved-name table public.platform_stray',
  ]);
  expect(facts.diagnostics).toEqual([]);
  schema = resolved.schema;
});
afterAll(() => database?.drop());

/** In the notation of the specification: `!` not null, `= default`, `→ target`, `S` server-owned, `{values}`. */
const specified: Readonly<Record<string, readonly string[]>> = {
  platform_activity: [
    'id integer! = auto S',
    'action string(45)! {create update delete revert comment upload login archive call} S',
    'user uuid → platform_users S',
    'timestamp timestamp! = now() S',
    'ip string(50) S',
    'user_agent string(255) S',
    'origin string(255) S',
    'collection string(64)! S',
    'item string(255)! S',
    'comment text S',
    'revisions o2m platform_revisions.activity',
  ],
  platform_collections: [
    'collection string(64)!',
    'icon string(30)',
    'note text',
    'display_template string(255)',
    'color string(255)',
    'hidden boolean! = false',
    'singleton boolean! = false',
    'sort_field string(64)',
    'archive_field string(64)',
    'archive_value string(255)',
    'unarchive_value string(255)',
    'archive_app_filter boolean! = true',
    "accountability string(255) {all activity} = 'all'",
    'translations json',
    'item_duplication_fields json',
    'sort integer',
    'group string(64) → platform_collections',
    "collapse string(255)! {open closed locked} = 'open'",
  ],
  platform_comments: [
    'id uuid! = gen_random_uuid()',
    'collection string(64)!',
    'item string(255)!',
    'comment text!',
    'date_created timestamp = now() S',
    'date_updated timestamp S',
    'user_created uuid → platform_users S',
    'user_updated uuid → platform_users S',
    'activity integer → platform_activity S',
  ],
  platform_fields: [
    'id integer! = auto',
    'collection string(64)!',
    'field string(64)!',
    'special csv',
    'required boolean = false',
    'validation json',
    'validation_message text',
    'readonly boolean! = false',
    'hidden boolean! = false',
    'interface string(64)',
    'display string(64)',
    'group string(64)',
    'options json',
    'display_options json',
    'translations json',
    'conditions json',
    'sort integer',
    "width string(30) = 'full'",
    'note text',
  ],
  platform_files: [
    'id uuid! = gen_random_uuid()',
    "storage string(255)! = 'local' S",
    'filename_disk string(255) S',
    'filename_download string(255)!',
    'title string(255)',
    'type string(255)',
    'charset string(50) S',
    'folder uuid → platform_folders',
    'uploaded_by uuid → platform_users S',
    'modified_by uuid → platform_users S',
    'uploaded_on timestamp! = now() S',
    'modified_on timestamp! = now() S',
    'filesize bigInteger S',
    'width integer S',
    'height integer S',
    'duration integer S',
    'metadata json S',
    'embed string(200)',
    'description text',
    'location text',
    'tags csv',
  ],
  platform_folders: ['id uuid! = gen_random_uuid()', 'name string(255)!', 'parent uuid → platform_folders'],
  platform_permissions: [
    'id integer! = auto',
    'role uuid → platform_roles',
    'collection string(64)!',
    'action string(10)! {create read update delete}',
    'permissions json',
    'validation json',
    'presets json',
    'fields csv',
    'system boolean without a column',
  ],
  platform_presets: [
    'id integer! = auto',
    'bookmark string(255)',
    'user uuid → platform_users',
    'role uuid → platform_roles',
    'collection string(64)',
    'search string(100)',
    "layout string(100) = 'tabular'",
    'layout_query json',
    'layout_options json',
    'filter json',
    'refresh_interval integer',
    "icon string(30) = 'bookmark'",
    'color string(255)',
  ],
  platform_relations: [
    'id integer! = auto',
    'many_collection string(64)!',
    'many_field string(64)!',
    'one_collection string(64)',
    'one_field string(64)',
    'one_collection_field string(64)',
    'one_allowed_collections csv',
    'junction_field string(64)',
    'sort_field string(64)',
    "one_deselect_action string(255)! {nullify delete} = 'nullify'",
  ],
  platform_revisions: [
    'id integer! = auto S',
    'activity integer! → platform_activity S',
    'collection string(64)! S',
    'item string(255)! S',
    'data json S',
    'delta json S',
    'parent integer → platform_revisions S',
  ],
  platform_roles: [
    'id uuid! = gen_random_uuid()',
    'name string(100)!',
    "icon string(30)! = 'supervised_user_circle'",
    'description text',
    'ip_access csv',
    'enforce_tfa boolean! = false',
    'admin_access boolean! = false',
    'app_access boolean! = true',
    'users o2m platform_users.role',
  ],
  platform_settings: [
    'id integer! {1} = 1',
    "project_name string(100)! = 'Tablewright'",
    'project_descriptor string(100)',
    'project_url string(255)',
    'project_color string(255)',
    'project_logo uuid → platform_files',
    'public_foreground uuid → platform_files',
    'public_background uuid → platform_files',
    'public_note text',
    'custom_css text',
    "default_language string(255)! = 'en-US'",
    'auth_login_attempts integer = 25',
    'auth_password_policy string(100)',
    "storage_asset_transform string(7) {all none presets} = 'all'",
    'storage_asset_presets json',
    'storage_default_folder uuid → platform_folders',
    'module_bar json',
    'basemaps json',
    'translation_strings json',
    'custom_aspect_ratios json',
    'mapbox_key string(255)',
  ],
  platform_users: [
    'id uuid! = gen_random_uuid()',
    'first_name string(50)',
    'last_name string(50)',
    'email string(128)',
    'password hash(255)',
    'location string(255)',
    'title string(50)',
    'description text',
    'tags csv',
    'avatar uuid → platform_files',
    'language string(255)',
    "theme string(20) {auto light dark} = 'auto'",
    'tfa_secret secret(255) S',
    "status string(16)! {draft invited active suspended archived} = 'active'",
    'role uuid → platform_roles',
    'token token(255)',
    'last_access timestamp S',
    'last_page string(255)',
    "provider string(128)! = 'default'",
    'external_identifier string(255)',
    // json in the database and in the specification; compiled as a secret, because it reads masked.
    'auth_data secret S',
    'email_notifications boolean = true',
  ],
};

function describeFields(collection: Collection): readonly string[] {
  const table = schema.tables.find(({ id }) => id === collection.table);
  const fields = collection.fields.map((field) => {
    const column = table?.columns.find(({ name }) => name === field.column);
    if (column === undefined) return `${field.name} ${field.type} without a column`;
    const { maxLength, values } = column.type;
    const relation = collection.relations.find((one) => one.kind === 'm2o' && one.field === field.name);
    const fill = { identity: 'auto', default: 'expression' in column.fill ? column.fill.expression : '' };
    const filled = Object.entries(fill).find(([kind]) => kind === column.fill.kind)?.[1];
    return [
      `${field.name} ${field.type}${maxLength === null ? '' : `(${maxLength})`}${column.nullable ? '' : '!'}`,
      ...(values === null ? [] : [`{${values.join(' ')}}`]),
      ...(filled === undefined ? [] : [`= ${filled.replace(/::.*$/, '')}`]),
      ...(relation === undefined ? [] : [`→ ${relation.target}`]),
      ...(field.serverOwned ? ['S'] : []),
    ].join(' ');
  });
  const others = collection.relations.flatMap((one) =>
    one.kind === 'o2m' ? [`${one.name} o2m ${one.target}.${one.inverse}`] : [],
  );
  return [...fields, ...others];
}

it('are thirteen collections, and no more', () => {
  expect(schema.collections.map(({ name }) => name)).toEqual(Object.keys(specified));
  // Sessions, the ledger and their like are not even in the schema.
  expect(schema.tables.map(({ id }) => id)).toEqual([
    ...Object.keys(specified).map((name) => `platform.${name}`),
    'public.platform_stray',
  ]);
});

it.each(Object.keys(specified))('%s has the fields that are specified', (name) => {
  const collection = schema.collections.find((one) => one.name === name);
  expect(collection && describeFields(collection)).toEqual(specified[name]);
});

describe('keys', () => {
  const keyOf = (name: string) => schema.collections.find((one) => one.name === name)?.key;
  const uniquesOf = (name: string) =>
    schema.tables.find((one) => one.name === name)?.uniques.map(({ columns }) => columns.join());

  it('are those that are specified', () => {
    expect(keyOf('platform_collections')).toEqual(['collection']);
    expect(keyOf('platform_users')).toEqual(['id']);
    expect(uniquesOf('platform_users')).toEqual(['provider,external_identifier', 'token']);
    expect(uniquesOf('platform_fields')).toEqual(['collection,field']);
    expect(uniquesOf('platform_relations')).toEqual(['many_collection,many_field']);
  });

  it('of another table are looked up by an index', () => {
    for (const table of schema.tables) {
      const indexed = table.indexes.map(({ columns }) => columns[0]);
      for (const { columns } of table.foreignKeys) {
        // There is one row of settings.
        if (table.name !== 'platform_settings') expect(indexed, `${table.name}.${columns}`).toContain(columns[0]);
      }
    }
  });
});

it('required on create is what has no default and is not filled by the server', () => {
  const required = schema.collections.flatMap(({ name, fields }) =>
    fields.filter((field) => field.required).map((field) => `${name}.${field.name}`),
  );
  expect(required).toEqual([
    'platform_collections.collection',
    'platform_comments.collection',
    'platform_comments.item',
    'platform_comments.comment',
    'platform_fields.collection',
    'platform_fields.field',
    'platform_files.filename_download',
    'platform_folders.name',
    'platform_permissions.collection',
    'platform_permissions.action',
    'platform_relations.many_collection',
    'platform_relations.many_field',
    'platform_roles.name',
  ]);
});
