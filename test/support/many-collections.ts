/** As many collections as wanted, each with a parent and children, and programs that ask them. */
import type { Schema } from '@tablewright/introspect/schema';
import { collectionOf, columnOf, schemaOf, tableOf, typeOf } from '../../packages/compiler/src/testing/build-schema.ts';

const integer = typeOf('int4', 'integer');
const text = typeOf('text', 'text');
const time = typeOf('timestamptz', 'timestamp');

/** The schema: `things_0`, `things_1`, …, each the parent of the one before. */
export function manyCollections(count: number): Schema {
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  const tables = names.map((name) =>
    tableOf(name, [
      columnOf('id', integer, { nullable: false, fill: { kind: 'identity', always: false } }),
      columnOf('title', text, { nullable: false }),
      columnOf('body', text),
      columnOf('views', integer, { nullable: false }),
      columnOf('created_at', time, { nullable: false }),
      columnOf('parent_id', integer),
    ]),
  );
  const collections = tables.map((table, index) =>
    collectionOf(table, [
      {
        kind: 'o2m',
        name: 'children',
        target: nameOf((index + count - 1) % count),
        on: [{ from: 'id', to: 'parent_id' }],
        inverse: 'parent_id',
        single: false,
        sort: null,
        onDeselect: 'nullify',
        language: null,
      },
      {
        kind: 'm2o',
        name: 'parent_id',
        target: nameOf((index + 1) % count),
        foreignKey: 'fk',
        on: [{ from: 'parent_id', to: 'id' }],
        field: 'parent_id',
        nullable: true,
      },
    ]),
  );
  return schemaOf(tables, collections);
}

/** Programs of ten files with so many queries together. */
export function manyQueries(collections: number, queries: number): Readonly<Record<string, string>> {
  const files = Array.from({ length: 10 }, (_, file) => {
    const asked = Array.from({ length: queries }, (__, index) => index).filter((index) => index % 10 === file);
    const body = asked.map((index) => queryOf(nameOf(index % collections), index)).join('');
    const start = `import { createClient } from './client/admin/index.js';\nconst api = createClient('http://localhost');\n`;
    return [`queries-${file}.ts`, start + body] as const;
  });
  return Object.fromEntries(files);
}

function nameOf(index: number): string {
  return `things_${index}`;
}

function queryOf(collection: string, index: number): string {
  return `
    export async function ask${index}(): Promise<string | undefined> {
      const { data } = await api.items('${collection}').readByQuery({
        fields: ['id', 'title', 'views', 'created_at', 'parent_id.title', 'parent_id.views', 'parent_id.parent_id.title', 'children.title', 'children.id'],
        filter: { title: { _contains: 'a' }, views: { _gt: ${index} } },
        sort: ['-views'],
      });
      return data[0]?.parent_id?.parent_id?.title ?? data[0]?.children[0]?.title;
    }
  `;
}
