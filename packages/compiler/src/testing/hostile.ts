import type { Collection, Schema, Table } from '@tablewright/introspect/schema';
import { graphqlName } from '@tablewright/runtime/language';
import { collectionOf, columnOf, ruleOf, schemaOf, tableOf, typeOf } from './build-schema.ts';

/** Names and texts that were chosen to break out of generated code, or to collide in it. */
export const hostileTexts: readonly string[] = [
  '*/ process.exit(1) /*',
  '$'.concat('{process.exit(1)}'),
  '`; process.exit(1); `',
  `it's "quoted" \\ and 'more'`,
  'line\u2028and\u2029ends\r\nand\ttabs\u0000',
  '\u202eright to left\u2066 and\ufeff marks\u00a0\u3000',
  '__proto__',
  'constructor',
  'prototype',
  'then',
  'toString',
  'hasOwnProperty',
  '1st',
  '1',
  '1-2',
  '',
  ' ',
  '-',
  'a b',
  'a-b',
  'a_b',
  'aB',
  'AB',
  'address_1',
  'address1',
  'class',
  'default',
  'await',
  'eval',
  'string',
  'json',
  'text',
  'list_items',
  'compiled_api',
  'api',
  'public',
  'admin',
  'con',
  '../../etc/passwd',
  'über größe',
  '日本語の表',
  '\u0301combining',
  '🙂 emoji 👩‍👩‍👧',
  '@ts-ignore',
  'biome-ignore lint: no',
  '// @ts-nocheck',
  '{@link x} @deprecated',
  '{{{about}}} {{#each x}}',
  '_and',
  '_or',
  'x'.repeat(63),
  'long_name_'.repeat(12),
  `${'"'.repeat(63)}`,
  '😀'.repeat(15),
];

const text = typeOf('text', 'text');

/** Texts that can be names side by side in GraphQL, which has letters, digits and underscores only. */
export const distinctTexts: readonly string[] = [
  ...new Map(
    hostileTexts.filter((text) => text !== '_and' && text !== '_or').map((text) => [graphqlName(text), text]),
  ).values(),
];

/** A schema in which every name, comment, label, default, role and literal is one of these texts; hostile ones if not said otherwise. */
export function hostileSchema(texts: readonly string[] = hostileTexts): Schema {
  const names = [...new Set(texts)];
  const tables = names.map((name) => hostileTable(name, names));
  const collections = tables.map((table, index) => hostileCollection(table, names[index] ?? '', names));
  const sorted = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  const roles = names.filter((name) => name !== 'public' && name !== 'admin');
  return schemaOf([...tables].sort(sorted), collections.sort(sorted), {
    enums: [{ schema: 'a.b"', name: 'kind', labels: names, comment: names.join('\n') }],
    roles: roles.map((name) => ({ name, description: name, admin: false, app: true })).sort(sorted),
    permissions: roles.flatMap((role) =>
      names.slice(0, 3).map((collection) =>
        ruleOf(role, collection, 'update', names, {
          where: {
            kind: 'compare',
            field: role,
            operator: '_eq',
            operand: { kind: 'literal', value: JSON.parse(`{"__proto__": ${JSON.stringify(role)}, "a b": [1, null]}`) },
          },
        }),
      ),
    ),
  });
}

function hostileTable(name: string, names: readonly string[]): Table {
  const labels = typeOf('"a.b""".kind', 'enum', { category: 'enum', enum: '"a.b""".kind', values: names });
  // One table has all the names as columns; the others enough to meet every name once more.
  const others = ['_and', 'then'].filter((one) => names.includes(one));
  const used = name === '__proto__' ? names : [...new Set([...names.slice(0, 1), name, ...others])];
  const columns = used.map((column, index) =>
    columnOf(column, index % 3 === 0 ? labels : text, {
      comment: column,
      nullable: index > 0,
      fill: index % 2 === 0 ? { kind: 'none' } : { kind: 'default', expression: column },
    }),
  );
  return tableOf(name, columns, { comment: `${name}\n\n${name}` });
}

/** Every collection has a many-to-one to the next one through a column, and is its inverse. */
function hostileCollection(table: Table, name: string, names: readonly string[]): Collection {
  const next = names[(names.indexOf(name) + 1) % names.length] ?? '';
  const before = names[(names.indexOf(name) + names.length - 1) % names.length] ?? '';
  const [first = ''] = names;
  return collectionOf(table, [
    {
      kind: 'm2o',
      name: first,
      target: next,
      foreignKey: name,
      on: [{ from: first, to: first }],
      field: first,
      nullable: false,
    },
    {
      kind: 'o2m',
      name: `many ${before}`,
      target: before,
      on: [{ from: first, to: first }],
      inverse: first,
      single: false,
      sort: null,
      onDeselect: 'nullify',
      language: null,
    },
  ]);
}
