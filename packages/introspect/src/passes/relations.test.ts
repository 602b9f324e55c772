import { expect, test } from 'vitest';
import type { TableSketch } from '../testing/facts.ts';
import { complaints, notes, relation, relationsOf, resolve } from '../testing/resolve.ts';

const authors: TableSketch = { columns: ['id!', 'name'], key: ['id'] };
const tags: TableSketch = { columns: ['id!', 'name'], key: ['id'] };
const articles: TableSketch = {
  columns: ['id!', 'author_id'],
  key: ['id'],
  foreignKeys: ['author_id > authors.id'],
};
const articlesTags: TableSketch = {
  columns: ['article_id!', 'tag_id!', 'sort'],
  key: ['article_id', 'tag_id'],
  foreignKeys: ['article_id > articles.id', 'tag_id > tags.id'],
};
const magazine = { authors, articles, tags, articles_tags: articlesTags };

test('a foreign key is a many-to-one under its field, and a one-to-many under the child', () => {
  const { schema, diagnostics } = resolve({ authors, articles });
  expect(relation(schema, 'articles', 'author_id')).toEqual({
    kind: 'm2o',
    name: 'author_id',
    target: 'authors',
    foreignKey: 'articles_author_id_authors',
    on: [{ from: 'author_id', to: 'id' }],
    field: 'author_id',
    nullable: true,
  });
  expect(relation(schema, 'authors', 'articles')).toEqual({
    kind: 'o2m',
    name: 'articles',
    target: 'articles',
    on: [{ from: 'id', to: 'author_id' }],
    inverse: 'author_id',
    single: false,
    sort: null,
    onDeselect: 'nullify',
    language: null,
  });
  expect(complaints(diagnostics)).toEqual([]);
});

test('several foreign keys to one parent are told apart by their fields', () => {
  const reviews: TableSketch = {
    columns: ['id!', 'author_id!', 'editor_id'],
    key: ['id'],
    foreignKeys: ['author_id > authors.id', 'editor_id > authors.id'],
  };
  const { schema } = resolve(
    { authors, reviews },
    { config: { collections: { reviews: { fields: { editor_id: { name: 'editor' } } } } } },
  );
  expect(relationsOf(schema, 'authors')).toEqual(['o2m reviews_by_author_id', 'o2m reviews_by_editor']);
  expect(relation(schema, 'authors', 'reviews_by_editor')).toMatchObject({ inverse: 'editor' });
  expect(relation(schema, 'reviews', 'author_id')).toMatchObject({ nullable: false });
});

test('a foreign key that is unique makes its inverse single', () => {
  const profile = (extra: Partial<TableSketch>): TableSketch => ({
    columns: ['id!', 'author_id!'],
    key: ['id'],
    foreignKeys: ['author_id > authors.id'],
    ...extra,
  });
  const single = (sketch: TableSketch) => relation(resolve({ authors, profile: sketch }).schema, 'authors', 'profile');
  expect(single(profile({ uniques: [['author_id']] }))).toMatchObject({ single: true });
  expect(single(profile({ key: ['author_id'] }))).toMatchObject({ single: true });
  expect(single(profile({ uniques: [['author_id', 'id']] }))).toMatchObject({ single: false });
});

test('an inverse whose name is a column takes the long form', () => {
  const { schema } = resolve({ authors: { columns: ['id!', 'articles'], key: ['id'] }, articles });
  expect(relationsOf(schema, 'authors')).toEqual(['o2m articles_by_author_id']);
});

test('a tree reads its parent and its children', () => {
  const categories: TableSketch = {
    columns: ['id!', 'parent_id'],
    key: ['id'],
    foreignKeys: ['parent_id > categories.id'],
  };
  expect(relationsOf(resolve({ categories }).schema, 'categories')).toEqual(['o2m categories', 'm2o parent_id']);
});

test('a composite foreign key is named as its target, or by its columns', () => {
  const stocks: TableSketch = { columns: ['a!', 'b!'], key: ['a', 'b'] };
  const keys = { foreignKeys: ['a,b > stocks.a,b'] };
  const prices: TableSketch = { columns: ['a!', 'b!', 'at!'], key: ['a', 'b', 'at'], ...keys };
  const one = resolve({ stocks, prices }).schema;
  expect(relation(one, 'prices', 'stocks')).toMatchObject({ kind: 'm2o', field: null, nullable: false });
  expect(relation(one, 'stocks', 'prices')).toMatchObject({
    inverse: 'stocks',
    on: [
      { from: 'a', to: 'a' },
      { from: 'b', to: 'b' },
    ],
  });
  const taken = resolve({ stocks, prices: { ...prices, columns: [...prices.columns, 'stocks'] } }).schema;
  expect(relationsOf(taken, 'prices')).toEqual(['m2o stocks_by_a_b']);
  const twice: TableSketch = {
    columns: ['a!', 'b!', 'c', 'd'],
    key: ['a', 'b'],
    foreignKeys: ['a,b > stocks.a,b', 'c,d > stocks.a,b'],
  };
  const both = resolve({ stocks, twice }).schema;
  expect(relationsOf(both, 'twice')).toEqual(['m2o stocks_by_a_b', 'm2o stocks_by_c_d']);
  expect(relationsOf(both, 'stocks')).toEqual(['o2m twice_by_a_b', 'o2m twice_by_c_d']);
});

