import { expect, it } from 'vitest';
import { accessTo, hostile, magazine, sampleApi } from '../openapi/testing/sample-api.ts';
import { viewOf } from '../openapi/view.ts';
import { emitModel } from './index.ts';

const api = sampleApi([...magazine, ...hostile]);
const everything = emitModel(api, viewOf(api, null));

it('tells of every collection, field and relation', () => {
  const names = api.collections.map(({ descriptor }) => descriptor.name);
  expect(everything.collections.map(({ collection }) => collection)).toEqual(names);
  const article = everything.fields.filter(({ collection }) => collection === 'articles');
  expect(article[0]).toMatchObject({ field: 'id', schema: { is_primary_key: true } });
  const kinds = article.map(({ schema }) => schema === null);
  expect(kinds).toEqual(kinds.toSorted());
  expect(article.find(({ field }) => field === 'tags')).toMatchObject({ type: 'alias', meta: { special: ['m2m'] } });
  expect(everything.relations.find(({ field }) => field === 'author_id')).toMatchObject({
    collection: 'articles',
    related_collection: 'authors',
    meta: { many_collection: 'articles', many_field: 'author_id', one_collection: 'authors' },
  });
});

it('names nothing that a class may not read', () => {
  const access = accessTo({ articles: [['id', 'title', 'author_id']] });
  const text = JSON.stringify(emitModel(api, viewOf(api, access)));
  expect(text).toContain('"title"');
  for (const hidden of ['authors', 'tags', 'body', 'slug', 'settings', 'shop_']) expect(text).not.toContain(hidden);
});
