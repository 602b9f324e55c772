/** Fields and relations without a column, as `GET /fields` tells them. Source: API specification, 10.4 and 12.2. */
import type { DeclaredRow, JsonValue, ModelField } from '@tablewright/runtime/language';
import type { ApiField, ApiRelation, StoredColumn } from '../api.ts';
import type { NoteReader } from '../role-view/notes.ts';
import type { RoleField, RoleRelation } from '../role-view/role-view.ts';
import {
  type Declared,
  type DescribedCollection,
  type ModelContext,
  readableMembers,
  shows,
  specialsOf,
} from './collections.ts';

/** Describes the fields of a collection: the key, other columns, relations; then fields that only structure a form. */
export function modelFields(
  described: DescribedCollection,
  context: ModelContext,
  rows: Pick<Declared, 'fields' | 'virtualFields'>,
  note: NoteReader,
): readonly (ModelField & JsonValue)[] {
  const { api, view } = described;
  const fields = new Map(api.fields.map((field) => [field.descriptor.name, field]));
  const relations = new Map(api.relations.map((relation) => [relation.descriptor.name, relation]));
  const keys = new Set(api.descriptor.key);
  const ordered = [
    ...api.descriptor.key.flatMap((part) => view.fields.filter(({ name }) => name === part)),
    ...view.fields.filter(({ name }) => !keys.has(name)),
  ];
  const columns = ordered.flatMap((seen) => {
    const field = fields.get(seen.name);
    return field === undefined ? [] : [{ seen, field }];
  });
  const structure = rows.virtualFields.get(described.view.name) ?? [];
  const isWhole = columns.length === api.fields.length;
  const untold = new Set<JsonValue>(isWhole ? [] : structure.map(({ field = null }) => field));
  const count = columns.length + view.relations.length;
  const fieldsOf = [
    ...columns.map(({ seen, field }, position) => columnField(described, seen, field, position, context, note)),
    ...view.relations.map((seen, position) =>
      aliasField(described, seen, relations.get(seen.name), columns.length + position),
    ),
    ...(isWhole ? structure : []).map((row, position) => plainField(described, row, count + position)),
  ];
  const rowsByField = new Map<JsonValue, DeclaredRow>();
  for (const row of rows.fields.get(view.name) ?? []) rowsByField.set(row.field ?? null, row);
  return fieldsOf.map((field) => {
    const row = rowsByField.get(field.field);
    // Most fields have no declaration.
    return row === undefined ? field : withDeclared(field, row, untold, note);
  });
}

/** Members that only an app reads. */
const appMembers = [
  'validation_message',
  'hidden',
  'interface',
  'display',
  'group',
  'options',
  'display_options',
  'translations',
  'conditions',
  'sort',
  'width',
];

type PlainField = ReturnType<typeof columnField | typeof aliasField | typeof plainField>;

/** A field with what its row says; `untold` are groups that must not be named. */
function withDeclared<Field extends PlainField>(
  field: Field,
  row: DeclaredRow,
  untold: ReadonlySet<JsonValue>,
  note: NoteReader,
) {
  const declared = readableMembers(row, field.schema === null ? [...appMembers, 'note'] : appMembers, note);
  return { ...field, meta: { ...field.meta, ...declared, ...(untold.has(declared.group ?? null) && { group: null }) } };
}

