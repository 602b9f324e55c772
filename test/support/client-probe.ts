/** A program over the clients of the blog (`packages/compiler/src/testing/blog.ts`): what has to pass, and what must not. */
export const probe = `
import { createClient, type Client, type ArticlesItem, type ArticlesCreate } from './client/admin/index.js';
import { createClient as createEditor } from './client/editor_reviewer/index.js';
import type { ArrayOperators, ArrayValue, JsonObject } from '@tablewright/client/typed';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
declare function is<Expected>(): <Found>(found: Found, ...same: Same<Expected, Found> extends true ? [] : ['is', Found]) => void;

export function arrays(read: readonly (number | null)[]): readonly (ArrayValue<number> | ArrayOperators<number>)[] {
  // @ts-expect-error: a text is no element
  const wrong: ArrayValue<number> = [[1], ['2']];
  return [[], [1, null], [[1, 2], [3, null]], read, wrong, { _eq: [[1], [2]] }, { _neq: read }];
}

export async function reads(client: Client): Promise<void> {
  const articles = client.items('articles');
  const all = await articles.readByQuery();
  is<readonly ArticlesItem[]>()(all.data);
  const nested = await articles.readByQuery({ fields: ['id', 'author_id.name', 'tags.name'], sort: ['-author_id.name', 'year(published_at)'] });
  is<readonly { id: string; author_id: { name: string } | null; tags: { name: string }[] }[]>()(nested.data);
  const deeper = await articles.readOne('1', { fields: ['author_id.articles.tags.id'] });
  is<{ author_id: { articles: { tags: { id: number }[] }[] } | null }>()(deeper);
  const starred = await articles.readOne(1, { fields: ['*', 'author_id.*'] });
  is<string>()(starred.title);
  is<string | undefined>()(starred.author_id?.name);
  is<'**********' | null | undefined>()(starred.author_id?.password);
  const twice = await articles.readOne(1, { fields: ['*.*'] });
  is<string | undefined>()(twice.tags[0]?.name);
  const called = await articles.readOne(1, { fields: ['year(published_at)', 'count(tags)', 'author_id.count(articles)'] });
  is<{ published_at_year: number | null; tags_count: number; author_id: { articles_count: number } | null }>()(called);
  const renamed = await articles.readOne(1, { fields: ['headline', 'writer.name'], alias: { headline: 'title', writer: 'author_id' } });
  is<{ headline: string; writer: { name: string } | null }>()(renamed);
  const linked = await articles.readOne(1, { fields: ['blocks.collection', 'blocks.item:authors.name', 'blocks.item:tags.id'] });
  const [block] = linked.blocks;
  if (block?.collection === 'tags') is<number | undefined>()(block.item?.id);
  const unscoped = await articles.readOne(1, { fields: ['blocks.item', 'blocks.item:authors.name'] });
  is<{ blocks: { item: string | { name: string } | null }[] }>()(unscoped);
  const counted = await articles.readOne(1, { fields: ['id', 'tags'], deep: { tags: { _group: ['name'], _aggregate: { count: '*' } } } });
  is<{ id: string; tags: { name: string; count: number }[] }>()(counted);
  const { data: rows } = await articles.aggregate({ groupBy: ['author_id', 'year(published_at)'], aggregate: { count: '*', sum: ['rating', 'score'], countDistinct: ['title'] }, having: { sum: { rating: { _gt: '2' } } }, sort: ['-count'] });
  is<number>()(rows[0]!.count);
  is<string | null>()(rows[0]!.sum.rating);
  is<number | null>()(rows[0]!.published_at_year);
  const { meta } = await articles.aggregate({ aggregate: { count: ['title', 'rating'] }, meta: ['filter_count'] });
  is<number | undefined>()(meta?.filter_count);
  const later: string[] = ['id'];
  is<JsonObject>()(await articles.readOne(1, { fields: later }));
  const settings = await client.singleton('settings').read({ fields: ['site_name'] });
  is<{ site_name: string | null }>()(settings);
}

export async function writes(client: Client): Promise<void> {
  const articles = client.items('articles');
  const created = await articles.createOne({ title: 'T', author_id: { name: 'Ann' }, tags: [1, { name: 'new' }, { id: 2, name: 'changed' }], blocks: [{ collection: 'tags', item: { name: 'x' } }] }, { fields: ['id'] });
  is<{ id: string }>()(created);
  const many: readonly ArticlesCreate[] = [{ title: 'A', keywords: ['a', null] }];
  await articles.createMany(many);
  const kept = await client.items('tags').createMany([{ name: 'a' }], { on_conflict: ['id'], fields: ['name'] });
  is<readonly { name: string }[]>()(kept.data);
  is<string | null | undefined>()((await articles.readByQuery({ cursor: '' })).meta?.next_cursor);
  await articles.updateOne('1', { tags: { create: [{ name: 'c' }], delete: [1] }, metadata: { a: [1, null] } });
  await articles.updateBatch([{ id: '1', title: 'B' }]);
  await articles.updateByQuery({ query: { filter: { title: { _icontains: 'a' } } }, data: { title: 'C' } });
  await client.items('articles_tags').deleteOne(['1', 2]);
  await client.singleton('settings').update({ site_name: null });
}

export async function filters(client: Client): Promise<void> {
  await client.items('articles').readByQuery({
    filter: {
      title: 'x', status: { _in: ['draft'] }, author_id: { name: { _starts_with: 'A' } }, tags: { _none: { name: 'x' } },
      blocks: { 'item:tags': { name: 'x' } }, 'year(published_at)': { _gte: 2020 }, metadata: { '/a/0': { _gt: 1 } }, _or: [{ id: 1 }, { id: '$CURRENT_USER' }],
    },
    deep: { tags: { _filter: { name: 'x' }, _sort: ['-name', 'id'], _limit: 3 }, blocks: { 'item:authors': { _filter: { name: 'x' } } } },
  });
}

export async function orders(client: Client, later: string[], variables: { readonly max: number }): Promise<void> {
  const authors = client.items('authors');
  await authors.readByQuery({ fields: ['articles.id'], deep: { articles: { _sort: later } } });
  await authors.readByQuery({ fields: ['articles.id'], deep: { articles: { _sort: ['-author_id.name', 'count(tags)', 'year(published_at)'] } } });
  await authors.readByQuery({ fields: ['articles'], deep: { articles: { _group: ['status'], _sort: ['-count', 'max.rating'] } } });
  await client.graphql.items('query ($max: Int) { tags(limit: $max) { id } }', variables);
}

export async function refusals(client: Client): Promise<void> {
  const articles = client.items('articles');
  const editor = createEditor('http://localhost');
  // @ts-expect-error: a path that is not there
  await articles.readByQuery({ fields: ['author_id.nam'] });
  // @ts-expect-error: a field that is not there
  await articles.readByQuery({ fields: ['id', 'titel'] });
  // @ts-expect-error: below a field that leads nowhere
  await articles.readByQuery({ fields: ['title.x'] });
  // @ts-expect-error: a collection that is not linked
  await articles.readByQuery({ fields: ['blocks.item:articles.id'] });
  // @ts-expect-error: a function that does not fit
  await articles.readByQuery({ fields: ['year(title)'] });
  // @ts-expect-error: an order through many items
  await articles.readByQuery({ sort: ['tags.name'] });
  // @ts-expect-error: an operator that does not fit
  await articles.readByQuery({ filter: { status: { _gt: 'a' } } });
  // @ts-expect-error: a value of another type
  await articles.readByQuery({ filter: { title: { _eq: 1 } } });
  // @ts-expect-error: a relation that is not there
  await articles.readByQuery({ deep: { tagz: { _limit: 1 } } });
  // @ts-expect-error: an order of related items by what is not there
  await articles.readByQuery({ deep: { tags: { _sort: ['-nmae'] } } });
  // @ts-expect-error: archived items of a collection that archives none
  await articles.readByQuery({ deep: { tags: { _archived: 'only' } } });
  // @ts-expect-error: a cursor beside keys
  await articles.readMany([1], { cursor: '' });
  // @ts-expect-error: all items beside those that have a value
  await articles.aggregate({ aggregate: { count: ['*', 'title'] } });
  // @ts-expect-error: an alias of nothing
  await articles.readByQuery({ alias: { a: 'nothing' } });
  // @ts-expect-error: a sum of texts
  await articles.aggregate({ aggregate: { sum: ['title'] } });
  // @ts-expect-error: a group that has no order
  await articles.aggregate({ groupBy: ['metadata'], aggregate: { count: '*' } });
  // @ts-expect-error: what was not asked for
  (await articles.readOne(1, { fields: ['id'] })).title;
  // @ts-expect-error: a title is required
  await articles.createOne({ status: 'draft' });
  // @ts-expect-error: a column that the database computes
  await articles.createOne({ title: 'T', minutes: 3 });
  // @ts-expect-error: the key is never changed
  await articles.updateOne(1, { id: 2 });
  // @ts-expect-error: an item that is linked has a collection
  await articles.createOne({ title: 'T', blocks: [{ item: 1 }] });
  // @ts-expect-error: no unique key
  await client.items('tags').createMany([{ name: 'a' }], { on_conflict: ['colour'] });
  // @ts-expect-error: nothing is created by a change
  await client.items('tags').updateOne(1, { name: 'a' }, { on_conflict: ['id'] });
  // @ts-expect-error: a view is not written
  await client.items('totals').createOne({});
  // @ts-expect-error: a singleton is no list
  client.items('settings');
  // @ts-expect-error: there are no users here
  client.users;
  // @ts-expect-error: the editor creates nothing
  await editor.items('articles').createOne({ title: 'T' });
  // @ts-expect-error: the editor sees no authors
  editor.items('authors');
  // @ts-expect-error: the author is a key only
  await editor.items('articles').readByQuery({ fields: ['author_id.name'] });
  // @ts-expect-error: the editor updates titles only
  await editor.items('articles').updateOne(1, { status: 'draft' });
  is<{ title: string; author_id: number | null }>()(await editor.items('articles').readOne(1, { fields: ['title', 'author_id'] }));
  void createClient;
}
`;
