/** A small Api by hand: relations of every kind, hostile names, a singleton, a view without a key, hidden things. */
import {
  type AccessClass,
  type AccessRule,
  always,
  type FieldDescriptor,
  type JsonValue,
  type PortableType,
  type RelationDescriptor,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection, ApiField, CollectionNames, Operation } from '../../api.ts';
import { isJsonObject } from '../json.ts';

interface SampleField extends Partial<FieldDescriptor> {
  readonly name: string;
  readonly type: PortableType;
  readonly note?: string;
  readonly labels?: readonly string[];
}

interface Sample {
  readonly name: string;
  readonly note?: string;
  readonly key?: readonly string[];
  readonly singleton?: true;
  readonly fields: readonly SampleField[];
  readonly relations?: readonly RelationDescriptor[];
}

/** Names in no way of the plain form, with what could break out of comments, strings and lines. */
export const hostileNames = [
  '*/ process.exit(1) /*',
  '__proto__',
  'constructor',
  'then',
  'a b',
  'a-b',
  'Überschrift',
  '"quoted"',
  '`$\u007b1}`',
  'line\u2028break',
  '1st',
  '{key}',
  'a/b?c#d%',
  'User',
  'user',
  'USER',
] as const;

/** Makes the Api of collections. */
export function sampleApi(samples: readonly Sample[]): Api {
  const sorted = samples.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    dialect: 'postgres',
    graphql: true,
    collections: sorted.map(collectionOf),
    access: [],
    customRoutes: [],
    fingerprint: { hash: '', objects: [] },
  };
}

/** Makes an access class that reads the listed fields, each collection under one or more rules. */
export function accessTo(
  rules: Readonly<Record<string, readonly (readonly string[])[]>>,
  name = 'public',
): AccessClass {
  const read = (lists: readonly (readonly string[])[]): AccessRule[] =>
    lists.map((fields, index) => ({ fields, where: index === 0 ? somewhere : always }));
  const collections = Object.entries(rules).map(([collection, lists]) => ({ collection, read: read(lists) }));
  return { name, roles: [name], admin: false, collections };
}

/** Makes an access class that may create and update items with the listed fields, and delete them; it reads nothing. */
export function writingAccess(
  rules: Readonly<Record<string, readonly string[]>>,
  preset: readonly string[] = [],
): AccessClass {
  const value = { kind: 'literal', value: 'x' } as const;
  const collections = Object.entries(rules).map(([collection, fields]) => {
    const rule = { fields, where: always, check: null, presets: preset.map((field) => ({ field, value })) };
    return { collection, create: [rule], update: [rule], delete: [{ fields: [], where: always }] };
  });
  return { name: 'public', roles: ['public'], admin: false, collections };
}

const somewhere = {
  kind: 'compare',
  field: 'status',
  operator: '_eq',
  operand: { kind: 'literal', value: 'published' },
} as const;

const id: SampleField = { name: 'id', type: 'integer', wire: { kind: 'i4' } };

