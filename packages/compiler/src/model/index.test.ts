import { expect, it } from 'vitest';
import { accessTo, hostile, magazine, sampleApi } from '../openapi/testing/sample-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import { emitModel } from './index.ts';

const api = sampleApi([...magazine, ...hostile]);
const everything = emitModel(api, roleViewOf(api, null));

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
  const text = JSON.stringify(emitModel(api, roleViewOf(api, access)));
  expect(text).toContain('"title"');
  for (const hidden of ['authors', 'tags', 'body', 'slug', 'settings', 'shop_']) expect(text).not.toContain(hidden);
});

it('tells fields without a column to who may read every column, and what waits for its relation to administrators', () => {
  const row = (field: string, special: string, more: object = {}) => ({ collection: 'tags', field, special, ...more });
  const fields = [
    row('line', 'alias,no-data', { group: 'box', note: 'Below the secrets.' }),
    row('box', 'alias,no-data,group'),
    row('later', 'o2m'),
    row('name', 'alias,no-data', { group: 'box' }),
    row('gone', 'cast-csv'),
  ];
  const described = { ...api, model: { collections: [], fields, relations: [], digest: '' } };
  const tags = api.collections.find(({ descriptor }) => descriptor.name === 'tags')?.descriptor;
  const names = (tags?.fields ?? []).map(({ name }) => name);
  const told = (readable: readonly string[] | null) => {
    const access = readable && accessTo({ tags: [readable] });
    return emitModel(described, roleViewOf(described, access)).fields.filter(({ collection }) => collection === 'tags');
  };
  const plain = (readable: readonly string[] | null) =>
    told(readable)
      .slice(names.length)
      .map(({ field }) => field)
      .filter((field) => !tags?.relations.some((relation) => relation.name === field));
  expect(names).toContain('name');
  expect(plain(null)).toEqual(['box', 'later', 'line']);
  expect(plain(names)).toEqual(['box', 'line']);
  expect(told(names).find(({ field }) => field === 'line')).toMatchObject({ schema: null, meta: { group: 'box' } });
  // Who is not told of a group is not told what lies in it.
  const [name, ...others] = told(['name']);
  expect([name?.field, name?.meta, others]).toEqual(['name', expect.objectContaining({ group: null }), []]);
});
