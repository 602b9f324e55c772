import type { Schema } from '@tablewright/introspect/schema';
import { never } from '@tablewright/runtime/language';
import { arrayOf, collectionOf, columnOf, ruleOf, schemaOf, tableOf, typeOf } from './build-schema.ts';

const integer = typeOf('int4', 'integer');
const text = typeOf('text', 'text');
const status = typeOf('public.article_status', 'enum', {
  category: 'enum',
  enum: 'public.article_status',
  values: ['draft', 'published', "editor's choice"],
});
const key = { nullable: false, fill: { kind: 'identity', always: false } } as const;

/** A schema with every kind of relation, field and rule: authors, articles, tags, sections, a view, a singleton. */
export function blogSchema(): Schema {
  const authors = tableOf('authors', [
    columnOf('id', integer, key),
    columnOf('name', typeOf('varchar', 'string', { maxLength: 100 }), { nullable: false, comment: 'As printed.' }),
    columnOf('password', text),
  ]);
  const articles = tableOf(
    'articles',
    [
      columnOf('id', typeOf('int8', 'bigInteger'), key),
      columnOf('title', text, { nullable: false }),
      columnOf('status', status, {
        nullable: false,
        nativeType: 'public.article_status',
        fill: { kind: 'default', expression: `'draft'::article_status` },
      }),
      columnOf('author_id', integer),
      columnOf('rating', typeOf('numeric', 'decimal', { precision: 3, scale: 2 })),
      columnOf('score', typeOf('float8', 'float')),
      columnOf('metadata', typeOf('jsonb', 'json')),
      columnOf('keywords', arrayOf(text)),
      columnOf('labels', text),
      columnOf('position', typeOf('point', 'unknown')),
      columnOf('minutes', integer, { fill: { kind: 'generated', expression: 'length(title)', stored: true } }),
      columnOf('published_at', typeOf('timestamptz', 'timestamp')),
    ],
    { comment: 'Everything that is published.\nAnd drafts.' },
  );
  const tags = tableOf('tags', [columnOf('id', integer, key), columnOf('name', text, { nullable: false })]);
  const junction = tableOf(
    'articles_tags',
    [
      columnOf('article_id', typeOf('int8', 'bigInteger'), { nullable: false }),
      columnOf('tag_id', integer, { nullable: false }),
    ],
    { primaryKey: { name: 'pk', columns: ['article_id', 'tag_id'], deferrable: false, nullsNotDistinct: false } },
  );
  const blocks = tableOf('blocks', [
    columnOf('id', integer, key),
    columnOf('article_id', typeOf('int8', 'bigInteger')),
    columnOf('collection', text),
    columnOf('item', text),
  ]);
  const totals = tableOf('totals', [columnOf('count', typeOf('int8', 'bigInteger'), { updatable: false })], {
    kind: 'view',
    primaryKey: null,
    writable: { insert: false, update: false, delete: false },
  });
  const settings = tableOf('settings', [columnOf('id', integer, key), columnOf('site_name', text)]);

  return schemaOf(
    [articles, junction, authors, blocks, settings, tags, totals],
    [
      collectionOf(
        articles,
        [
          {
            kind: 'm2o',
            name: 'author_id',
            target: 'authors',
            foreignKey: 'fk',
            on: [{ from: 'author_id', to: 'id' }],
            field: 'author_id',
            nullable: true,
          },
          {
            kind: 'm2a',
            name: 'blocks',
            target: 'blocks',
            on: [{ from: 'id', to: 'article_id' }],
            collectionField: 'collection',
            itemField: 'item',
            allowed: ['authors', 'tags'],
            sort: null,
          },
          {
            kind: 'm2m',
            name: 'tags',
            target: 'tags',
            junction: 'articles_tags',
            near: [{ from: 'id', to: 'article_id' }],
            far: [{ from: 'tag_id', to: 'id' }],
            sort: null,
          },
        ],
        {
          sort: 'title',
          fields: collectionOf(articles).fields.map((field) =>
            field.name === 'labels' ? { ...field, type: 'csv' } : field,
          ),
        },
      ),
      collectionOf(junction, [
        {
          kind: 'm2o',
          name: 'article_id',
          target: 'articles',
          foreignKey: 'fk',
          on: [{ from: 'article_id', to: 'id' }],
          field: 'article_id',
          nullable: false,
        },
        {
          kind: 'm2o',
          name: 'tag_id',
          target: 'tags',
          foreignKey: 'fk',
          on: [{ from: 'tag_id', to: 'id' }],
          field: 'tag_id',
          nullable: false,
        },
      ]),
      collectionOf(
        authors,
        [
          {
            kind: 'o2m',
            name: 'articles',
            target: 'articles',
            on: [{ from: 'id', to: 'author_id' }],
            inverse: 'author_id',
            single: false,
            sort: 'title',
            onDeselect: 'nullify',
            language: null,
          },
        ],
        {
          note: 'People who write.',
          fields: collectionOf(authors).fields.map((field) =>
            field.name === 'password' ? { ...field, type: 'hash' } : field,
          ),
        },
      ),
      collectionOf(blocks),
      collectionOf(settings, [], { singleton: true }),
      collectionOf(tags),
      collectionOf(totals),
    ],
    {
      enums: [
        { schema: 'public', name: 'article_status', labels: ['draft', 'published', "editor's choice"], comment: null },
      ],
      roles: [
        { name: 'editor', description: 'Edits.', admin: false, app: true },
        { name: 'owner', description: null, admin: true, app: true },
        { name: 'reviewer', description: null, admin: false, app: true },
      ],
      permissions: [
        ...['editor', 'reviewer'].flatMap((role) => [
          ruleOf(role, 'articles', 'read', ['id', 'title', 'status', 'author_id', 'tags']),
          ruleOf(role, 'articles', 'update', ['title'], {
            where: { kind: 'compare', field: 'status', operator: '_eq', operand: { kind: 'literal', value: 'draft' } },
            check: never,
            presets: [{ field: 'metadata', value: { kind: 'literal', value: { checked: [1, 2] } } }],
          }),
        ]),
        ruleOf('public', 'articles', 'read', ['id', 'title'], {
          where: {
            kind: 'related',
            relation: 'author_id',
            quantifier: 'one',
            where: {
              kind: 'compare',
              field: 'name',
              operator: '_eq',
              operand: { kind: 'caller', of: 'user', path: ['name'] },
            },
          },
        }),
      ],
    },
  );
}