/** Articles with all that belongs to them, and a shop that only few may see. */
export const magazine: readonly Sample[] = [
  {
    name: 'articles',
    note: 'What is read. */ process.exit(1) /*',
    key: ['id'],
    fields: [
      { name: 'id', type: 'bigInteger', wire: { kind: 'i8' } },
      { name: 'title', type: 'string', maxLength: 200, note: 'As printed; shop_ledger keeps the price.' },
      { name: 'status', type: 'enum', labels: ['draft', 'published'], note: 'Where it stands.' },
      { name: 'rating', type: 'decimal', precision: 4, scale: 2, nullable: true },
      { name: 'weight', type: 'float', nullable: true },
      { name: 'published_at', type: 'timestamp', nullable: true, wire: { kind: 'timestamptz' } },
      { name: 'metadata', type: 'json', nullable: true, wire: { kind: 'jsonb' } },
      { name: 'keywords', type: 'array', element: 'text', native: 'text[]', wire: { kind: 'text', array: true } },
      { name: 'preview_token', type: 'token', nullable: true, wire: { kind: 'masked' } },
      { name: 'author_id', type: 'integer', wire: { kind: 'i4' } },
      { name: 'margin_cents', type: 'integer', column: '"mrg_c"', wire: { kind: 'i4' } },
    ],
    relations: [
      { kind: 'm2o', name: 'author_id', target: 'authors', field: 'author_id', nullable: false, on: [] },
      { kind: 'm2m', name: 'tags', target: 'tags', junction: 'articles_tags', junctionTable: '', near: [], far: [] },
      { kind: 'o2m', name: 'shop_ledger', target: 'shop_ledger', inverse: 'article_id', on: [], onDeselect: 'nullify' },
      {
        kind: 'm2a',
        name: 'sections',
        target: 'sections',
        on: [],
        collectionField: 'collection',
        itemField: 'item',
        allowed: ['shop_offers', 'tags'],
      },
    ],
  },
  {
    name: 'articles_tags',
    key: ['article_id', 'tag_id'],
    fields: [
      { name: 'article_id', type: 'bigInteger', wire: { kind: 'i8' } },
      { name: 'tag_id', type: 'integer', wire: { kind: 'i4' } },
    ],
  },
  {
    name: 'authors',
    note: 'Who writes. Paid through mrg_c.',
    key: ['id'],
    fields: [id, { name: 'name', type: 'text' }, { name: 'home_address', type: 'text', note: 'Never printed.' }],
    relations: [
      { kind: 'o2m', name: 'articles', target: 'articles', inverse: 'author_id', on: [], onDeselect: 'nullify' },
    ],
  },
  {
    name: 'tags',
    key: ['id'],
    fields: [id, { name: 'name', type: 'text' }],
    relations: [
      { kind: 'o2m', name: 'articles_tags', target: 'articles_tags', inverse: 'tag_id', on: [], onDeselect: 'delete' },
    ],
  },
  {
    name: 'sections',
    key: ['id'],
    fields: [
      id,
      { name: 'collection', type: 'string', labels: ['shop_offers', 'tags'] },
      { name: 'item', type: 'text' },
    ],
  },
  {
    name: 'shop_ledger',
    note: 'Money.',
    key: ['id'],
    fields: [
      id,
      { name: 'article_id', type: 'bigInteger', wire: { kind: 'i8' } },
      { name: 'turnover', type: 'decimal' },
    ],
    relations: [
      { kind: 'm2o', name: 'article_id', target: 'articles', field: 'article_id', nullable: false, on: [] },
      { kind: 'm2o', name: 'articles_tags', target: 'articles_tags', nullable: true, on: [] },
    ],
  },
  { name: 'shop_offers', key: ['id'], fields: [id, { name: 'offer_text', type: 'text' }] },
  { name: 'statistics', fields: [{ name: 'articles_read', type: 'integer' }] },
  { name: 'settings', key: ['id'], singleton: true, fields: [id, { name: 'theme', type: 'text' }] },
];

/** One collection per hostile name, with fields of hostile names and a relation to itself. */
export const hostile: readonly Sample[] = hostileNames.map((name) => ({
  name,
  note: `${name} */ \u2028 </script>`,
  key: ['id'],
  fields: [id, ...hostileNames.map((field) => ({ name: field, type: 'text' as const, note: `${field} */` }))],
  relations: [{ kind: 'o2m', name: `of ${name}`, target: name, inverse: 'id', on: [], onDeselect: 'nullify' }],
}));

