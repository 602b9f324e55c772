/** Kinds of change, each as an edit of the world; `expected/` holds what `platform diff` says of each. */
import type { Column, Index, Routine } from '@tablewright/introspect/schema';
import { table } from '../../../packages/introspect/src/testing/facts.ts';
import {
  addColumns,
  addTables,
  all,
  column,
  configure,
  configured,
  dropColumn,
  dropTable,
  type Edit,
  foreignKey,
  inTable,
  relabelled,
  rule,
} from './world.ts';

const rename = (name: string) => (one: { readonly name: string }) => ({ ...one, name });

/** Pages of books, by two columns. */
function composite(nullable: boolean): Edit {
  const mark = nullable ? '' : '!';
  return all(
    addTables({
      books: { columns: ['shelf!:integer', 'place!:integer'], key: ['shelf', 'place'] },
      pages: {
        columns: ['id!=:integer', `shelf${mark}:integer`, `place${mark}:integer`],
        key: ['id'],
        foreignKeys: ['shelf,place > books.shelf,place'],
      },
    }),
  );
}

/** Pages that the reader makes by the relation to their book, over both columns. */
const paged = rule(
  '    settings: { read: true }',
  '    pages: { create: { fields: [books] } }\n    settings: { read: true }',
);

/** Row-level security with one policy. */
const secured = (using: string) => ({
  ...{ enabled: true, forced: false },
  policies: [{ name: 'own', permissive: true, command: 'all' as const, roles: ['public'], using, check: null }],
});

/** A field of texts that a function of the row computes. */
function computed(collection: string, field: string): Edit {
  const [of] = table(collection, { columns: [field] }).columns;
  if (of === undefined) throw new Error('The sketch has no column.');
  const { type, nativeType } = of;
  const argument = { name: '', nativeType: collection, type, optional: false };
  const routine: Routine = {
    ...{ schema: 'public', name: 'compute', signature: `public.compute(public.${collection})`, kind: 'function' },
    ...{ reads: true, arguments: [argument], row: `public.${collection}`, comment: null },
    returns: { kind: 'value', many: false, value: { name: 'value', nativeType, type } },
  };
  return all(
    (one) => ({ ...one, facts: { ...one.facts, routines: [routine] } }),
    configure(() => ({ functions: { compute: { field: `${collection}.${field}` } } })),
  );
}

/** The platform's own table of users. */
const users = addTables({
  platform_users: {
    schema: 'platform',
    columns: ['id!=:uuid', 'email', 'password', 'provider!=', 'security_version!=:integer'],
    key: ['id'],
  },
});

/** Tags of which everybody reads the number and the color, and whose key is a column. */
const archives = configured('articles', { softDelete: { field: 'status', value: 'draft' } });
const purges = rule('delete: { filter: { status: draft } }', 'delete: { filter: { status: draft }, purge: true }');

/** A condition with words that are no columns. */
function zoned(name: string, printed: string): Edit {
  const expression = `(((${printed})::timestamp(3) without time zone < now()) AND (country <> 'zone'::text))`;
  const check = { name: 'zoned', expression, columns: [name, 'country'], allowed: null };
  return all(
    addColumns('authors', name),
    inTable('authors', (one) => ({ ...one, checks: [check] })),
  );
}

const tagsByName = (key: string): Edit =>
  all(
    rule('    tags: { read: true }\n  reader', '    tags: { read: { fields: [id, color] } }\n  reader'),
    inTable('tags', (one) => ({
      ...one,
      primaryKey: table('tags', { columns: [key], key: [key] }).primaryKey,
    })),
  );

/** Rules of the reader about images. */
const images = (rules: string): Edit =>
  rule('    images: { read: true }\n    settings', `    images: ${rules}\n    settings`);

/** Images whose address is a text of so many characters, which the reader writes and does not read. */
const unread = (maxLength: number): Edit =>
  all(
    images('{ create: { fields: [url] }, update: { fields: [url] } }'),
    column('images', 'url', (one) => ({
      ...one,
      nativeType: `varchar(${maxLength})`,
      type: { ...one.type, portable: 'string', base: 'varchar', maxLength },
    })),
  );

/** The number of views as another type of the same form. */
const views = (base: string): Edit =>
  column('articles', 'views', (one) => ({ ...one, nativeType: base, type: { ...one.type, base } }));

/** The body of articles as another type. */
const body = (nativeType: string, type: Partial<Column['type']>): Edit =>
  column('articles', 'body', (one) => ({ ...one, nativeType, type: { ...one.type, ...type } }));

/** The body as a composite value of texts. */
const members = (...names: readonly string[]): Edit =>
  column('articles', 'body', ({ type, ...one }) => ({
    ...one,
    nativeType: 'public.place',
    type: {
      ...{ ...type, portable: 'composite', base: 'public.place', category: 'composite' },
      attributes: names.map((name) => ({ name, nativeType: 'text', type })),
    },
  }));