function columnField(
  described: DescribedCollection,
  { name, note: text, values }: RoleField,
  field: ApiField,
  position: number,
  context: ModelContext,
  note: NoteReader,
) {
  const { descriptor, stored } = field;
  const choices = stored.dataType === 'set' ? (descriptor.values ?? null) : values;
  const relation = visibleRelation(described, name, context);
  return {
    collection: described.view.name,
    field: name,
    type: descriptor.type,
    meta: metaOf(described, name, position, {
      special: specialOf(descriptor.type, stored, relation?.descriptor.target),
      required: field.required,
      readonly: !descriptor.writable,
      options: choices === null ? null : { choices: choices.map((value) => ({ text: value, value })) },
      note: text,
    }),
    schema: {
      name: stored.name,
      table: described.api.stored.name,
      data_type: note(stored.dataType),
      default_value: defaultOf(stored, note),
      max_length: stored.maxLength,
      numeric_precision: stored.precision,
      numeric_scale: stored.scale,
      is_nullable: stored.nullable,
      is_unique: stored.unique,
      is_primary_key: field.keyPosition !== null,
      is_generated: stored.generated,
      has_auto_increment: stored.numbered,
      foreign_key_table: relation?.stored?.targetTable ?? null,
      foreign_key_column: relation?.stored?.targetColumns[0] ?? null,
      comment: note(stored.comment),
    },
  };
}

function aliasField(
  described: DescribedCollection,
  { name, kind }: RoleRelation,
  relation: ApiRelation | undefined,
  position: number,
) {
  const descriptor = relation?.descriptor;
  const translated = descriptor?.kind === 'o2m' && descriptor.language !== undefined;
  const files = descriptor?.kind === 'm2m' && descriptor.target === fileCollection;
  const meta = {
    special: [translated ? 'translations' : files ? 'files' : kind],
    required: false,
    readonly: false,
    options: null,
    note: null,
  };
  return {
    collection: described.view.name,
    field: name,
    type: 'alias',
    meta: metaOf(described, name, position, meta),
    schema: null,
  };
}

/** A field that has no values, or is to be a side of a relation. */
function plainField(described: DescribedCollection, row: DeclaredRow, position: number) {
  const field = String(row.field);
  const meta = { special: specialsOf(row), required: false, readonly: false, options: null, note: null };
  return {
    collection: described.view.name,
    field,
    type: 'alias',
    meta: metaOf(described, field, position, meta),
    schema: null,
  };
}

const fileCollection = 'platform_files';

/** The many-to-one of a field, as far as the class sees what it leads to. */
function visibleRelation({ api }: DescribedCollection, name: string, context: ModelContext): ApiRelation | undefined {
  const found = api.relations.find(({ descriptor }) => descriptor.kind === 'm2o' && descriptor.field === name);
  const target = found && context.collections.get(found.descriptor.target);
  const held = found?.stored?.targetColumns[0];
  const field = target?.api.fields.find(({ stored }) => stored.name === held);
  return target !== undefined && field !== undefined && shows(target, field.descriptor.name) ? found : undefined;
}

interface Meta {
  readonly special: readonly string[] | null;
  readonly required: boolean;
  readonly readonly: boolean;
  readonly options: JsonValue;
  readonly note: string | null;
}

/** The members of `platform_fields`; a compiled field has no row, and so no key of one. */
function metaOf(
  { view }: DescribedCollection,
  field: string,
  position: number,
  { special, required, readonly, options, note }: Meta,
) {
  return {
    id: null,
    collection: view.name,
    field,
    special,
    required,
    validation: null,
    validation_message: null,
    readonly,
    hidden: false,
    interface: null,
    display: null,
    group: null,
    options,
    display_options: null,
    translations: null,
    conditions: null,
    sort: position + 1,
    width: 'full',
    note,
  };
}

function specialOf(type: string, stored: StoredColumn, target: string | undefined): readonly string[] | null {
  if (target !== undefined) return [target === fileCollection ? 'file' : 'm2o'];
  const specials = secrets.get(type);
  if (specials !== undefined) return specials;
  return type !== stored.type && casts.has(type) ? [`cast-${type}`] : null;
}

const secrets: ReadonlyMap<string, readonly string[]> = new Map([
  ['hash', ['hash', 'conceal']],
  ['secret', ['conceal']],
  ['token', ['hash', 'conceal']],
]);

const casts: ReadonlySet<string> = new Set(['json', 'csv', 'boolean', 'uuid']);

function defaultOf({ default: completed }: StoredColumn, note: NoteReader): JsonValue {
  if (completed === null) return null;
  return 'value' in completed ? completed.value : note(completed.expression);
}