test('a composite reference of a table to itself yields its name to the many-to-one', () => {
  const nodes: TableSketch = {
    columns: ['a!', 'b!', 'pa', 'pb'],
    key: ['a', 'b'],
    foreignKeys: ['pa,pb > nodes.a,b'],
  };
  const { schema, diagnostics } = resolve({ nodes });
  expect(relationsOf(schema, 'nodes')).toEqual(['m2o nodes', 'o2m nodes_by_pa_pb']);
  expect(complaints(diagnostics)).toEqual([]);
});

test('of two foreign keys over one column the first by name has the field; a repeated one is left out', () => {
  const owned: TableSketch = {
    columns: ['id!', 'owner'],
    key: ['id'],
    foreignKeys: ['owner > tags.id', 'owner > authors.id', 'owner > authors.id'],
  };
  const { schema, diagnostics } = resolve({ authors, tags, owned });
  expect(relationsOf(schema, 'owned')).toEqual(['m2o owner', 'm2o tags_by_owner']);
  expect(relation(schema, 'owned', 'owner')).toMatchObject({ target: 'authors', field: 'owner' });
  expect(relation(schema, 'owned', 'tags_by_owner')).toMatchObject({ target: 'tags', field: null });
  expect(relation(schema, 'tags', 'owned')).toMatchObject({ inverse: 'tags_by_owner' });
  expect(notes(diagnostics, 'several-foreign-keys')).toHaveLength(1);
});

test('foreign keys to hidden tables or over hidden columns are plain columns', () => {
  const config = {
    collections: { authors: { hidden: true }, articles_tags: { fields: { tag_id: { hidden: true } } } },
  };
  const { schema, diagnostics } = resolve(magazine, { config });
  // A junction that lacks a column of its key has no key, and so no inverse either.
  expect(relationsOf(schema, 'articles')).toEqual([]);
  expect(notes(diagnostics, 'foreign-key-not-shown')).toEqual([
    'The foreign key "articles_author_id_authors" makes no relation, because "public.authors" is left out.',
    'The foreign key "articles_tags_tag_id_tags" makes no relation, because a column is hidden.',
  ]);
});

test('a child without a key has no inverse', () => {
  const { schema, diagnostics } = resolve({ authors, log: { columns: ['a'], foreignKeys: ['a > authors.id'] } });
  expect(relationsOf(schema, 'authors')).toEqual([]);
  expect(relationsOf(schema, 'log')).toEqual(['m2o a']);
  expect(notes(diagnostics, 'no-inverse')).toEqual([
    'The table has no key, so "authors" cannot read its rows as a relation.',
  ]);
});

test('a junction joins both ends and stays visible itself', () => {
  const { schema, diagnostics } = resolve(magazine);
  expect(relationsOf(schema, 'articles')).toEqual(['o2m articles_tags', 'm2o author_id', 'm2m tags']);
  expect(relationsOf(schema, 'tags')).toEqual(['m2m articles', 'o2m articles_tags']);
  expect(relation(schema, 'tags', 'articles')).toEqual({
    kind: 'm2m',
    name: 'articles',
    target: 'articles',
    junction: 'articles_tags',
    near: [{ from: 'id', to: 'tag_id' }],
    far: [{ from: 'article_id', to: 'id' }],
    sort: null,
  });
  expect(complaints(diagnostics)).toEqual([]);
});

test('a key of its own and a unique pair of foreign keys make a junction; a nullable pair does not', () => {
  const surrogate = (columns: readonly string[]): TableSketch => ({
    columns,
    key: ['id'],
    uniques: [['tag_id', 'article_id']],
    foreignKeys: ['article_id > articles.id', 'tag_id > tags.id', 'by > authors.id'],
  });
  const of = (columns: readonly string[]) =>
    relationsOf(resolve({ ...magazine, articles_tags: surrogate(columns) }).schema, 'tags');
  expect(of(['id!', 'article_id!', 'tag_id!', 'by'])).toEqual(['m2m articles', 'o2m articles_tags']);
  expect(of(['id!', 'article_id!', 'tag_id', 'by'])).toEqual(['o2m articles_tags']);
});

