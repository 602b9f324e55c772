/** A small compiled API for the tests of planning: a magazine, with every kind of relation. */
import type {
  AccessClass,
  CollectionDescriptor,
  CompiledApi,
  Condition,
  FieldDescriptor,
  RelationDescriptor,
} from '../../language/index.ts';

type FieldOptions = Partial<Omit<FieldDescriptor, 'name'>>;

function field(name: string, options: FieldOptions = {}): FieldDescriptor {
  const integer: Pick<FieldDescriptor, 'type' | 'native' | 'wire'> = {
    type: 'integer',
    native: 'int4',
    wire: { kind: 'i4' },
  };
  return { name, column: `"${name}"`, nullable: true, writable: true, ...integer, ...options };
}

const text: FieldOptions = { type: 'text', native: 'text', wire: { kind: 'text' } };
const bigint: FieldOptions = { type: 'bigInteger', native: 'int8', wire: { kind: 'i8' } };
const json: FieldOptions = { type: 'json', native: 'jsonb', wire: { kind: 'jsonb' } };
const instant: FieldOptions = { type: 'timestamp', native: 'timestamptz', wire: { kind: 'timestamptz' } };

function collection(
  name: string,
  fields: readonly FieldDescriptor[],
  relations: readonly RelationDescriptor[] = [],
  more: Partial<CollectionDescriptor> = {},
): CollectionDescriptor {
  const table = `"public"."${name}"`;
  return { name, table, key: ['id'], singleton: false, writable: true, fields, relations, ...more };
}

/** Collections sorted by name. */
export const collections: readonly CollectionDescriptor[] = [
  collection(
    'articles',
    [
      field('id', bigint),
      field('title', { type: 'string', native: 'varchar', wire: { kind: 'text' } }),
      field('slug', {
        type: 'text',
        native: 'text',
        comparison: '::pg_catalog.text',
        wire: { kind: 'text', cast: '::text' },
      }),
      field('status', {
        type: 'enum',
        native: '"public"."article_status"',
        wire: { kind: 'text', cast: '::text' },
        values: ['draft', 'published'],
      }),
      field('rating', { type: 'decimal', native: 'numeric', wire: { kind: 'text', cast: '::text' } }),
      field('views', { native: 'int2', wire: { kind: 'i2' } }),
      field('published_at', instant),
      field('metadata', json),
      field('keywords', { type: 'array', element: 'text', native: 'text[]', wire: { kind: 'text', array: true } }),
      field('author_id'),
      field('password', { type: 'hash', native: 'text', wire: { kind: 'masked' } }),
    ],
    [
      {
        kind: 'm2o',
        name: 'author_id',
        target: 'authors',
        field: 'author_id',
        nullable: true,
        on: [{ from: '"author_id"', to: '"id"' }],
      },
      {
        kind: 'm2a',
        name: 'blocks',
        target: 'blocks',
        on: [{ from: '"id"', to: '"article_id"' }],
        collectionField: 'collection',
        itemField: 'item',
        allowed: ['headings', 'tags'],
        sort: 'sort',
      },
      {
        kind: 'o2m',
        name: 'comments',
        target: 'comments',
        inverse: 'article_id',
        onDeselect: 'nullify',
        on: [{ from: '"id"', to: '"article_id"' }],
      },
      {
        kind: 'm2m',
        name: 'tags',
        target: 'tags',
        junction: 'articles_tags',
        junctionTable: '"public"."articles_tags"',
        near: [{ from: '"id"', to: '"article_id"' }],
        far: [{ from: '"tag_id"', to: '"id"' }],
        unbroken: true,
        sort: 'sort',
      },
    ],
  ),
  collection('articles_tags', [field('article_id', bigint), field('tag_id'), field('sort')], [], {
    key: ['article_id', 'tag_id'],
  }),
  collection(
    'authors',
    [field('id'), field('name', text), field('email', text)],
    [
      {
        kind: 'o2m',
        name: 'articles',
        target: 'articles',
        inverse: 'author_id',
        onDeselect: 'nullify',
        on: [{ from: '"id"', to: '"author_id"' }],
      },
    ],
  ),
  collection('blocks', [
    field('id'),
    field('article_id', bigint),
    field('collection', text),
    field('item', text),
    field('sort'),
  ]),
  collection(
    'comments',
    [field('id'), field('article_id', bigint), field('body', text), field('author_name', text)],
    [
      {
        kind: 'm2o',
        name: 'article_id',
        target: 'articles',
        field: 'article_id',
        nullable: true,
        on: [{ from: '"article_id"', to: '"id"' }],
      },
    ],
  ),
  collection('headings', [field('id'), field('text', text)]),
  collection(
    'order_lines',
    [
      field('order_id'),
      field('line'),
      field('amount', { type: 'decimal', native: 'numeric', wire: { kind: 'text', cast: '::text' } }),
    ],
    [
      {
        kind: 'o2m',
        name: 'parcels',
        target: 'parcels',
        inverse: 'order_lines',
        onDeselect: 'nullify',
        on: [
          { from: '"order_id"', to: '"order_id"' },
          { from: '"line"', to: '"line"' },
        ],
      },
    ],
    { key: ['order_id', 'line'] },
  ),
  collection(
    'parcels',
    [field('id'), field('order_id'), field('line')],
    [
      {
        kind: 'm2o',
        name: 'order_lines',
        target: 'order_lines',
        nullable: true,
        on: [
          { from: '"order_id"', to: '"order_id"' },
          { from: '"line"', to: '"line"' },
        ],
      },
    ],
  ),
  collection('settings', [field('id'), field('title', text)], [], { singleton: true }),
  collection(
    'statistics',
    [field('day', { type: 'date', native: 'date', wire: { kind: 'date' } }), field('hits', bigint)],
    [],
    {
      key: [],
    },
  ),
  collection('tags', [field('id'), field('name', text)]),
];

