/** The data provider of refine for this API family: every method but those of live updates. */
import * as refine from '@tspvivek/refine-directus';
import { expect, it } from 'vitest';
import type { Sample } from '../support/sample.ts';
import { listOf, memberOf } from './walk.ts';

/** Registers the walks. */
export function walkRefine(sample: () => Sample): void {
  const client = () =>
    refine.createDirectus(sample().url).with(refine.rest()).with(refine.staticToken(sample().adminToken));
  const ask = async (method: string, request: object): Promise<unknown> => {
    const provider: object = refine.dataProvider(client());
    const found: unknown = Reflect.get(provider, method);
    if (typeof found !== 'function') throw new Error(`The provider has no ${method}.`);
    return Reflect.apply(found, provider, [request]);
  };

  it('lists pages with their totals, sorted and filtered', async () => {
    const list = await ask('getList', {
      resource: 'articles',
      pagination: { current: 3, pageSize: 20 },
      sorters: [{ field: 'published_at', order: 'desc' }],
      filters: [{ field: 'views', operator: 'gte', value: 10 }],
      meta: { fields: ['id', 'title', 'author_id.name'] },
    });
    expect(listOf(memberOf(list, 'data'))).toHaveLength(20);
    expect(Number(memberOf(list, 'total'))).toBeGreaterThan(40);
    const searched = { resource: 'tags', filters: [{ field: 'search', operator: 'contains', value: 'a' }] };
    const found = await ask('getList', { ...searched, meta: { noStatus: true } });
    expect(memberOf(found, 'total')).toBe(listOf(memberOf(found, 'data')).length);
    const users = await ask('getList', {
      resource: 'directus_users',
      meta: { noStatus: true, fields: ['id', 'email'] },
    });
    const own = expect.objectContaining({ email: sample().administrator.email });
    expect(listOf(memberOf(users, 'data'))).toContainEqual(own);
  });

  it('makes, reads, changes and removes items', async () => {
    const resource = 'tags';
    const made = memberOf(await ask('create', { resource, variables: { name: 'refined' } }), 'data');
    const id = memberOf(made, 'id');
    // Its `createMany` spreads a list into one object, so one item is made.
    const second = memberOf(await ask('createMany', { resource, variables: { name: 'refined 2' } }), 'data');
    const ids = [id, memberOf(second, 'id')];
    expect(await ask('getOne', { resource, id })).toMatchObject({ data: { id, name: 'refined' } });
    expect(listOf(memberOf(await ask('getMany', { resource, ids }), 'data'))).toHaveLength(ids.length);
    expect(await ask('update', { resource, id, variables: { name: 'refined 1' } })).toMatchObject({
      data: { name: 'refined 1' },
    });
    const bios = await ask('updateMany', { resource: 'authors', ids: [3, 4], variables: { bio: 'refined' } });
    expect(listOf(memberOf(bios, 'data'))).toHaveLength(2);
    // The library of its version gives the whole answer where that has no body.
    expect(await ask('deleteOne', { resource, id })).toMatchObject({ data: { status: 204 } });
    expect(listOf(memberOf(await ask('getMany', { resource, ids }), 'data'))).toHaveLength(1);
    await ask('deleteMany', { resource, ids: [memberOf(second, 'id')] });
    expect(listOf(memberOf(await ask('getMany', { resource, ids }), 'data'))).toEqual([]);
    expect(await ask('custom', { url: '/server/ping', method: 'get' })).toEqual({ data: 'pong' });
  });

  it('writes related items and files, and tells people what is wrong', async () => {
    const variables = {
      title: 'Refined',
      slug: 'refined-related',
      author_id: { name: 'Refined author' },
      tags: [{ name: 'refined tag' }],
      comments: [{ author_name: 'Reader', body: 'Good.' }],
    };
    const made = memberOf(await ask('create', { resource: 'articles', variables }), 'data');
    const id = memberOf(made, 'id');
    const related = { fields: ['author_id.name', 'tags.name', 'comments.body'] };
    const read = {
      author_id: { name: 'Refined author' },
      tags: [{ name: 'refined tag' }],
      comments: [{ body: 'Good.' }],
    };
    expect(await ask('getOne', { resource: 'articles', id, meta: related })).toEqual({ data: read });
    const wrong: readonly (readonly [object, string])[] = [
      [variables, '"slug" has a value that is taken.'],
      [{ ...variables, slug: 'refined-2' }, '"tags[0].name" has a value that is taken.'],
      [{ title: 'Refined' }, '"slug" is required.'],
      [
        { ...variables, slug: 'refined-2', tags: [], author_id: 9_999_999 },
        'there is no authors with the key "9999999"',
      ],
      [
        { ...variables, slug: 'refined-2', tags: [], comments: [{ body: 'x' }] },
        '"comments[0].author_name" is required.',
      ],
      [{ ...variables, slug: 'refined-2', tags: [], views: -1 }, '"views" does not meet a condition of the database.'],
      [{ ...variables, slug: 'refined-2', tags: [], status: 'gone' }, '"status" is not one of the allowed values.'],
    ];
    for (const [body, message] of wrong) {
      await expect(ask('create', { resource: 'articles', variables: body })).rejects.toThrow(message);
    }
    const form = new FormData();
    form.append('title', 'Refined file');
    form.append('file', new Blob(['refined']), 'refined.txt');
    const file = await client().request(refine.uploadFiles(form));
    const several = { resource: 'directus_files', ids: [memberOf(file, 'id')], variables: { description: 'Same' } };
    expect(await ask('updateMany', several)).toMatchObject({ data: [{ title: 'Refined file', description: 'Same' }] });
    await ask('deleteMany', { resource: 'directus_files', ids: several.ids });
    await ask('deleteOne', { resource: 'articles', id });
    await expect(ask('getOne', { resource: 'articles', id })).rejects.toThrow(
      'Not found, or you do not have permission.',
    );
  });
}