test('a key of more than two foreign keys, or with another column, makes no junction', () => {
  const wide: TableSketch = {
    columns: ['article_id!', 'tag_id!', 'kind!'],
    key: ['article_id', 'tag_id', 'kind'],
    foreignKeys: ['article_id > articles.id', 'tag_id > tags.id'],
  };
  expect(relationsOf(resolve({ ...magazine, articles_tags: wide }).schema, 'tags')).toEqual(['o2m articles_tags']);
});

test.each([
  ['the primary key', { key: ['tenant_id', 'article_id', 'tag_id'] }],
  ['a unique key', { columns: ['id!'], key: ['id'], uniques: [['tenant_id', 'article_id', 'tag_id']] }],
])('the column of the tenant may stand beside the pair in %s', (_, { columns = [], ...keys }: Partial<TableSketch>) => {
  const ofTenants: TableSketch = {
    columns: [...columns, 'tenant_id!', 'article_id!', 'tag_id!'],
    key: keys.key ?? [],
    ...(keys.uniques && { uniques: keys.uniques }),
    foreignKeys: ['article_id > articles.id', 'tag_id > tags.id'],
  };
  const tables = { ...magazine, articles_tags: ofTenants };
  expect(relationsOf(resolve(tables).schema, 'tags')).toEqual(['o2m articles_tags']);
  const config = { tenant: { column: 'tenant_id', of: '$CURRENT_USER.tenant_id' } };
  expect(relationsOf(resolve(tables, { config }).schema, 'tags')).toEqual(['m2m articles', 'o2m articles_tags']);
});

test('both foreign keys of a junction may have the column of the tenant, but not alone', () => {
  const ofTenants = (links: TableSketch): Parameters<typeof resolve>[0] => ({
    companies: { columns: ['id!'], key: ['id'] },
    tags: { ...tags, columns: ['id!', 'tenant_id!'], uniques: [['tenant_id', 'id']] },
    articles: { columns: ['id!', 'tenant_id!'], key: ['id'], uniques: [['tenant_id', 'id']] },
    links,
  });
  const config = { tenant: { column: 'tenant_id', of: '$CURRENT_USER.tenant_id' } };
  const columns = ['tenant_id!', 'article!', 'tag!'];
  const toArticle = 'tenant_id,article > articles.tenant_id,id';
  const toTag = 'tenant_id,tag > tags.tenant_id,id';
  const pair = { columns, key: ['tenant_id', 'article', 'tag'], foreignKeys: [toArticle, toTag] };
  expect(relation(resolve(ofTenants(pair), { config }).schema, 'tags', 'articles')).toMatchObject({
    kind: 'm2m',
    near: [
      { from: 'tenant_id', to: 'tenant_id' },
      { from: 'id', to: 'tag' },
    ],
    far: [
      { from: 'tenant_id', to: 'tenant_id' },
      { from: 'article', to: 'id' },
    ],
  });
  expect(relationsOf(resolve(ofTenants(pair)).schema, 'tags')).toEqual(['o2m links']);
  // A key of one link and the tenant is that of rows which exist once.
  const single = { columns, key: ['tenant_id', 'tag'], foreignKeys: [toTag, 'tenant_id > companies.id'] };
  expect(relationsOf(resolve(ofTenants(single), { config }).schema, 'tags')).toEqual(['o2m links']);
});

test('composite foreign keys can make a junction', () => {
  const things: TableSketch = { columns: ['a!', 'b!'], key: ['a', 'b'] };
  const links: TableSketch = {
    columns: ['a!', 'b!', 'tag!'],
    key: ['a', 'b', 'tag'],
    foreignKeys: ['a,b > things.a,b', 'tag > tags.id'],
  };
  const { schema } = resolve({ things, links, tags });
  expect(relation(schema, 'tags', 'things')).toMatchObject({
    near: [{ from: 'id', to: 'tag' }],
    far: [
      { from: 'a', to: 'a' },
      { from: 'b', to: 'b' },
    ],
  });
});

test('a junction of a collection with itself is named by the far end', () => {
  const follows: TableSketch = {
    columns: ['follower!', 'followed!'],
    key: ['follower', 'followed'],
    foreignKeys: ['follower > authors.id', 'followed > authors.id'],
  };
  const { schema } = resolve({ authors, follows });
  expect(relationsOf(schema, 'authors')).toEqual([
    'm2m authors_via_follows_followed',
    'm2m authors_via_follows_follower',
    'o2m follows_by_followed',
    'o2m follows_by_follower',
  ]);
  expect(relation(schema, 'authors', 'authors_via_follows_followed')).toMatchObject({
    near: [{ from: 'id', to: 'follower' }],
    far: [{ from: 'followed', to: 'id' }],
  });
});

