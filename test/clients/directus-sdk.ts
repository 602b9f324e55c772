/** Every command of the current @directus/sdk that the API has an endpoint for. */
import * as sdk from '@directus/sdk';
import { expect, it } from 'vitest';
import { otpOf } from '../support/otp.ts';
import type { Sample } from '../support/sample.ts';
import { walkSystem } from './directus-sdk-system.ts';
import { isElsewhere, tools } from './sdk-elsewhere.ts';
import { listOf, memberOf, type RunCommand, walking } from './walk.ts';

/** The part of the library's client that runs a command whose type is not known. */
function clientOf(url: string, token: string, walked: Set<string>): RunCommand {
  const client = sdk.createDirectus(url).with(sdk.rest()).with(sdk.staticToken(token));
  return walking(sdk, walked, (made) => {
    if (typeof made !== 'function') throw new Error('A command makes no request.');
    return client.request(() => Reflect.apply(made, undefined, []));
  });
}

/** Registers the walks. */
export function walkSdk(sample: () => Sample): void {
  const walked = new Set<string>();
  let made: RunCommand | undefined;
  const run: RunCommand = (name, ...args) => {
    made ??= clientOf(sample().url, sample().adminToken, walked);
    return made(name, ...args);
  };

  it('reads and writes items', async () => {
    const one = await run('createItem', 'tags', { name: 'sdk one' });
    const many = await run('createItems', 'tags', [{ name: 'sdk two' }, { name: 'sdk three' }]);
    const [id, second, third] = [one, ...listOf(many)].map((item) => memberOf(item, 'id'));
    expect(await run('readItem', 'tags', id, { fields: ['name'] })).toEqual({ name: 'sdk one' });
    const query = { filter: { name: { _starts_with: 'sdk' } }, sort: ['-name'], fields: ['name'], limit: 2, page: 1 };
    expect(await run('readItems', 'tags', query)).toEqual([{ name: 'sdk two' }, { name: 'sdk three' }]);
    expect(await run('updateItem', 'tags', id, { name: 'sdk 1' })).toMatchObject({ name: 'sdk 1' });
    expect(await run('updateItemsBatch', 'tags', [{ id: second, name: 'sdk 2' }])).toMatchObject([{ name: 'sdk 2' }]);
    const totals = { aggregate: { count: '*' }, query: { ...query, page: 3 } };
    expect(await run('aggregate', 'tags', totals)).toEqual([{ count: 3 }]);
    const nested = { fields: ['id', { tags: ['name'], author_id: ['*'] }], deep: { tags: { _limit: 1 } }, limit: 1 };
    expect(await run('readItems', 'articles', nested)).toMatchObject([{ tags: [{ name: expect.any(String) }] }]);
    expect(await run('updateItems', 'authors', [1, 2], { bio: 'same' })).toHaveLength(2);
    expect(await run('deleteItem', 'tags', id)).toBeNull();
    expect(await run('deleteItems', 'tags', [second, third])).toBeNull();
    expect(await run('readItems', 'tags', { filter: { name: { _starts_with: 'sdk' } } })).toEqual([]);
    expect(await searched(sample())).toHaveLength(2);
  });

  it('changes the model', async () => {
    const fields = [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      { field: 'title', type: 'string', schema: {}, meta: {} },
    ];
    const site = { collection: 'sdk_site', schema: {}, meta: { singleton: true }, fields };
    expect(await run('createCollection', site)).toMatchObject({ collection: 'sdk_site' });
    expect(await run('createField', 'sdk_site', { field: 'tag', type: 'integer', schema: {} })).toMatchObject({
      field: 'tag',
    });
    const link = { collection: 'sdk_site', field: 'tag', related_collection: 'tags', schema: {} };
    expect(await run('createRelation', link)).toMatchObject({ related_collection: 'tags' });
    expect(await run('updateSingleton', 'sdk_site', { title: 'Ours' })).toMatchObject({ title: 'Ours' });
    expect(await run('readSingleton', 'sdk_site', { fields: ['title'] })).toEqual({ title: 'Ours' });
    const sorted = [{ collection: 'sdk_site', meta: { sort: 9 } }];
    expect(await run('updateCollectionsBatch', sorted)).toMatchObject([{ meta: { sort: 9 } }]);
    const order = [{ field: 'title', meta: { sort: 2 } }];
    expect(await run('updateFields', 'sdk_site', order)).toMatchObject([{ meta: { sort: 2 } }]);
    await run('updateCollection', 'sdk_site', { meta: { note: 'One row.' } });
    await run('updateField', 'sdk_site', 'title', { meta: { note: 'Shown above.' } });
    await run('updateRelation', 'sdk_site', 'tag', { meta: { one_field: null } });
    expect(await run('readCollection', 'sdk_site')).toMatchObject({ meta: { note: 'One row.' } });
    expect(await run('readCollections')).toContainEqual(expect.objectContaining({ collection: 'articles' }));
    expect(await run('readField', 'sdk_site', 'title')).toMatchObject({ meta: { note: 'Shown above.' } });
    expect(listOf(await run('readFieldsByCollection', 'sdk_site')).length).toBeGreaterThan(2);
    expect(listOf(await run('readFields')).length).toBeGreaterThan(50);
    expect(await run('readRelation', 'sdk_site', 'tag')).toMatchObject({ related_collection: 'tags' });
    expect(listOf(await run('readRelationByCollection', 'sdk_site'))).toHaveLength(1);
    expect(listOf(await run('readRelations')).length).toBeGreaterThan(5);
    expect(await run('deleteRelation', 'sdk_site', 'tag')).toBeNull();
    expect(await run('deleteField', 'sdk_site', 'tag')).toBeNull();
    // Docs, model.md: what holds values goes only where the request says so.
    await expect(run('deleteField', 'sdk_site', 'title')).rejects.toThrow('UNPROCESSABLE_ENTITY');
    await expect(run('deleteCollection', 'sdk_site')).rejects.toThrow('UNPROCESSABLE_ENTITY');
    const removed = await sample().unchecked.admin('/collections/sdk_site?data=discard', { method: 'DELETE' });
    expect(removed.status).toBe(204);
    await run('createCollection', { collection: 'sdk_empty', schema: {} });
    expect(await run('deleteCollection', 'sdk_empty')).toBeNull();
  });

  it('signs in, refreshes and signs out', async () => {
    const { url, administrator } = sample();
    const signed = sdk.createDirectus(url).with(sdk.authentication('json')).with(sdk.rest());
    expect((await signed.login(administrator)).access_token).toEqual(expect.any(String));
    expect(await signed.request(sdk.readMe({ fields: ['email'] }))).toEqual({ email: administrator.email });
    expect((await signed.refresh()).refresh_token).toEqual(expect.any(String));
    await signed.logout();
    expect(await signed.getToken()).toBeNull();
    const tokens = await run('login', administrator, { mode: 'json' });
    const refreshed = await run('refresh', { mode: 'json', refresh_token: memberOf(tokens, 'refresh_token') });
    expect(await run('logout', { mode: 'json', refresh_token: memberOf(refreshed, 'refresh_token') })).toBeNull();
    expect(await run('readProviders')).toEqual([]);
    expect(await run('passwordRequest', 'nobody@example.com')).toBeNull();
    await expect(run('passwordReset', 'x', 'another password')).rejects.toThrow('INVALID_TOKEN');
  });

  walkSystem(run);

  it('uses the second factor, utilities and the server', async () => {
    const { email, password } = { email: 'factor@example.com', password: 'A long password 1' };
    const admin = listOf(await run('readRoles', { filter: { admin_access: { _eq: true } } }))[0];
    const user = await run('createUser', { email, password, role: memberOf(admin, 'id') });
    const tokens = await run('login', { email, password }, { mode: 'json' });
    const own = clientOf(sample().url, String(memberOf(tokens, 'access_token')), walked);
    const secret = String(memberOf(await own('generateTwoFactorSecret', password), 'secret'));
    expect(await own('enableTwoFactor', secret, otpOf(secret))).toBeNull();
    expect(await own('disableTwoFactor', otpOf(secret, 1))).toBeNull();
    expect(await own('readMe', { fields: ['email'] })).toEqual({ email });
    expect(await own('updateMe', { title: 'Walker' })).toMatchObject({ title: 'Walker' });
    expect(await run('deleteUser', memberOf(user, 'id'))).toBeNull();

    expect(await run('randomString', 16)).toMatch(/^.{16}$/);
    expect(await run('clearCache')).toSatisfy(isEmpty);
    expect(await run('utilitySort', 'categories', 2, 1)).toSatisfy(isEmpty);
    const form = new FormData();
    form.append('file', new Blob(['[{"name":"imported by the sdk"}]'], { type: 'application/json' }), 'tags.json');
    expect(await run('utilsImport', 'tags', form)).toSatisfy(isEmpty);
    const file = { title: 'Tags of the sdk' };
    expect(await run('utilsExport', 'tags', 'csv', { limit: 2 }, file)).toBeNull();
    expect(await run('readFiles', { filter: { title: { _eq: file.title } } })).toHaveLength(1);
    expect(await run('serverPing')).toBe('pong');
    expect(await run('serverInfo')).toHaveProperty('project');
    expect(await run('serverHealth')).toMatchObject({ status: expect.stringMatching(/^(ok|warn)$/) });
    expect(await run('readOpenApiSpec')).toHaveProperty('openapi');
    expect(await sdlOf(run)).toContain('type articles');
    expect(await run('readAssetRaw', memberOf(listOf(await run('readFiles', { limit: 1 }))[0], 'id'))).toBeDefined();
  });

  it('has been asked for everything that the API has', () => {
    const left = Object.keys(sdk).filter((name) => !walked.has(name) && !tools.has(name) && !isElsewhere(name));
    expect(left).toEqual([]);
  });
}

async function searched({ url, adminToken }: Sample): Promise<unknown> {
  const client = sdk.createDirectus(url).with(sdk.rest()).with(sdk.staticToken(adminToken));
  return client.request(sdk.withSearch(sdk.readItems('articles', { limit: 2 })));
}

async function sdlOf(run: RunCommand): Promise<string> {
  const answer = await run('readGraphqlSdl', 'item');
  return answer instanceof Response ? answer.text() : String(answer);
}

function isEmpty(value: unknown): boolean {
  return value === null || value instanceof Response;
}