const everything: Condition = { kind: 'and', of: [] };

function equals(name: string, value: string): Condition {
  return { kind: 'compare', field: name, operator: '_eq', operand: { kind: 'literal', value } };
}

const own: Condition = {
  kind: 'compare',
  field: 'author_id',
  operator: '_eq',
  operand: { kind: 'caller', of: 'user', path: [] },
};

const named: Condition = {
  kind: 'compare',
  field: 'name',
  operator: '_neq',
  operand: { kind: 'caller', of: 'role', path: [] },
};

const admin: AccessClass = { name: 'admin', roles: ['admin'], admin: true, collections: [] };

/** Reads published articles with their authors' names, comments and tags. */
const visitor: AccessClass = {
  name: 'public',
  roles: ['public'],
  admin: false,
  collections: [
    {
      collection: 'articles',
      read: [{ fields: ['id', 'title', 'author_id', 'comments', 'tags'], where: equals('status', 'published') }],
    },
    { collection: 'authors', read: [{ fields: ['id', 'name'], where: everything }] },
    { collection: 'comments', read: [{ fields: ['id', 'body'], where: everything }] },
    { collection: 'tags', read: [{ fields: ['id', 'name'], where: everything }] },
  ],
};

/** Two rules on articles: everybody's published ones without ratings, and all of the own ones. */
const writer: AccessClass = {
  name: 'writer',
  roles: ['author'],
  admin: false,
  collections: [
    {
      collection: 'articles',
      read: [
        { fields: ['id', 'title', 'status'], where: equals('status', 'published') },
        { fields: ['id', 'title', 'status', 'rating', 'author_id', 'comments'], where: own },
      ],
    },
    { collection: 'authors', read: [{ fields: ['id', 'name'], where: everything }] },
    {
      collection: 'comments',
      read: [
        {
          fields: ['id', 'body', 'article_id'],
          where: { kind: 'related', relation: 'article_id', quantifier: 'one', where: own },
        },
      ],
    },
    { collection: 'tags', read: [{ fields: ['name'], where: { kind: 'or', of: [equals('name', 'open'), named] } }] },
  ],
};

/** The API of the tests. The access classes are `admin`, `public` and `writer`. */
export const magazine: CompiledApi = {
  contract: 1,
  dialect: 'postgres',
  collections,
  access: [admin, visitor, writer],
  routes: [],
  fingerprint: { hash: '', objects: [] },
  model: async () => ({ collections: [], fields: [], relations: [] }),
  openapi: async () => null,
};

/** Tables for `collections`, with a few rows. */
export const magazineSql = `
  CREATE TYPE article_status AS ENUM ('draft', 'published');
  CREATE TABLE authors (id int PRIMARY KEY, name text, email text);
  CREATE TABLE articles (id bigint PRIMARY KEY, title varchar(50), slug text, status article_status, rating numeric(4, 2),
    views smallint, published_at timestamptz, metadata jsonb, keywords text[], author_id int REFERENCES authors,
    password text);
  CREATE TABLE comments (id int PRIMARY KEY, article_id bigint REFERENCES articles, body text, author_name text);
  CREATE TABLE tags (id int PRIMARY KEY, name text);
  CREATE TABLE articles_tags (article_id bigint REFERENCES articles, tag_id int REFERENCES tags, sort int,
    PRIMARY KEY (article_id, tag_id));
  CREATE TABLE headings (id int PRIMARY KEY, text text);
  CREATE TABLE blocks (id int PRIMARY KEY, article_id bigint REFERENCES articles, collection text, item text, sort int);
  CREATE TABLE order_lines (order_id int, line int, amount numeric, PRIMARY KEY (order_id, line));
  CREATE TABLE parcels (id int PRIMARY KEY, order_id int, line int,
    FOREIGN KEY (order_id, line) REFERENCES order_lines);
  CREATE TABLE settings (id int PRIMARY KEY, title text);
  CREATE TABLE statistics (day date, hits bigint);
  INSERT INTO authors VALUES (1, 'Ada', 'ada@example.com'), (2, 'Bob', 'bob@example.com');
  INSERT INTO articles VALUES
    (1, 'First', 'first', 'published', 4.50, 10, '2024-01-02T03:04:05Z', '["a", "b"]', '{x,y}', 1, 'hash'),
    (2, 'Second 100%', 'second', 'draft', 3.25, 20, NULL, '{"k": 1}', '{}', 1, NULL),
    (9007199254740993, 'Third', 'third', 'published', NULL, NULL, 'infinity', NULL, NULL, 2, NULL);
  INSERT INTO comments VALUES (1, 1, 'Good', 'x'), (2, 1, 'Bad', 'y'), (3, 2, 'Hidden', 'z');
  INSERT INTO tags VALUES (1, 'open'), (2, 'closed');
  INSERT INTO articles_tags VALUES (1, 1, 2), (1, 2, 1), (2, 1, 1);
  INSERT INTO headings VALUES (1, 'Hello');
  INSERT INTO blocks VALUES (1, 1, 'headings', '1', 2), (2, 1, 'tags', '2', 1), (3, 1, 'tags', 'stray', 3);
  INSERT INTO order_lines VALUES (17, 3, 9.90), (17, 4, 1.00);
  INSERT INTO parcels VALUES (1, 17, 3), (2, NULL, NULL);
  INSERT INTO statistics VALUES ('2024-01-01', 5);
`;