test('a many-to-many yields its name to columns and one-to-many relations', () => {
  const column = resolve({ ...magazine, articles: { ...articles, columns: [...articles.columns, 'tags'] } }).schema;
  expect(relationsOf(column, 'articles')).toContain('m2m tags_via_articles_tags');
  const child: TableSketch = { columns: ['id!', 'first'], key: ['id'], foreignKeys: ['first > articles.id'] };
  const both = resolve({ ...magazine, tags: child }).schema;
  expect(relationsOf(both, 'articles')).toEqual([
    'o2m articles_tags',
    'm2o author_id',
    'o2m tags',
    'm2m tags_via_articles_tags',
  ]);
});

test('of several junctions the one named after both ends has the plain name', () => {
  const { schema, diagnostics } = resolve({ ...magazine, a_favourites: articlesTags });
  expect(relation(schema, 'articles', 'tags')).toMatchObject({ junction: 'articles_tags' });
  expect(relationsOf(schema, 'articles')).toContain('m2m tags_via_a_favourites');
  expect(notes(diagnostics, 'several-junctions')).toHaveLength(2);
});

test('a relation keeps its name when a new table leads to the same collection', () => {
  const before = resolve({ authors, articles, tags, later: articlesTags }).schema;
  const tables = { authors, articles, tags, earlier: articlesTags, later: articlesTags };
  const fresh = resolve(tables).schema;
  const after = resolve(tables, { previous: before }).schema;
  expect(relation(before, 'articles', 'tags')).toMatchObject({ junction: 'later' });
  expect(relation(fresh, 'articles', 'tags')).toMatchObject({ junction: 'earlier' });
  expect(relation(after, 'articles', 'tags')).toMatchObject({ junction: 'later' });
  expect(relation(after, 'articles', 'tags_via_earlier')).toMatchObject({ junction: 'earlier' });
});

test('the configuration names, orders and hides derived relations', () => {
  const config = {
    relations: {
      'articles.tags': { name: 'labels', sort: 'sort' },
      'articles.articles_tags': { hidden: true },
      'authors.articles': { name: 'texts', sort: 'id', onDeselect: 'delete' as const },
    },
  };
  const { schema, diagnostics } = resolve(magazine, { config });
  expect(complaints(diagnostics)).toEqual([]);
  expect(relationsOf(schema, 'articles')).toEqual(['m2o author_id', 'm2m labels']);
  expect(relation(schema, 'articles', 'labels')).toMatchObject({ sort: 'sort' });
  expect(relation(schema, 'authors', 'texts')).toMatchObject({ sort: 'id', onDeselect: 'delete' });
});

test('the configuration tells what should not be used any more', () => {
  const fields = { author_id: { deprecated: 'Use name.' } };
  const config = {
    collections: { articles: { deprecated: 'Use texts.', fields } },
    relations: { 'authors.articles': { deprecated: 'Use texts of authors.' } },
  };
  const { schema, diagnostics } = resolve(magazine, { config });
  expect(complaints(diagnostics)).toEqual([]);
  const articles = schema.collections.find(({ name }) => name === 'articles');
  expect(articles?.deprecated).toBe('Use texts.');
  expect(articles?.fields.flatMap(({ deprecated }) => deprecated ?? [])).toEqual(['Use name.']);
  expect(relation(schema, 'authors', 'articles')).toMatchObject({ deprecated: 'Use texts of authors.' });
});

test('a hidden many-to-one takes along what is derived from it', () => {
  const config = { relations: { 'articles_tags.tag_id': { hidden: true } } };
  const { schema, diagnostics } = resolve(magazine, { config });
  expect(relationsOf(schema, 'tags')).toEqual([]);
  expect(relationsOf(schema, 'articles')).toEqual(['o2m articles_tags', 'm2o author_id']);
  expect(complaints(diagnostics)).toEqual([]);
});

test('a renamed composite many-to-one is followed by its inverse', () => {
  const stocks: TableSketch = { columns: ['a!', 'b!'], key: ['a', 'b'] };
  const prices: TableSketch = { columns: ['a!', 'b!'], key: ['a', 'b'], foreignKeys: ['a,b > stocks.a,b'] };
  const config = { relations: { 'prices.stocks': { name: 'stock' } } };
  const { schema } = resolve({ stocks, prices }, { config });
  expect(relation(schema, 'stocks', 'prices')).toMatchObject({ inverse: 'stock', single: true });
});

test('a collision that remains is an error that says how to name the relation', () => {
  const { diagnostics } = resolve({
    authors: { columns: ['id!', 'articles', 'articles_by_author_id'], key: ['id'] },
    articles,
  });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    {
      code: 'name-collision',
      place: 'collection authors',
      hint: 'Name it in the configuration: relations: { "authors.articles_by_author_id": { name: … } }.',
    },
  ]);
});
