import { expect, test } from 'vitest';
import type { PlatformConfig } from './config.ts';
import { defineConfig } from './config.ts';
import { readConfig } from './read-config.ts';

const whole: PlatformConfig = {
  database: { url: 'postgres://localhost/a', schemas: ['public'], include: ['*'], exclude: ['tmp_*'] },
  output: 'generated',
  client: { packageName: '@shop/api-{class}' },
  permissions: 'permissions.yaml',
  templates: 'templates',
  collections: {
    articles: {
      name: 'posts',
      note: '',
      deprecated: 'Use posts.',
      hidden: false,
      singleton: false,
      key: ['id'],
      sort: 'position',
      archive: { field: 'status', value: 'archived', unarchiveValue: 'draft' },
      fields: {
        tags: { name: 'labels', hidden: false, note: 'Words.', deprecated: 'Use tags.', required: true, type: 'csv' },
      },
    },
  },
  graphql: false,
  relations: {
    'articles.comments': { name: 'remarks', deprecated: 'Use notes.', hidden: false, sort: 'id', onDeselect: 'delete' },
  },
  manyToAny: [
    {
      collection: 'articles',
      field: 'blocks',
      link: 'blocks',
      linkField: 'article_id',
      collectionField: 'collection',
      itemField: 'item',
      allowed: ['headings'],
      sort: 'sort',
    },
  ],
  translations: [{ collection: 'articles', field: 'translations', child: 'texts', languages: 'languages' }],
  manyToMany: [{ junction: 'links', near: 'a', far: 'b', name: 'bs', inverseName: 'as', sort: 'sort' }],
};

test('takes the whole configuration unchanged', () => {
  expect(readConfig(defineConfig(whole))).toEqual({ config: whole, diagnostics: [] });
  expect(readConfig({})).toEqual({ config: {}, diagnostics: [] });
  expect(readConfig({ output: undefined }).diagnostics).toEqual([]);
});

test.each([
  [null, 'platform.config.ts', 'The configuration must be an object.'],
  [[], 'platform.config.ts', 'The configuration must be an object.'],
  [{ output: 1 }, 'platform.config.ts: output', '"output" must be a text.'],
  [{ output: '' }, 'platform.config.ts: output', '"output" must be a text that is not empty.'],
  [{ collections: [] }, 'platform.config.ts: collections', '"collections" must be an object.'],
  [
    { collections: { articles: { singleton: 'yes' } } },
    'platform.config.ts: collections.articles.singleton',
    '"singleton" must be true or false.',
  ],
  [
    { collections: { 'odd name': { key: 'id' } } },
    'platform.config.ts: collections["odd name"].key',
    '"key" must be an array.',
  ],
  [{ manyToMany: [{ junction: 'a', near: 'b' }] }, 'platform.config.ts: manyToMany[0]', '"0" needs "far".'],
  [
    { relations: { 'a.b': { onDeselect: 'remove' } } },
    'platform.config.ts: relations["a.b"].onDeselect',
    '"onDeselect" must be one of "nullify", "delete".',
  ],
])('%j is wrong at %s', (value, place, message) => {
  expect(readConfig(value).diagnostics).toMatchObject([{ severity: 'error', code: 'config-value', place, message }]);
});

test('an unknown key is named with its place and the nearest known key', () => {
  expect(readConfig({ collections: { articles: { singelton: true } } })).toEqual({
    config: { collections: { articles: {} } },
    diagnostics: [
      {
        code: 'config-key',
        severity: 'error',
        place: 'platform.config.ts: collections.articles',
        message: 'The key "singelton" is unknown.',
        hint: 'Did you mean "singleton"?',
      },
    ],
  });
});

test('keeps the right parts beside wrong ones', () => {
  const { config, diagnostics } = readConfig({
    output: 'out',
    collections: { a: { name: 1, note: 'A.' }, b: null },
    manyToMany: [{}, whole.manyToMany?.[0]],
  });
  expect(config).toEqual({ output: 'out', collections: { a: { note: 'A.' } }, manyToMany: whole.manyToMany });
  expect(diagnostics).toHaveLength(5);
});

test('keys named as members of Object are keys like any other', () => {
  const collections = { constructor: { hidden: true }, ['__proto__']: { name: 'proto' }, toString: { note: 'x' } };
  const { config, diagnostics } = readConfig({ collections });
  expect(diagnostics).toEqual([]);
  expect(Object.entries(config.collections ?? {})).toEqual(Object.entries(collections));
  expect(Object.keys(config.collections ?? {})).toContain('__proto__');
  expect(readConfig(JSON.parse('{"constructor": 1}')).diagnostics).toMatchObject([{ code: 'config-key' }]);
});

test('a literal that sets its prototype by accident is told how to write the key', () => {
  const collections = { __proto__: { articles: { name: 'x' } } };
  expect(readConfig({ collections }).diagnostics).toMatchObject([
    { place: 'platform.config.ts: collections', hint: expect.stringContaining('["__proto__"]') },
  ]);
});
