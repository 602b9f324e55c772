import { describe, expect, it } from 'vitest';
import type { CollectionDescriptor, FieldDescriptor, RelationDescriptor } from './collection.ts';
import { indexGraphql } from './graphql.ts';
import { graphqlName } from './graphql-names.ts';

it.each([
  ['articles', 'articles'],
  ['OrderLines', 'OrderLines'],
  ['a b', 'a_b'],
  ['a-b', 'a_b'],
  ['1st', '_1st'],
  ['_id', '_id'],
  ['__proto__', '_proto__'],
  ['über größe', '_ber_gr__e'],
  ['🙂', '_0'],
  ['日本語', '_0'],
  ['', '_0'],
  ['_', '_0'],
  ['x\u2028y', 'x_y'],
])('spells "%s" as %s', (name, formatted) => {
  expect(graphqlName(name)).toBe(formatted);
});

function field(name: string, type: FieldDescriptor['type'] = 'text'): FieldDescriptor {
  return { name, column: `"${name}"`, type, native: 'text', wire: { kind: 'text' }, nullable: false, writable: true };
}

function collection(
  name: string,
  fields: readonly FieldDescriptor[],
  relations: readonly RelationDescriptor[] = [],
  more: Partial<CollectionDescriptor> = {},
): CollectionDescriptor {
  return { name, table: name, key: ['id'], singleton: false, writable: true, fields, relations, ...more };
}

const any = { kind: 'm2a', target: 'blocks', on: [], collectionField: 'collection', itemField: 'item' } as const;
const author: RelationDescriptor = {
  kind: 'm2o',
  name: 'author id',
  target: 'authors',
  field: 'author id',
  nullable: false,
  on: [],
};
const articles = collection(
  'articles',
  [field('id', 'integer'), field('author id'), field('published_at', 'timestamp')],
  [author, { ...any, name: 'blocks', allowed: ['authors'] }],
);
const blocks = collection('blocks', [field('id'), field('collection'), field('item')]);
const authors = collection('authors', [field('id')]);
const settings = collection('settings', [field('id')], [], { singleton: true });
const counts = collection('counts', [field('n')], [], { key: [] });
const users = collection('platform_users', [field('id')], [], { system: true });

describe('the index', () => {
  const index = indexGraphql([articles, blocks, authors, settings, counts, users], {
    query: [],
    mutation: ['auth_login'],
  });

  it('knows what root fields do, by scope', () => {
    const { items, system } = index.roots;
    expect(items.query.get('articles_by_id')).toMatchObject({ operation: 'byKey', collection: articles });
    expect(items.mutation.get('update_settings')).toMatchObject({ operation: 'updateSingleton' });
    expect([...items.query.keys()].filter((name) => name.startsWith('counts'))).toEqual([
      'counts',
      'counts_aggregated',
    ]);
    expect(system.query.get('users')).toMatchObject({ operation: 'list', collection: users });
    expect(system.mutation.get('auth_login')).toEqual({ operation: 'service', service: 'auth_login' });
    expect(items.query.has('users')).toBe(false);
    expect(system.query.has('articles')).toBe(false);
  });

  it('knows what fields stand for', () => {
    const { output, filter, input } = index.byType('articles') ?? {};
    expect(output?.get('author_id')).toEqual({ kind: 'field', name: 'author id', relation: author });
    expect(output?.get('published_at_func')).toEqual({ kind: 'functions', name: 'published_at' });
    expect(output?.get('blocks')).toMatchObject({ kind: 'relation', name: 'blocks' });
    expect(filter?.get('blocks_func')).toEqual({ kind: 'functions', name: 'blocks' });
    expect(input?.get('blocks_changes')).toEqual({ kind: 'changes', name: 'blocks' });
    expect(index.byName('blocks')?.output.get('item')).toMatchObject({ link: { name: 'blocks' } });
    expect(index.byName('blocks')?.filter.get('item__authors')).toEqual({ kind: 'name', name: 'item:authors' });
    expect(index.byType('articles_filter')).toBeUndefined();
  });

  it('takes a link for a key where several relations have its rows', () => {
    const pages = collection('pages', [field('id')], [{ ...any, name: 'parts', allowed: ['articles'] }]);
    const shared = indexGraphql([articles, pages, blocks], { query: [], mutation: [] }).byName('blocks');
    expect(shared?.output.get('item')).toEqual({ kind: 'field', name: 'item' });
    expect([...(shared?.filter.keys() ?? [])]).toEqual(expect.arrayContaining(['item__authors', 'item__articles']));
  });
});
