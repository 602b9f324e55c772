/** A small shop of words in which one thing at a time is changed: tables, configuration and rules as data. */
import type { Diagnostic, SchemaFacts } from '@tablewright/introspect';
import type { PlatformConfig } from '@tablewright/introspect/config';
import type { Column, ForeignKey, Schema, Table } from '@tablewright/introspect/schema';
import { facts, table } from '../../../packages/introspect/src/testing/facts.ts';
import { resolveFacts } from '../../../packages/introspect/src/testing/resolve.ts';

/** What a schema is made of. */
export interface World {
  readonly facts: SchemaFacts;
  readonly config: PlatformConfig;
  readonly permissions: string;
}

/** One change of a world. */
export type Edit = (world: World) => World;

const permissions = `roles:
  editor: {}
  reader: {}
permissions:
  public:
    articles: { read: { fields: [id, title, slug, status, author_id], filter: { status: published } } }
    authors: { read: { fields: [id, name, articles] } }
    tags: { read: true }
  reader:
    articles: { read: true }
    authors: { read: true }
    categories: { read: true }
    comments: { read: true, create: { fields: [article_id, body], validation: { body: { _nempty: true } } } }
    tags: { read: true }
    articles_tags: { read: true }
    sections: { read: true }
    headings: { read: true }
    images: { read: true }
    settings: { read: true }
    totals: { read: true }
  editor:
    articles: { read: true, create: true, update: { fields: "*", filter: { status: { _in: [draft, published] } } }, delete: { filter: { status: draft } } }
    authors: { read: true, create: true, update: true }
    comments: { read: true, update: true, delete: true }
    tags: { read: true, create: { fields: [name], presets: { color: red } }, update: true }
    articles_tags: { read: true, create: true }
    headings: { read: true }
`;

/** The world before every change. */
export const world: World = {
  facts: withDetails(
    facts({
      authors: { columns: ['id!=:integer', 'name!', 'email', 'country'], key: ['id'] },
      categories: { columns: ['id!=:integer', 'name!', 'position:integer'], key: ['id'] },
      articles: {
        columns: [
          'id!=:integer',
          'title!',
          'slug!',
          'status!=',
          'body',
          'views!=:integer',
          'rating:numeric',
          'created_at!=:timestamptz',
          'author_id:integer',
          'category_id:integer',
        ],
        key: ['id'],
        uniques: [['slug']],
        foreignKeys: ['author_id > authors.id', 'category_id > categories.id'],
      },
      comments: {
        columns: ['id!=:integer', 'article_id!:integer', 'body!'],
        key: ['id'],
        foreignKeys: ['article_id > articles.id'],
      },
      tags: { columns: ['id!=:integer', 'name!', 'color'], key: ['id'] },
      articles_tags: {
        columns: ['article_id!:integer', 'tag_id!:integer'],
        key: ['article_id', 'tag_id'],
        foreignKeys: ['article_id > articles.id', 'tag_id > tags.id'],
      },
      sections: {
        columns: ['id!=:integer', 'article_id:integer', 'kind!', 'item!', 'position:integer'],
        key: ['id'],
        foreignKeys: ['article_id > articles.id'],
      },
      headings: { columns: ['id!=:integer', 'text!'], key: ['id'] },
      images: { columns: ['id!=:integer', 'url!'], key: ['id'] },
      settings: { columns: ['id!=:integer', 'theme', 'mood!='], key: ['id'] },
      totals: { columns: ['day', 'amount:numeric'], kind: 'view', readOnly: true },
    }),
  ),
  config: {
    collections: { settings: { singleton: true } },
    relations: { 'articles.comments': { onDeselect: 'nullify' } },
    manyToAny: [
      {
        collection: 'articles',
        field: 'sections',
        link: 'sections',
        linkField: 'article_id',
        collectionField: 'kind',
        itemField: 'item',
        allowed: ['headings'],
      },
    ],
  },
  permissions,
};