/** Properties of a component, with those of the component that it is made of. */
export function propertiesOf(document: JsonValue, name: string): Readonly<Record<string, JsonValue>> | undefined {
  const schemas = memberOf(memberOf(document, 'components'), 'schemas');
  const schema = memberOf(schemas, name);
  const parts = memberOf(schema, 'allOf');
  const names = Array.isArray(parts) ? parts.map((part) => String(memberOf(part, '$ref')).split('/').at(-1) ?? '') : [];
  const properties = [...names.map((part) => memberOf(schemas, part)), schema].map((part) =>
    memberOf(part, 'properties'),
  );
  return schema === undefined
    ? undefined
    : Object.fromEntries(properties.flatMap((each) => Object.entries(each ?? {})));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Tables of twelve columns, of which each has a key, and refers to two earlier ones. */
export function manyTables(count: number): readonly Sample[] {
  const nameOf = (index: number): string => `table_${String(index).padStart(3, '0')}`;
  const all = Array.from({ length: count }, (_, index) => index);
  const references = [
    ['first_id', 2],
    ['second_id', 3],
  ] as const;
  return all.map((index) => ({
    name: nameOf(index),
    note: `Table ${index}.`,
    key: ['id'],
    fields: [
      id,
      { name: 'title', type: 'text' },
      { name: 'slug', type: 'string', maxLength: 80, nullable: true },
      { name: 'body', type: 'text', nullable: true },
      { name: 'status', type: 'string', labels: ['draft', 'published'] },
      { name: 'amount', type: 'decimal', precision: 12, scale: 2, nullable: true },
      { name: 'big', type: 'bigInteger', nullable: true, wire: { kind: 'i8' } },
      { name: 'happened_at', type: 'timestamp', nullable: true, wire: { kind: 'timestamptz' } },
      { name: 'flags', type: 'array', element: 'boolean', native: 'bool[]', wire: { kind: 'text', array: true } },
      { name: 'data', type: 'json', nullable: true, wire: { kind: 'jsonb' } },
      ...references.map(([name]) => ({ name, type: 'integer', nullable: true, wire: { kind: 'i4' } }) as const),
    ],
    relations: references.flatMap(([name, divisor]): readonly RelationDescriptor[] => [
      { kind: 'm2o', name, target: nameOf(Math.floor(index / divisor)), field: name, nullable: true, on: [] },
      ...all.slice(index * divisor, index * divisor + divisor).map(
        (child): RelationDescriptor => ({
          ...{ kind: 'o2m', name: `${nameOf(child)}_by_${name}`, target: nameOf(child), inverse: name },
          ...{ on: [], onDeselect: 'nullify' },
        }),
      ),
    ]),
  }));
}

function collectionOf(sample: Sample): ApiCollection {
  const { name, key = [], relations = [] } = sample;
  const fields = sample.fields.map((field) => fieldOf(field, key, relations));
  return {
    descriptor: {
      name,
      table: `"public"."${name.replaceAll('"', '""')}"`,
      key,
      singleton: sample.singleton ?? false,
      writable: true,
      fields: fields.map(({ descriptor }) => descriptor),
      relations,
    },
    names: namesOf(name),
    anyItem: null,
    source: `table public.${name}`,
    stored: { name, schema: 'public', comment: sample.note ?? null, kind: 'table', archive: null },
    note: sample.note ?? null,
    operations: operationsOf(sample),
    fields,
    relations: relations.map((descriptor) => ({ descriptor, target: namesOf(descriptor.target), stored: null })),
  };
}

function fieldOf(field: SampleField, key: readonly string[], relations: readonly RelationDescriptor[]): ApiField {
  const { note = null, labels, ...facts } = field;
  const keyPosition = key.indexOf(field.name);
  return {
    descriptor: {
      column: `"${field.name.replaceAll('"', '""')}"`,
      native: 'text',
      wire: { kind: 'text' },
      nullable: false,
      writable: true,
      ...(labels && { values: labels }),
      ...facts,
    },
    stored: {
      name: field.name,
      dataType: 'text',
      type: facts.type,
      default: null,
      maxLength: null,
      precision: null,
      scale: null,
      nullable: false,
      unique: false,
      generated: false,
      numbered: false,
      comment: note,
    },
    note,
    required: false,
    keyPosition: keyPosition === -1 ? null : keyPosition,
    defaultText: null,
    values: labels ?? null,
    valuesType: null,
    enumType: null,
    graphqlEnum: null,
    relation: relations.some((one) => one.kind === 'm2o' && one.field === field.name) ? field.name : null,
  };
}

function operationsOf({ name, key = [], singleton }: Sample): readonly Operation[] {
  const path = `/items/${encodeURIComponent(name)}`;
  const search: Operation = { kind: 'search', method: 'SEARCH', path };
  if (singleton) {
    return [{ kind: 'readSingleton', method: 'GET', path }, search, { kind: 'updateSingleton', method: 'PATCH', path }];
  }
  const byKey = `${path}/:key`;
  const keyed: readonly Operation[] = [
    { kind: 'read', method: 'GET', path: byKey },
    { kind: 'create', method: 'POST', path },
    { kind: 'update', method: 'PATCH', path: byKey },
    { kind: 'updateMany', method: 'PATCH', path },
    { kind: 'delete', method: 'DELETE', path: byKey },
    { kind: 'deleteMany', method: 'DELETE', path },
  ];
  return [{ kind: 'list', method: 'GET', path }, search, ...(key.length === 0 ? [] : keyed)];
}

function namesOf(collection: string): CollectionNames {
  const same = { file: collection, constant: collection, routes: collection, item: collection, key: collection };
  return { collection, ...same, create: collection, update: collection, filter: collection };
}