/** The body as a vector of so many numbers. */
const vector = (dimensions: number): Edit =>
  body(`vector(${dimensions})`, {
    ...{ portable: 'vector', base: 'public.vector', category: 'extension' },
    vector: { dimensions, half: false, iterative: true },
  });

/** The body as a list of texts of so many characters. */
const parts = (maxLength: number): Edit =>
  inTable('articles', (one) => ({
    ...one,
    columns: one.columns.map((each) => {
      if (each.name !== 'body') return each;
      const element = { ...each.type, portable: 'string' as const, base: 'varchar', maxLength };
      const type = { ...each.type, portable: 'array' as const, base: '_varchar', category: 'array' as const, element };
      return { ...each, nativeType: `varchar(${maxLength})[]`, type };
    }),
  }));

/** Tags with one index. */
const indexed = (facts: Pick<Index, 'columns'> & Partial<Index>): Edit =>
  inTable('tags', (one) => ({
    ...one,
    indexes: [{ name: 'i', method: 'btree', include: [], unique: false, predicate: null, ...facts }],
  }));

/** The key of articles by their slug, of which one may be null or many. */
const nulls = (nullsNotDistinct: boolean): Edit =>
  inTable('articles', (one) => ({ ...one, uniques: one.uniques.map((key) => ({ ...key, nullsNotDistinct })) }));

/** Authors with the articles of one of two foreign keys. */
const articlesBy = (shown: string, hidden: string): Edit =>
  all(
    addColumns('articles', 'editor_id:integer'),
    inTable('articles', (one) => ({
      ...one,
      foreignKeys: [
        ...one.foreignKeys,
        ...table('articles', { columns: [], foreignKeys: ['editor_id > authors.id'] }).foreignKeys,
      ],
    })),
    configure(({ relations }) => ({
      relations: {
        ...relations,
        [`authors.articles_by_${shown}`]: { name: 'articles' },
        [`authors.articles_by_${hidden}`]: { hidden: true },
      },
    })),
  );

/** The body of articles as a generated column. */
const made = (expression: string): Edit =>
  column('articles', 'body', (one) => ({
    ...one,
    fill: { kind: 'generated', expression, stored: true },
    updatable: false,
  }));

