/** Metadata of collections, fields and relations. Source: API specification, sections 10.2, 10.4 and 10.9. */
import { invalidPayload } from '../json/problems.ts';
import type { JsonValue, ModelDocument } from '../language/index.ts';
import type { KnownModel, ModelPlace, ModelSql, ModelStep } from './model-sql.ts';
import {
  anyMember,
  flagMember,
  integerMember,
  namesMember,
  objectIn,
  oneOf,
  orNull,
  type Payload,
  type ReadMember,
  textMember,
} from './payload.ts';

const integer = integerMember(-2_147_483_648, 2_147_483_647);
const name = orNull(textMember(64));
const text = orNull(textMember());
const short = orNull(textMember(255));
const json = orNull(anyMember);

/** Special meanings of fields that a server knows. Values that a database fills in are defaults of columns. */
const specials = ['hash', 'conceal', 'cast-json', 'cast-csv', 'cast-boolean', 'cast-uuid', 'm2o', 'file'];

const special: ReadMember = (value, path) => {
  const list = namesMember(value, path);
  const unknown = Array.isArray(list)
    ? list.find((name) => typeof name === 'string' && !specials.includes(name))
    : null;
  if (unknown === undefined) return list;
  throw invalidPayload(`"${path}" takes ${specials.join(', ')}; what is filled in is a default of the column.`);
};

const noValidation: ReadMember = (_, path) => {
  throw invalidPayload(`"${path}" is not judged here: say it by a rule's validation or a check of the table.`);
};

export const collectionMeta: Readonly<Record<string, ReadMember>> = {
  collection: textMember(64),
  icon: orNull(textMember(30)),
  note: text,
  display_template: short,
  color: short,
  hidden: flagMember,
  singleton: flagMember,
  sort_field: name,
  archive_field: name,
  archive_value: short,
  unarchive_value: short,
  archive_app_filter: flagMember,
  accountability: orNull(oneOf('all', 'activity')),
  translations: json,
  item_duplication_fields: json,
  sort: orNull(integer),
  group: name,
  collapse: oneOf('open', 'closed', 'locked'),
};

export const fieldMeta: Readonly<Record<string, ReadMember>> = {
  id: orNull(integer),
  collection: textMember(64),
  field: textMember(64),
  special: orNull(special),
  required: flagMember,
  validation: orNull(noValidation),
  validation_message: text,
  readonly: flagMember,
  hidden: flagMember,
  interface: name,
  display: name,
  group: name,
  options: json,
  display_options: json,
  translations: json,
  conditions: json,
  sort: orNull(integer),
  width: orNull(textMember(30)),
  note: text,
};

export const relationMeta: Readonly<Record<string, ReadMember>> = {
  id: orNull(integer),
  many_collection: textMember(64),
  many_field: textMember(64),
  one_collection: name,
  one_field: name,
  one_collection_field: name,
  one_allowed_collections: orNull(namesMember),
  junction_field: name,
  sort_field: name,
  one_deselect_action: oneOf('nullify', 'delete'),
};

const jsonMembers = new Set([
  'translations',
  'item_duplication_fields',
  'validation',
  'options',
  'display_options',
  'conditions',
]);

/** True if a described part of the model has these members already. */
export function hasAll(described: JsonValue, meta: Payload): boolean {
  const now = objectIn({ described }, 'described');
  return Object.entries(meta).every(([name, value]) => JSON.stringify(value) === JSON.stringify(now[name] ?? null));
}

/** Writes the row about a part of the model, or changes the members of one that is there; nothing where nothing is said. */
export function saveRow(
  { sql, systemSchema }: Pick<KnownModel, 'sql' | 'systemSchema'>,
  kind: keyof ModelDocument,
  location: ModelPlace,
  meta: Payload,
): readonly ModelStep[] {
  const key = keyOf(kind, location);
  const members = Object.entries(meta).filter(([member]) => member !== 'id' && !Object.hasOwn(key, member));
  if (members.length === 0) return [];
  return [
    { kind: 'run', sql: sql.saveRow(systemSchema, `platform_${kind}`, key, members, jsonMembers), place: location },
  ];
}

/** Removes the row about a part of the model. */
export function dropRow(
  { sql, systemSchema }: Pick<KnownModel, 'sql' | 'systemSchema'>,
  kind: keyof ModelDocument,
  location: ModelPlace,
): ModelStep {
  return { kind: 'run', sql: sql.dropRows(systemSchema, `platform_${kind}`, keyOf(kind, location)), place: location };
}

function keyOf(kind: keyof ModelDocument, { collection, field }: ModelPlace): Readonly<Record<string, string>> {
  if (field === null) return { collection };
  return kind === 'relations' ? { many_collection: collection, many_field: field } : { collection, field };
}

/** Words in which a server writes rows. */
interface RowWords {
  readonly table: (schema: string, table: string) => string;
  readonly name: (name: string) => string;
  readonly text: (text: string) => string;
  readonly json: (value: JsonValue) => string;
  /** Clause of an INSERT that changes columns of the row that has the key already. */
  readonly overwrite: (key: readonly string[], columns: readonly string[]) => string;
}

export function rowStatements({ table: tableOf, name, text, json: jsonOf, overwrite }: RowWords) {
  const same = (key: Readonly<Record<string, string>>): string =>
    Object.entries(key)
      .map(([member, value]) => `${name(member)} = ${text(value)}`)
      .join(' AND ');
  const literal = (value: JsonValue): string => {
    if (typeof value === 'string') return text(value);
    return Array.isArray(value) ? text(value.join(',')) : String(value);
  };
  return {
    saveRow(schema, table, key, members, json) {
      const keys = Object.keys(key).map(name);
      const columns = members.map(([member]) => name(member));
      const values = members.map(([member, value]) => {
        if (value === null) return 'NULL';
        return json.has(member) ? jsonOf(value) : literal(value);
      });
      const row = [...Object.values(key).map(text), ...values];
      const into = `${tableOf(schema, table)} (${[...keys, ...columns].join(', ')})`;
      return `INSERT INTO ${into} VALUES (${row.join(', ')})\n${overwrite(keys, columns)}`;
    },
    hasNoRow: (schema, table, key) => `SELECT NOT EXISTS (SELECT 1 FROM ${tableOf(schema, table)} WHERE ${same(key)})`,
    renameField: (schema, key, to) =>
      `UPDATE ${tableOf(schema, 'platform_fields')} SET ${name('field')} = ${text(to)} WHERE ${same(key)}`,
    dropRows: (schema, table, key) => `DELETE FROM ${tableOf(schema, table)} WHERE ${same(key)}`,
  } satisfies Partial<ModelSql>;
}
