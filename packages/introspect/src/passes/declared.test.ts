import { expect, test } from 'vitest';
import type { PlatformConfig } from '../config/config.ts';
import type { TableSketch } from '../testing/facts.ts';
import { complaints, relation, relationsOf, resolve } from '../testing/resolve.ts';

const plain: TableSketch = { columns: ['id!', 'text'], key: ['id'] };
const tables = {
  articles: plain,
  headings: plain,
  images: plain,
  languages: { columns: ['code!'], key: ['code'] },
  blocks: {
    columns: ['id!', 'article_id!', 'kind!', 'item!', 'sort'],
    key: ['id'],
    foreignKeys: ['article_id > articles.id'],
  },
  texts: {
    columns: ['id!', 'article_id!', 'language!', 'text'],
    key: ['id'],
    foreignKeys: ['article_id > articles.id', 'language > languages.code'],
  },
  likes: {
    columns: ['id!', 'article_id', 'heading_id', 'sort'],
    key: ['id'],
    foreignKeys: ['article_id > articles.id', 'heading_id > headings.id'],
  },
} satisfies Readonly<Record<string, TableSketch>>;

const blocks = {
  collection: 'articles',
  field: 'content',
  link: 'blocks',
  linkField: 'article_id',
  collectionField: 'kind',
  itemField: 'item',
  allowed: ['headings', 'images'],
  sort: 'sort',
};

test('a many-to-any is declared', () => {
  const { schema, diagnostics } = resolve(tables, { config: { manyToAny: [blocks] } });
  expect(complaints(diagnostics)).toEqual([]);
  expect(relation(schema, 'articles', 'content')).toEqual({
    kind: 'm2a',
    name: 'content',
    target: 'blocks',
    on: [{ from: 'id', to: 'article_id' }],
    collectionField: 'kind',
    itemField: 'item',
    allowed: ['headings', 'images'],
    sort: 'sort',
  });
  expect(relationsOf(schema, 'articles')).toContain('o2m blocks');
});

test('a derived relation yields its name to a declared one', () => {
  const { schema, diagnostics } = resolve(tables, { config: { manyToAny: [{ ...blocks, field: 'blocks' }] } });
  expect(complaints(diagnostics)).toEqual([]);
  expect(relationsOf(schema, 'articles')).toEqual(['m2a blocks', 'o2m blocks_by_article_id', 'o2m likes', 'o2m texts']);
});

test('a link without a foreign key is read by the key', () => {
  const link: TableSketch = { ...tables.blocks, foreignKeys: [] };
  const { schema, diagnostics } = resolve({ ...tables, blocks: link }, { config: { manyToAny: [blocks] } });
  expect(complaints(diagnostics)).toEqual([]);
  expect(relation(schema, 'articles', 'content')).toMatchObject({ on: [{ from: 'id', to: 'article_id' }] });
});

test('translations take the declared name and know their language', () => {
  const config: PlatformConfig = {
    translations: [{ collection: 'articles', field: 'translations', child: 'texts', languages: 'languages' }],
    relations: { 'articles.texts': { onDeselect: 'delete' } },
  };
  const { schema, diagnostics } = resolve(tables, { config });
  expect(complaints(diagnostics)).toEqual([]);
  expect(relationsOf(schema, 'articles')).toEqual(['o2m blocks', 'o2m likes', 'o2m translations']);
  const translations = { language: 'language', inverse: 'article_id', onDeselect: 'delete' };
  expect(relation(schema, 'articles', 'translations')).toMatchObject(translations);
  const byName = resolve(tables, { config: { ...config, relations: { 'articles.translations': { sort: 'id' } } } });
  expect(complaints(byName.diagnostics)).toEqual([]);
  expect(relation(byName.schema, 'articles', 'translations')).toMatchObject({ sort: 'id', onDeselect: 'nullify' });
});

test('a declared junction joins both ends, with the names given or derived', () => {
  const likes = { junction: 'likes', near: 'article_id', far: 'heading_id' };
  const derived = resolve(tables, { config: { manyToMany: [{ ...likes, sort: 'sort' }] } }).schema;
  expect(relation(derived, 'articles', 'headings')).toMatchObject({ junction: 'likes', sort: 'sort' });
  expect(relation(derived, 'headings', 'articles')).toMatchObject({ junction: 'likes' });
  const named = resolve(tables, { config: { manyToMany: [{ ...likes, name: 'liked', inverseName: 'likes' }] } });
  expect(complaints(named.diagnostics)).toEqual([]);
  expect(relation(named.schema, 'articles', 'liked')).toMatchObject({ target: 'headings' });
  expect(relationsOf(named.schema, 'headings')).toEqual(['m2m likes', 'o2m likes_by_heading_id']);
});