/** By a name that is a file's. Where the before is another world than the usual one, it is the first of two. */
export const catalogue: Readonly<Record<string, Edit | readonly [before: Edit, after: Edit]>> = {
  'composite-got-a-member': [members('city'), members('city', 'street')],
  'composite-member-renamed': [members('city', 'street'), members('town', 'street')],
  'vector-became-longer': [vector(3), vector(4)],
  'table-added': addTables({ shelves: { columns: ['id!=:integer', 'label!'], key: ['id'] } }),
  'table-added-and-granted': all(
    addTables({ shelves: { columns: ['id!=:integer', 'label!'], key: ['id'] } }),
    rule('  reader:\n    articles', '  reader:\n    shelves: { read: true }\n    articles'),
  ),
  'table-dropped': all(dropTable('totals'), rule('    totals: { read: true }\n', '')),
  'table-renamed': all(
    inTable('headings', (one) => ({ ...one, name: 'titles', id: 'public.titles' })),
    rule('    headings: { read: true }\n    images', '    titles: { read: true }\n    images'),
    rule('    headings: { read: true }\n', '    titles: { read: true }\n'),
    configure(({ manyToAny = [] }) => ({ manyToAny: manyToAny.map((one) => ({ ...one, allowed: ['titles'] })) })),
  ),
  'table-renamed-that-others-refer-to': all(
    inTable('categories', (one) => ({ ...one, name: 'kinds', id: 'public.kinds' })),
    foreignKey('articles', 'category_id', (key) => ({ ...key, target: 'public.kinds' })),
    rule('    categories: { read: true }\n', '    kinds: { read: true }\n'),
  ),
  'column-renamed-with-its-keys': [
    inTable('articles', (one) => ({
      ...one,
      checks: [
        { name: 'articles_slug_check', expression: "((slug)::text <> 'slug'::text)", columns: ['slug'], allowed: null },
      ],
      indexes: [{ name: 'i', method: 'btree', columns: ['slug'], include: [], unique: false, predicate: null }],
    })),
    all(
      inTable('articles', (one) => ({
        ...one,
        columns: one.columns.map((each) => (each.name === 'slug' ? { ...each, name: 'handle' } : each)),
        uniques: one.uniques.map((key) => ({ ...key, columns: ['handle'] })),
        checks: [
          {
            name: 'articles_slug_check',
            expression: "((handle)::text <> 'slug'::text)",
            columns: ['handle'],
            allowed: null,
          },
        ],
        indexes: [{ name: 'i', method: 'btree', columns: ['handle'], include: [], unique: false, predicate: null }],
      })),
      rule('[id, title, slug, status, author_id]', '[id, title, handle, status, author_id]'),
    ),
  ],
  'collection-renamed-in-config': all(
    configured('comments', { name: 'remarks' }),
    rule('    comments: { read: true, create', '    remarks: { read: true, create'),
    rule('    comments: { read: true, update', '    remarks: { read: true, update'),
    configure(() => ({ relations: {} })),
  ),
  'collection-of-another-table': all(
    addTables({ images_v2: { columns: ['id!=:integer', 'url!'], key: ['id'] } }),
    configured('images', { hidden: true }),
    configured('images_v2', { name: 'images' }),
  ),
  'collection-of-a-table-that-was-hidden': [
    all(
      addTables({ images_v2: { columns: ['id!=:integer', 'url!'], key: ['id'] } }),
      configured('images_v2', { hidden: true }),
    ),
    all(
      addTables({ images_v2: { columns: ['id!=:integer', 'url!'], key: ['id'] } }),
      configured('images', { hidden: true }),
      rule('    images: { read: true }\n', ''),
    ),
  ],
  'collection-hidden-in-config': all(configured('totals', { hidden: true }), rule('    totals: { read: true }\n', '')),
  'collection-deprecated': configured('tags', { deprecated: 'Use categories.' }),
  'collection-undeprecated': [configured('tags', { deprecated: 'Use categories.' }), configured('tags', {})],
  'collection-noted': configured('tags', { note: 'Words about articles.' }),
  'collection-sorted': configured('categories', { sort: 'position' }),
  'collection-accountability': configured('comments', { accountability: 'none' }),
  'collection-cached': configured('articles', { cache: { public: '60s' } }),
  'collection-searched-for-words': configured('articles', {
    search: { mode: 'text', fields: ['title', 'body'], language: 'english' },
  }),
  'collection-archives': archives,
  'collection-advises-to-archive': configured('articles', { archive: { field: 'status', value: 'old' } }),
  'singleton-begun': configured('categories', { singleton: true }),
  'singleton-ended': configure(() => ({ collections: {} })),
  'key-of-another-column': inTable('tags', (one) => ({
    ...one,
    primaryKey: table('tags', { columns: ['name'], key: ['name'] }).primaryKey,
  })),
  'key-moves-to-a-hidden-column': [tagsByName('id'), tagsByName('name')],
  'key-moves-to-a-shown-column': [tagsByName('name'), tagsByName('id')],
  'read-granted-to-a-writer': [
    images('{ create: { fields: [url] } }'),
    images('{ read: true, create: { fields: [url] } }'),
  ],
  'item-in-the-place-of-a-key': [
    rule('  reader:\n    articles: { read: true }', '  reader:\n    articles: { read: { fields: [title] } }'),
    all(),
  ],
  'item-in-the-place-of-a-linked-key': [rule('    headings: { read: true }\n    images', '    images'), all()],
  'key-dropped': inTable('images', (one) => ({ ...one, primaryKey: null })),
  'key-given-to-a-view': configured('totals', { key: ['day'] }),
  'view-becomes-writable': inTable('totals', (one) => ({
    ...one,
    writable: { insert: true, update: true, delete: true },
    primaryKey: table('t', { columns: ['day'], key: ['day'] }).primaryKey,
  })),
  'table-becomes-view': inTable('images', (one) => ({
    ...one,
    kind: 'view',
    writable: { insert: false, update: false, delete: false },
  })),

  'column-added': addColumns('articles', 'subtitle'),
  'column-added-with-default': addColumns('articles', 'subtitle!='),
  'column-added-required': addColumns('authors', 'born!:integer'),
  'column-dropped': dropColumn('articles', 'body'),
  'column-dropped-unused': dropColumn('images', 'url'),
  'fields-changed-places': configured('authors', {
    fields: { email: { name: 'country' }, country: { name: 'email' } },
  }),
  'generated-otherwise': [made('(title || slug)'), made('(slug || title)')],
  'column-renamed': column('authors', 'country', (one) => ({ ...one, ...rename('nation')(one) })),
  'column-renamed-to-a-keyword': [zoned('zone', 'zone'), zoned('order', '"order"')],
  'column-renamed-in-rules': all(
    column('articles', 'status', (one) => ({ ...one, ...rename('state')(one) })),
    rule(
      'slug, status, author_id], filter: { status: published }',
      'slug, state, author_id], filter: { state: published }',
    ),
    rule('filter: { status: { _in', 'filter: { state: { _in'),
    rule('filter: { status: draft }', 'filter: { state: draft }'),
  ),
  'field-renamed-in-config': configured('authors', { fields: { email: { name: 'mail' } } }),
  'column-made-computed': all(
    inTable('authors', (one) => ({ ...one, columns: one.columns.filter(({ name }) => name !== 'email') })),
    computed('authors', 'email'),
  ),
  'field-hidden-in-config': configured('authors', { fields: { email: { hidden: true } } }),
  'field-deprecated': configured('authors', { fields: { email: { deprecated: 'Ask them.' } } }),
  'field-undeprecated': [
    configured('authors', { fields: { email: { deprecated: 'Ask them.' } } }),
    configured('authors', {}),
  ],
  'field-noted': column('authors', 'email', (one) => ({ ...one, comment: 'Where to write to.' })),
  'field-required-in-config': configured('authors', { fields: { email: { required: true } } }),
  'type-integer-to-bigint': column('articles', 'views', (one) => ({
    ...one,
    nativeType: 'bigint',
    type: { ...one.type, portable: 'bigInteger', base: 'int8' },
  })),
  'type-integer-to-smallint': [views('int4'), views('int2')],
  'type-smallint-to-integer': [views('int2'), views('int4')],
  'type-mediumint-to-int': [views('mediumint'), views('int')],
  'type-int-to-unsigned': [views('int'), views('int unsigned')],
  'type-json-to-jsonb': [
    body('json', { portable: 'json', base: 'json' }),
    body('jsonb', { portable: 'json', base: 'jsonb' }),
  ],
  'set-label-removed': [
    body("set('a','b')", { portable: 'csv', base: 'set', values: ['a', 'b'] }),
    body("set('a')", { portable: 'csv', base: 'set', values: ['a'] }),
  ],
  'type-text-to-unknown': body('tsvector', { portable: 'unknown', base: 'tsvector' }),
  'type-unknown-to-text': [body('tsvector', { portable: 'unknown', base: 'tsvector' }), all()],
  'type-range-to-another': [
    body('numrange', { portable: 'unknown', base: 'numrange', category: 'range' }),
    body('daterange', { portable: 'unknown', base: 'daterange', category: 'range' }),
  ],
  'time-without-fraction': column('articles', 'created_at', (one) => ({
    ...one,
    nativeType: 'timestamp(0) with time zone',
    type: { ...one.type, precision: 0 },
  })),
  'elements-shortened': [parts(80), parts(40)],
  'domain-added': body('public.markdown', {
    domains: [{ name: 'public.markdown', notNull: false, checks: ["(VALUE <> ''::text)"] }],
  }),
  'domain-removed': [
    body('public.markdown', {
      domains: [{ name: 'public.markdown', notNull: false, checks: ["(VALUE <> ''::text)"] }],
    }),
    all(),
  ],
  'type-text-to-integer': column('authors', 'country', (one) => ({
    ...one,
    nativeType: 'integer',
    type: { ...one.type, portable: 'integer', base: 'int4' },
  })),
  'type-text-to-json': column('articles', 'body', (one) => ({
    ...one,
    nativeType: 'jsonb',
    type: { ...one.type, portable: 'json', base: 'jsonb' },
  })),
  'type-varchar-to-text': column('articles', 'title', (one) => ({
    ...one,
    nativeType: 'text',
    type: { ...one.type, portable: 'text', base: 'text', maxLength: null },
  })),
  'type-timestamp-to-date': column('articles', 'created_at', (one) => ({
    ...one,
    nativeType: 'date',
    type: { ...one.type, portable: 'date', base: 'date' },
  })),
  'type-to-hash': configured('authors', { fields: { email: { type: 'hash' } } }),
  'type-to-csv': configured('authors', { fields: { country: { type: 'csv' } } }),
  'type-key-to-uuid': column('images', 'id', (one) => ({
    ...one,
    nativeType: 'uuid',
    type: { ...one.type, portable: 'uuid', base: 'uuid' },
  })),
  'column-now-nullable': column('authors', 'name', (one) => ({ ...one, nullable: true })),
  'column-not-null': column('authors', 'email', (one) => ({ ...one, nullable: false })),
  'column-not-null-with-default': column('authors', 'email', (one) => ({
    ...one,
    nullable: false,
    fill: { kind: 'default', expression: "''" },
  })),
  'default-changed': column('articles', 'views', (one) => ({ ...one, fill: { kind: 'default', expression: '1' } })),
  'default-dropped': column('articles', 'views', (one) => ({ ...one, fill: { kind: 'none' } })),
  'default-added': column('articles', 'slug', (one) => ({
    ...one,
    fill: { kind: 'default', expression: 'md5(random()::text)' },
  })),
  'column-becomes-generated': column('articles', 'slug', (one) => ({
    ...one,
    fill: { kind: 'generated', expression: 'lower(title)', stored: true },
  })),
  'collation-changed': column('authors', 'name', (one) => ({ ...one, collation: 'pg_catalog.C' })),
  'length-reduced': column('articles', 'title', (one) => ({
    ...one,
    nativeType: 'varchar(40)',
    type: { ...one.type, maxLength: 40 },
  })),
  'length-raised': column('articles', 'title', (one) => ({
    ...one,
    nativeType: 'varchar(120)',
    type: { ...one.type, maxLength: 120 },
  })),
  'precision-reduced': column('articles', 'rating', (one) => ({
    ...one,
    nativeType: 'numeric(4,2)',
    type: { ...one.type, precision: 4 },
  })),
  'precision-raised': column('articles', 'rating', (one) => ({
    ...one,
    nativeType: 'numeric(9,2)',
    type: { ...one.type, precision: 9 },
  })),
  'enum-label-added': relabelled(['calm', 'loud', 'wild']),
  'enum-label-removed': relabelled(['calm']),
  'enum-labels-reordered': relabelled(['loud', 'calm']),
  'values-added': column('articles', 'status', (one) => ({
    ...one,
    type: { ...one.type, values: ['draft', 'published', 'archived'] },
  })),
  'values-unlisted': column('articles', 'status', (one) => ({ ...one, type: { ...one.type, values: null } })),
  'values-listed': column('authors', 'country', (one) => ({ ...one, type: { ...one.type, values: ['AT', 'DE'] } })),

  'foreign-key-added': inTable('settings', (one) => ({
    ...one,
    columns: [
      ...one.columns.filter(({ name }) => name !== 'theme'),
      ...table('x', { columns: ['theme:integer'] }).columns,
    ],
    foreignKeys: table('settings', { columns: [], foreignKeys: ['theme > categories.id'] }).foreignKeys,
  })),
  'column-added-with-constraints': inTable('tags', (one) => {
    const sketch = {
      columns: ['author_id:integer', 'code', 'place!=:integer'],
      uniques: [['code'], ['place']],
      foreignKeys: ['author_id > authors.id'],
    };
    const added = table('tags', sketch);
    const made = table('tags', { columns: ['shade'] }).columns.map((column) => ({
      ...column,
      fill: { kind: 'generated', expression: 'upper(color)', stored: true } as const,
      updatable: false,
    }));
    const check = { name: 'place', expression: 'place > 0', columns: ['place'], allowed: null };
    return {
      ...one,
      columns: [...one.columns, ...added.columns, ...made],
      uniques: added.uniques,
      foreignKeys: added.foreignKeys,
      indexes: [
        ...['(lower((code)::text))', "(COALESCE(code, ''::text))"].map((part) => {
          return { name: part, method: 'btree', columns: [part], include: [], unique: true, predicate: null };
        }),
      ],
      checks: [
        check,
        { ...check, name: 'both', expression: 'place > length(color)', columns: ['place', 'color'] },
        { ...check, name: 'made', expression: "shade <> 'RED'", columns: ['shade'] },
      ],
    };
  }),
  'foreign-key-dropped': all(
    inTable('comments', (one) => ({ ...one, foreignKeys: [] })),
    configure(() => ({ relations: {} })),
  ),
  'foreign-key-retargeted': foreignKey('articles', 'category_id', (key) => ({ ...key, target: 'public.tags' })),
  'foreign-key-made-optional': column('comments', 'article_id', (one) => ({ ...one, nullable: true })),
  'foreign-key-made-unique': inTable('comments', (one) => ({
    ...one,
    uniques: table('comments', { columns: [], uniques: [['article_id']] }).uniques,
  })),
  'on-delete-cascades': foreignKey('comments', 'article_id', (key) => ({ ...key, onDelete: 'cascade' })),
  'relation-renamed': configure(({ relations }) => ({
    relations: { ...relations, 'articles.comments': { name: 'remarks' } },
  })),
  'relation-hidden-in-config': configure(({ relations }) => ({
    relations: { ...relations, 'categories.articles': { hidden: true } },
  })),
  'relation-deprecated': configure(({ relations }) => ({
    relations: { ...relations, 'articles.comments': { deprecated: 'Ask for them.' } },
  })),
  'relation-undeprecated': [
    configure(({ relations }) => ({
      relations: { ...relations, 'articles.comments': { deprecated: 'Ask for them.' } },
    })),
    configure(() => ({})),
  ],
  'relation-granted': [
    rule('authors: { read: { fields: [id, name, articles] } }', 'authors: { read: { fields: [id, name] } }'),
    all(),
  ],
  'relation-deselect-keeps': [
    configure(({ relations }) => ({ relations: { ...relations, 'articles.comments': { onDeselect: 'delete' } } })),
    all(),
  ],
  'foreign-key-no-longer-unique': [
    inTable('comments', (one) => ({
      ...one,
      uniques: table('comments', { columns: [], uniques: [['article_id']] }).uniques,
    })),
    all(),
  ],
  'foreign-key-of-two-columns-made-optional': [composite(false), composite(true)],
  'foreign-key-of-two-columns-made-needed': [composite(true), composite(false)],
  'foreign-key-of-two-columns-made-needed-where-the-role-gives-it': [
    all(composite(true), paged),
    all(composite(false), paged),
  ],
  'relation-of-another-kind': [
    configure(({ relations }) => ({ relations: { ...relations, 'articles.comments': { name: 'extras' } } })),
    configure(({ manyToAny = [] }) => ({ manyToAny: manyToAny.map((one) => ({ ...one, field: 'extras' })) })),
  ],
  'relation-by-another-column': [articlesBy('author_id', 'editor_id'), articlesBy('editor_id', 'author_id')],
  'relation-sorted': configure(({ relations }) => ({
    relations: { ...relations, 'articles.comments': { sort: 'body' } },
  })),
  'relation-deselect-deletes': configure(({ relations }) => ({
    relations: { ...relations, 'articles.comments': { onDeselect: 'delete' } },
  })),
  'link-target-added': configure(({ manyToAny = [] }) => ({
    manyToAny: manyToAny.map((one) => ({ ...one, allowed: ['headings', 'images'] })),
  })),
  'link-target-removed': [
    configure(({ manyToAny = [] }) => ({
      manyToAny: manyToAny.map((one) => ({ ...one, allowed: ['headings', 'images'] })),
    })),
    configure(() => ({})),
  ],
  'junction-dropped': all(
    dropTable('articles_tags'),
    rule('    articles_tags: { read: true, create: true }\n', ''),
    rule('    articles_tags: { read: true }\n', ''),
  ),

  'unique-added': inTable('tags', (one) => ({
    ...one,
    uniques: table('tags', { columns: [], uniques: [['name']] }).uniques,
  })),
  'unique-dropped': inTable('articles', (one) => ({ ...one, uniques: [] })),
  'check-added': inTable('articles', (one) => ({
    ...one,
    checks: [{ name: 'articles_views_check', expression: 'views >= 0', columns: ['views'], allowed: null }],
  })),
  'check-changed': [
    inTable('articles', (one) => ({
      ...one,
      checks: [{ name: 'articles_views_check', expression: 'views >= 0', columns: ['views'], allowed: null }],
    })),
    inTable('articles', (one) => ({
      ...one,
      checks: [{ name: 'articles_views_check', expression: 'views > 0', columns: ['views'], allowed: null }],
    })),
  ],
  'check-renamed': [
    inTable('articles', (one) => ({
      ...one,
      checks: [{ name: 'old', expression: 'views >= 0', columns: ['views'], allowed: null }],
    })),
    inTable('articles', (one) => ({
      ...one,
      checks: [{ name: 'renamed', expression: 'views >= 0', columns: ['views'], allowed: null }],
    })),
  ],
  'check-dropped': [
    inTable('articles', (one) => ({
      ...one,
      checks: [{ name: 'articles_views_check', expression: 'views >= 0', columns: ['views'], allowed: null }],
    })),
    all(),
  ],
  'index-added': inTable('articles', (one) => ({
    ...one,
    indexes: [{ name: 'i', method: 'btree', columns: ['views'], include: [], unique: false, predicate: null }],
  })),
  'index-dropped': [
    inTable('articles', (one) => ({
      ...one,
      indexes: [{ name: 'i', method: 'btree', columns: ['views'], include: [], unique: false, predicate: null }],
    })),
    all(),
  ],
  'index-made-unique': [indexed({ columns: ['name'] }), indexed({ columns: ['name'], unique: true })],
  'unique-index-of-some-rows-added': indexed({ columns: ['name'], unique: true, predicate: '(color IS NULL)' }),
  'unique-index-of-an-expression-added': indexed({ columns: ['(lower(name))'], unique: true }),
  'unique-index-of-some-rows-became-one-of-all': [
    indexed({ columns: ['name'], unique: true, predicate: '(color IS NULL)' }),
    indexed({ columns: ['name'], unique: true }),
  ],
  'unique-index-of-all-rows-became-one-of-some': [
    indexed({ columns: ['name'], unique: true }),
    indexed({ columns: ['name'], unique: true, predicate: '(color IS NULL)' }),
  ],
  'unique-of-nulls-too': [nulls(false), nulls(true)],
  'unique-of-nulls-no-more': [nulls(true), nulls(false)],
  'unique-got-a-column': inTable('articles', (one) => ({
    ...one,
    uniques: table('articles', { columns: [], uniques: [['slug', 'title']] }).uniques,
  })),
  'unique-columns-reordered': [
    inTable('articles', (one) => ({
      ...one,
      uniques: table('articles', { columns: [], uniques: [['title', 'slug']] }).uniques,
    })),
    inTable('articles', (one) => ({
      ...one,
      uniques: table('articles', { columns: [], uniques: [['slug', 'title']] }).uniques,
    })),
  ],
  'column-renamed-in-the-database-alone': [
    all(),
    all(
      inTable('articles', (one) => ({
        ...one,
        columns: one.columns.map((each) => (each.name === 'slug' ? { ...each, name: 'handle' } : each)),
        uniques: one.uniques.map((key) => ({ ...key, columns: ['handle'] })),
      })),
      configured('articles', { fields: { handle: { name: 'slug' } } }),
    ),
  ],
  'foreign-key-to-another-column': [
    addColumns('categories', 'code!:integer'),
    all(
      addColumns('categories', 'code!:integer'),
      foreignKey('articles', 'category_id', (key) => ({ ...key, targetColumns: ['code'] })),
    ),
  ],
  'foreign-key-validated': [foreignKey('comments', 'article_id', (key) => ({ ...key, validated: false })), all()],
  'foreign-key-enforced-no-more': foreignKey('comments', 'article_id', (key) => {
    return { ...key, validated: false, enforced: false };
  }),
  'foreign-key-enforced': [
    foreignKey('comments', 'article_id', (key) => ({ ...key, validated: false, enforced: false })),
    all(),
  ],
  'foreign-key-added-that-is-not-enforced': [
    inTable('articles', (one) => ({
      ...one,
      foreignKeys: one.foreignKeys.filter(({ columns }) => !columns.includes('category_id')),
    })),
    foreignKey('articles', 'category_id', (key) => ({ ...key, validated: false, enforced: false })),
  ],
  'foreign-key-not-valid': foreignKey('comments', 'article_id', (key) => ({ ...key, validated: false })),
  'on-update-cascades': foreignKey('comments', 'article_id', (key) => ({ ...key, onUpdate: 'cascade' })),
  'key-added-with-its-column': [
    inTable('images', (one) => ({ ...one, primaryKey: null })),
    all(
      addColumns('images', 'number!:integer'),
      column('images', 'number', (one) => ({ ...one, fill: { kind: 'identity', always: true }, updatable: false })),
      inTable('images', (one) => ({
        ...one,
        primaryKey: table('images', { columns: [], key: ['number'] }).primaryKey,
      })),
    ),
  ],

  'row-security-on': inTable('articles', (one) => ({ ...one, rowSecurity: { enabled: true, forced: false } })),
  'row-policies-changed': [
    inTable('articles', (one) => ({ ...one, rowSecurity: secured('(author_id = 1)') })),
    inTable('articles', (one) => ({ ...one, rowSecurity: secured('(author_id = 2)') })),
  ],
  'row-security-off': [
    inTable('articles', (one) => ({ ...one, rowSecurity: { enabled: true, forced: false } })),
    all(),
  ],

  'users-installed': users,
  'users-removed': [users, all()],
  'callers-passed-on': configure(() => ({ database: { rowSecurity: { claims: 'request.jwt.claims' } } })),
  'callers-passed-on-otherwise': [
    configure(() => ({ database: { rowSecurity: { claims: 'request.jwt.claims' } } })),
    configure(() => ({ database: { rowSecurity: { claims: 'app.claims', roles: { public: 'anon' } } } })),
  ],
  'callers-kept': [configure(() => ({ database: { rowSecurity: { claims: 'request.jwt.claims' } } })), all()],
  'connections-added': configure(() => ({ graphql: { connections: true } })),
  'connections-removed': [configure(() => ({ graphql: { connections: true } })), all()],
  'graphql-enums': configure(() => ({ graphql: { enums: 'all' } })),
  'graphql-enum-label-added': [
    configure(() => ({ graphql: { enums: 'all' } })),
    all(
      configure(() => ({ graphql: { enums: 'all' } })),
      relabelled(['calm', 'loud', 'wild']),
    ),
  ],
  'graphql-enum-label-removed': [
    configure(() => ({ graphql: { enums: 'all' } })),
    all(
      configure(() => ({ graphql: { enums: 'all' } })),
      relabelled(['calm']),
    ),
  ],
  'graphql-off': configure(() => ({ graphql: false })),
  'graphql-on': [configure(() => ({ graphql: false })), all()],
  'role-added': rule('  reader: {}\n', '  reader: {}\n  guest: {}\n'),
  'role-removed': [all(rule('  reader: {}\n', '  reader: {}\n  guest: {}\n')), all()],
  'role-made-administrator': all(rule('  reader: {}\n', '  reader: { admin: true }\n')),
  'role-unmade-administrator': [all(rule('  reader: {}\n', '  reader: { admin: true }\n')), all()],
  'role-given-app-access': rule('  reader: {}\n', '  reader: { app: true }\n'),
  'read-granted': rule(
    '    tags: { read: true }\n  reader',
    '    tags: { read: true }\n    categories: { read: true }\n  reader',
  ),
  'read-revoked': rule('    tags: { read: true }\n  reader', '  reader'),
  'create-granted': rule('    categories: { read: true }\n', '    categories: { read: true, create: true }\n'),
  'update-revoked': rule(
    'authors: { read: true, create: true, update: true }',
    'authors: { read: true, create: true }',
  ),
  'purge-granted': [archives, all(archives, purges)],
  'purge-revoked': [all(archives, purges), archives],
  'delete-revoked': rule(', delete: { filter: { status: draft } } }', ' }'),
  'field-granted': rule(
    'authors: { read: { fields: [id, name, articles] } }',
    'authors: { read: { fields: [id, name, email, articles] } }',
  ),
  'field-revoked': rule('[id, title, slug, status, author_id]', '[id, title, status, author_id]'),
  'relation-revoked': rule(
    'authors: { read: { fields: [id, name, articles] } }',
    'authors: { read: { fields: [id, name] } }',
  ),
  'input-granted': rule(
    'tags: { read: true, create: { fields: [name], ',
    'tags: { read: true, create: { fields: [id, name], ',
  ),
  'input-revoked': rule(
    'authors: { read: true, create: true, update: true }',
    'authors: { read: true, create: true, update: { fields: [name] } }',
  ),
  'rows-narrowed': rule('filter: { status: { _in: [draft, published] } }', 'filter: { status: { _in: [draft] } }'),
  'rows-widened': rule('slug, status, author_id], filter: { status: published }', 'slug, status, author_id]'),
  'rows-changed': rule(
    'slug, status, author_id], filter: { status: published }',
    'slug, status, author_id], filter: { views: { _gt: 3 } }',
  ),
  'field-masked-by-a-second-rule': rule(
    '{ fields: [id, title, slug, status, author_id], filter: { status: published } }',
    '[{ fields: [id, title, slug, status, author_id], filter: { status: published } }, { fields: [id, title], filter: { status: draft } }]',
  ),
  'validation-tightened': rule(
    'validation: { body: { _nempty: true } }',
    'validation: { body: { _nempty: true }, article_id: { _gt: 1 } }',
  ),
  'validation-loosened': rule(', validation: { body: { _nempty: true } }', ''),
  'validation-changed': rule('validation: { body: { _nempty: true } }', 'validation: { body: { _neq: x } }'),
  'preset-changed': rule('presets: { color: red }', 'presets: { color: blue }'),
  'preset-added': rule('presets: { color: red }', 'presets: { color: red, id: 7 }'),
  'preset-removed': rule(', presets: { color: red }', ''),
  'preset-of-a-second-rule': [
    images('{ create: [{ fields: [id], presets: { url: a } }, { fields: [id, url] }] }'),
    images('{ create: [{ fields: [id], presets: { url: a } }, { fields: [id, url], presets: { url: b } }] }'),
  ],
  'preset-of-a-needed-field-removed': [
    images('{ read: true, create: { fields: [id], presets: { url: a } } }'),
    images('{ read: true, create: { fields: [id] } }'),
  ],
  'column-added-that-nobody-gives': [
    images('{ read: { fields: [id, url] }, create: { fields: [url] } }'),
    all(images('{ read: { fields: [id, url] }, create: { fields: [url] } }'), addColumns('images', 'width!:integer')),
  ],
  'field-rows-widened': [
    images('{ read: [{ fields: [id] }, { fields: [url], filter: { id: 1 } }] }'),
    images('{ read: [{ fields: [id] }, { fields: [url], filter: { id: { _in: [1, 2] } } }] }'),
  ],
  'field-rows-narrowed': [
    images('{ read: true, update: [{ fields: [id] }, { fields: [url] }] }'),
    images('{ read: true, update: [{ fields: [id] }, { fields: [url], filter: { id: 1 } }] }'),
  ],
  'field-rows-changed': [
    images('{ read: [{ fields: [id], filter: { id: 1 } }, { fields: [url], filter: { id: 2 } }] }'),
    images('{ read: [{ fields: [id], filter: { id: 2 } }, { fields: [url], filter: { id: 1 } }] }'),
  ],
  'rules-reordered': [
    images('{ read: [{ fields: [id] }, { fields: [url], filter: { id: 1 } }] }'),
    images('{ read: [{ fields: [url], filter: { id: 1 } }, { fields: [id] }] }'),
  ],
  'field-validation-tightened': [
    images('{ read: true, update: [{ fields: [id], validation: { id: 1 } }, { fields: [url], validation: {} }] }'),
    images(
      '{ read: true, update: [{ fields: [id], validation: { id: 1 } }, { fields: [url], validation: { id: 1 } }, { fields: [id], validation: {} }] }',
    ),
  ],
  'validations-change-places': [
    images(
      '{ read: true, update: [{ fields: [url], filter: { url: a }, validation: { id: 1 } }, { fields: [url], filter: { url: b }, validation: { id: 2 } }] }',
    ),
    images(
      '{ read: true, update: [{ fields: [url], filter: { url: a }, validation: { id: 2 } }, { fields: [url], filter: { url: b }, validation: { id: 1 } }] }',
    ),
  ],

  'unread-input-shortened': [unread(80), unread(40)],
  'unread-input-lengthened': [unread(40), unread(80)],
  'unread-input-renamed': [
    unread(80),
    all(
      unread(80),
      column('images', 'url', (one) => ({ ...one, ...rename('link')(one) })),
      rule('create: { fields: [url] }', 'create: { fields: [link] }'),
      rule('update: { fields: [url] }', 'update: { fields: [link] }'),
    ),
  ],
  'unread-input-retyped': [
    unread(80),
    all(
      unread(80),
      column('images', 'url', (one) => ({
        ...one,
        nativeType: 'integer',
        type: { ...one.type, portable: 'integer', base: 'int4', maxLength: null },
      })),
    ),
  ],
  'unread-input-values-removed': [
    all(
      unread(80),
      column('images', 'url', (one) => ({ ...one, type: { ...one.type, values: ['a', 'b'] } })),
    ),
    all(
      unread(80),
      column('images', 'url', (one) => ({ ...one, type: { ...one.type, values: ['b'] } })),
    ),
  ],
  'unread-input-noted': [
    unread(80),
    all(
      unread(80),
      column('images', 'url', (one) => ({ ...one, comment: 'Where it lies.' })),
    ),
  ],
};
