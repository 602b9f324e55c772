/** The class-based @directus/sdk 10. */
import { Directus, TransportError } from 'directus-sdk-10';
import { expect, it } from 'vitest';
import type { Sample } from '../support/sample.ts';

type Collections = {
  readonly tags: { id: number; name: string };
  readonly articles: { id: string; title: string };
};

/** Registers the walks. */
export function walkOldSdk(sample: () => Sample): void {
  const client = () => {
    const { url, adminToken } = sample();
    return new Directus<Collections>(url, { auth: { staticToken: adminToken }, storage: { mode: 'MemoryStorage' } });
  };

  it('reads and writes items', async () => {
    const tags = client().items('tags');
    const one = await tags.createOne({ name: 'old one' });
    const id = one?.id ?? 0;
    const more = await tags.createMany([{ name: 'old two' }, { name: 'old three' }]);
    const others = (more.data ?? []).map((tag) => tag.id ?? 0);
    expect(others).toHaveLength(2);
    expect(await tags.readOne(id)).toMatchObject({ id, name: 'old one' });
    expect((await tags.readMany([id, ...others])).data).toHaveLength(3);
    const found = await tags.readByQuery({ filter: { name: { _starts_with: 'old' } }, sort: ['-name'], meta: '*' });
    expect([found.data?.length, found.meta?.filter_count]).toEqual([3, 3]);
    expect(await tags.updateOne(id, { name: 'old 1' })).toMatchObject({ name: 'old 1' });
    expect((await tags.updateBatch([{ id, name: 'old 1b' }])).data).toMatchObject([{ name: 'old 1b' }]);
    expect(await tags.deleteOne(id)).toBeUndefined();
    expect(await tags.deleteMany(others)).toBeUndefined();
    const totals = await client()
      .items('articles')
      .readByQuery({ aggregate: { count: '*' }, sort: ['-id'], page: 4 });
    expect(totals.data).toEqual([{ count: 250 }]);
  });

  it('reads the platform', async () => {
    const old = client();
    expect((await old.users.readByQuery({ limit: 1 })).data).toHaveLength(1);
    expect((await old.roles.readByQuery({ limit: -1 })).data?.length).toBeGreaterThan(0);
    expect((await old.activity.readByQuery({ limit: 1 })).data).toHaveLength(1);
    expect((await old.revisions.readByQuery({ limit: 1 })).data).toHaveLength(1);
    expect((await old.presets.readByQuery({})).data).toEqual([]);
    expect((await old.permissions.readByQuery({})).data).toEqual([]);
    expect((await old.folders.createOne({ name: 'Old' }))?.name).toBe('Old');
    expect((await old.files.readByQuery({ limit: 1 })).data).toEqual(expect.any(Array));
    expect(await old.collections.readOne('tags')).toMatchObject({ collection: 'tags' });
    expect(await old.settings.read()).toHaveProperty('project_name');
    expect(await old.server.ping()).toBe('pong');
    expect(await old.server.info()).toHaveProperty('project');
    expect(await old.utils.random.string(16)).toMatch(/^.{16}$/);
    const hash = (await old.utils.hash.generate('text')) ?? '';
    expect(await old.utils.hash.verify('text', hash)).toBe(true);
    expect(await old.utils.sort('categories', 2, 1)).toBeUndefined();
    const tags = await old.graphql.items<{ tags: unknown[] }>('{ tags(limit: 2) { name } }');
    expect(tags.data?.tags).toHaveLength(2);
    const users = await old.graphql.system<{ users: unknown[] }>('{ users(limit: 1) { email } }');
    expect(users.data?.users).toHaveLength(1);
  });

  it('signs in and out, and sees errors', async () => {
    const { url, administrator } = sample();
    const own = new Directus(url, { auth: { mode: 'json' }, storage: { mode: 'MemoryStorage' } });
    expect((await own.auth.login(administrator)).access_token).toEqual(expect.any(String));
    expect(await own.users.me.read({ fields: ['email'] })).toEqual({ email: administrator.email });
    expect(await own.users.me.update({ title: 'Old' })).toMatchObject({ title: 'Old' });
    expect(await own.auth.refresh()).toMatchObject({ access_token: expect.any(String) });
    await own.auth.logout();
    await own.auth.password.request(administrator.email);
    const refused = await client()
      .items('tags')
      .readOne(999_999)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(TransportError);
    expect(refused).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });
}