/** Resolves a world; throws for one with errors. */
export function schemaOf({ facts: of, config, permissions: text }: World): Schema {
  const { schema, diagnostics } = resolveFacts(of, { config, permissions: text });
  const errors = diagnostics.filter(({ severity }: Diagnostic) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return schema;
}

/** What sketches cannot say: lists, lengths, digits and labels. */
function withDetails(plain: SchemaFacts): SchemaFacts {
  const mood = { schema: 'public', name: 'mood', labels: ['calm', 'loud'], comment: null };
  const edits: readonly Edit[] = [
    column('articles', 'title', (one) => ({
      ...one,
      nativeType: 'varchar(80)',
      type: { ...one.type, portable: 'string', base: 'varchar', maxLength: 80 },
    })),
    column('articles', 'status', (one) => ({
      ...one,
      fill: { kind: 'default', expression: "'draft'::text" },
      type: { ...one.type, values: ['draft', 'published'] },
    })),
    column('articles', 'rating', (one) => ({
      ...one,
      nativeType: 'numeric(6,2)',
      type: { ...one.type, precision: 6, scale: 2 },
    })),
    column('settings', 'mood', labelled(mood.labels)),
  ];
  const start: World = { facts: { ...plain, enums: [mood] }, config: {}, permissions: '' };
  return edits.reduce((one, edit) => edit(one), start).facts;
}

/** A column of the enum `mood` with these labels. */
export function labelled(labels: readonly string[]): (column: Column) => Column {
  return (one) => ({
    ...one,
    nativeType: 'public.mood',
    type: { ...one.type, portable: 'enum', base: 'public.mood', category: 'enum', enum: 'public.mood', values: labels },
  });
}

/** Gives the enum `mood`, and the column that is of it, other labels. */
export function relabelled(labels: readonly string[]): Edit {
  const edit = column('settings', 'mood', labelled(labels));
  return (one) => {
    const { facts } = edit(one);
    return { ...one, facts: { ...facts, enums: facts.enums.map((type) => ({ ...type, labels })) } };
  };
}

/** Changes one table. */
export function inTable(name: string, change: (table: Table) => Table): Edit {
  return (one) => {
    const tables = one.facts.tables.map((table) => (table.name === name ? change(table) : table));
    if (tables.every((table, at) => table === one.facts.tables[at])) throw new Error(`There is no table ${name}.`);
    return { ...one, facts: { ...one.facts, tables } };
  };
}

/** Changes one column. */
export function column(name: string, of: string, change: (column: Column) => Column): Edit {
  return inTable(name, (one) => {
    if (!one.columns.some((each) => each.name === of)) throw new Error(`There is no column ${of}.`);
    return { ...one, columns: one.columns.map((each) => (each.name === of ? change(each) : each)) };
  });
}

/** Adds columns as sketches write them. */
export function addColumns(name: string, ...sketches: readonly string[]): Edit {
  return inTable(name, (one) => ({ ...one, columns: [...one.columns, ...table('x', { columns: sketches }).columns] }));
}

/** Drops a column with the keys that it is part of. */
export function dropColumn(name: string, of: string): Edit {
  const without = <T extends { readonly columns: readonly string[] }>(keys: readonly T[]): readonly T[] =>
    keys.filter(({ columns }) => !columns.includes(of));
  return inTable(name, (one) => ({
    ...one,
    columns: one.columns.filter((each) => each.name !== of),
    uniques: without(one.uniques),
    foreignKeys: without(one.foreignKeys),
  }));
}

/** Changes the foreign key of a column. */
export function foreignKey(name: string, of: string, change: (key: ForeignKey) => ForeignKey): Edit {
  return inTable(name, (one) => ({
    ...one,
    foreignKeys: one.foreignKeys.map((key) => (key.columns.includes(of) ? change(key) : key)),
  }));
}

/** Adds tables as sketches write them. */
export function addTables(sketches: Parameters<typeof facts>[0]): Edit {
  return (one) => ({ ...one, facts: { ...one.facts, tables: [...one.facts.tables, ...facts(sketches).tables] } });
}

/** Drops a table. */
export function dropTable(name: string): Edit {
  return (one) => ({ ...one, facts: { ...one.facts, tables: one.facts.tables.filter((each) => each.name !== name) } });
}

/** Replaces a text of the permissions that must be there. */
export function rule(from: string, to: string): Edit {
  return (one) => {
    if (!one.permissions.includes(from)) throw new Error(`No rule says ${from}.`);
    return { ...one, permissions: one.permissions.replace(from, to) };
  };
}

/** Changes the configuration of a collection. */
export function configured(collection: string, more: NonNullable<PlatformConfig['collections']>[string]): Edit {
  return configure(({ collections }) => ({
    collections: { ...collections, [collection]: { ...collections?.[collection], ...more } },
  }));
}

/** Changes the configuration. */
export function configure(change: (config: PlatformConfig) => Partial<PlatformConfig>): Edit {
  return (one) => ({ ...one, config: { ...one.config, ...change(one.config) } });
}

/** One edit after the other. */
export function all(...edits: readonly Edit[]): Edit {
  return (one) => edits.reduce((made, edit) => edit(made), one);
}