test('a declaration replaces the derived junction over the same foreign keys', () => {
  const likes: TableSketch = { ...tables.likes, key: ['article_id', 'heading_id'] };
  const manyToMany = [{ junction: 'likes', near: 'heading_id', far: 'article_id', name: 'fans' }];
  const { schema } = resolve({ ...tables, likes }, { config: { manyToMany } });
  expect(relationsOf(schema, 'headings')).toEqual(['m2m fans', 'o2m likes']);
  expect(relationsOf(schema, 'articles')).toContain('m2m headings');
});

test.each<[PlatformConfig, readonly string[]]>([
  [
    { manyToAny: [{ ...blocks, collection: 'article', link: 'bloks' }] },
    [
      'error unknown-name platform.config.ts: manyToAny[0].collection',
      'error unknown-name platform.config.ts: manyToAny[0].link',
    ],
  ],
  [
    { manyToAny: [{ ...blocks, collectionField: 'knd', allowed: ['heading', 'blocks'] }] },
    [
      'error unknown-name platform.config.ts: manyToAny[0].collectionField',
      'error unknown-name platform.config.ts: manyToAny[0].allowed[0]',
    ],
  ],
  [
    { manyToAny: [{ ...blocks, collection: 'images' }] },
    ['error config-many-to-any platform.config.ts: manyToAny[0].linkField'],
  ],
  [{ manyToAny: [{ ...blocks, allowed: [] }] }, ['error config-many-to-any platform.config.ts: manyToAny[0].allowed']],
  [
    { translations: [{ collection: 'images', field: 't', child: 'texts', languages: 'headings' }] },
    [
      'error config-translations platform.config.ts: translations[0].child',
      'error config-translations platform.config.ts: translations[0].child',
    ],
  ],
  [
    { manyToMany: [{ junction: 'likes', near: 'article', far: 'sort' }] },
    [
      'error unknown-name platform.config.ts: manyToMany[0].near',
      'error unknown-name platform.config.ts: manyToMany[0].far',
    ],
  ],
  [
    { manyToMany: [{ junction: 'like', near: 'a', far: 'b' }] },
    ['error unknown-name platform.config.ts: manyToMany[0].junction'],
  ],
  [
    {
      relations: {
        'articles.block': {},
        'blocks.article_id': { name: 'article', sort: 'id', onDeselect: 'delete', deprecated: 'x' },
      },
    },
    [
      'error unknown-name platform.config.ts: relations["articles.block"]',
      'error config-relation platform.config.ts: relations["blocks.article_id"].sort',
      'error config-relation platform.config.ts: relations["blocks.article_id"].onDeselect',
      'error config-relation platform.config.ts: relations["blocks.article_id"].name',
      'error config-relation platform.config.ts: relations["blocks.article_id"].deprecated',
    ],
  ],
  [
    { relations: { 'articles.blocks': { name: 'parts', sort: 'srt' } } },
    ['error unknown-name platform.config.ts: relations["articles.blocks"].sort'],
  ],
  [
    { collections: { articel: {}, articles: { sort: 'tex', key: ['id'], fields: { body: { name: 'x' } } } } },
    [
      'error unknown-name platform.config.ts: collections.articel',
      'error unknown-name platform.config.ts: collections.articles.fields.body',
      'error unknown-name platform.config.ts: collections.articles.sort',
    ],
  ],
  [{ collections: { articles: {}, 'public.articles': {} } }, ['error repeated-name platform.config.ts: collections']],
])('%j is refused', (config, expected) => {
  expect(complaints(resolve(tables, { config }).diagnostics)).toEqual(expected);
});

test('a misspelt name comes with the nearest one', () => {
  const { diagnostics } = resolve(tables, { config: { relations: { 'articles.block': {} } } });
  expect(diagnostics.find(({ code }) => code === 'unknown-name')?.hint).toBe('Did you mean "articles.blocks"?');
});
