/** The sample as `npm start` serves it, from end to end. Every answer is compared with the OpenAPI document of its role. */
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, Ask } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { type Sample, startSample } from '../support/sample.ts';

let sample: Sample;
beforeAll(async () => {
  sample = await startSample();
});
afterAll(() => sample?.close());

const send = (method: string, path: string, body?: unknown): Promise<Answer> =>
  sample.admin(path, { method, ...(body !== undefined && { body }) });
function ids({ status, json, text }: Answer): readonly unknown[] {
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json.data.map(({ id }: { readonly id: unknown }) => id);
}

/** Expects success without a body, which is said without a type. */
function expectNothing(answer: Answer): void {
  expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([204, '', null]);
}

/** Resources of the platform that administrators write: two payloads, and a change. */
const resources: readonly (readonly [path: string, first: object, second: object, change: object])[] = [
  ['/folders', { name: 'Covers' }, { name: 'Letters' }, { name: 'Old covers' }],
  ['/roles', { name: 'guest' }, { name: 'proofreader' }, { description: 'Reads what is about to appear.' }],
  [
    '/users',
    { email: 'one@example.com', password: 'correct horse battery' },
    { email: 'two@example.com', password: 'correct horse battery' },
    { first_name: 'Ada' },
  ],
  ['/presets', { collection: 'articles', bookmark: 'Mine' }, { collection: 'tags' }, { search: 'harbour' }],
  [
    '/comments',
    { collection: 'articles', item: '1', comment: 'Too long.' },
    { collection: 'articles', item: '2', comment: 'Too short.' },
    { comment: 'Just right.' },
  ],
];

it('gives every answer an identifier of its own', async () => {
  const paths = ['/', '/docs', '/server/ping', '/items/articles?limit=1', '/items/nothing', '/nothing', '/graphql'];
  const answers = await Promise.all(paths.map((path) => sample.unchecked.ask(path)));
  const identifiers = answers.map(({ headers }) => headers.get('x-request-id'));
  expect(identifiers).toEqual(paths.map(() => expect.stringMatching(/^[\w-]{16}$/)));
  expect(new Set(identifiers).size).toBe(paths.length);
});

it('writes nothing where the query of a body misspells its filter', async () => {
  const before = ids(await sample.admin('/items/tags?limit=-1&fields=id'));
  const query = { filtr: { name: { _eq: 'none' } } };
  expect(failure(await send('DELETE', '/items/tags', { query }))).toBe('400 INVALID_QUERY');
  expect(failure(await send('PATCH', '/items/tags', { query, data: { name: 'all' } }))).toBe('400 INVALID_QUERY');
  expect(ids(await sample.admin('/items/tags?limit=-1&fields=id'))).toEqual(before);
});

it.each([
  {},
  null,
  '',
  { name: {} },
  { _and: [{}] },
  { _or: [{ name: 'none' }, {}] },
  { _or: [{ name: 'none' }, { name: {} }] },
  { articles: { status: {} } },
  { articles: {} },
  { articles: { _some: { title: {} } } },
])('writes nothing where a filter of a body has no condition: %j', async (filter) => {
  const before = ids(await sample.admin('/items/tags?limit=-1&fields=id'));
  expect(before).not.toEqual([]);
  const query = { filter };
  expect(failure(await send('DELETE', '/items/tags', { query }))).toBe('400 INVALID_QUERY');
  expect(failure(await send('PATCH', '/items/tags', { query, data: { name: 'all' } }))).toBe('400 INVALID_QUERY');
  expect(ids(await sample.admin('/items/tags?limit=-1&fields=id'))).toEqual(before);
});

it('writes what a filter of a body selects by items below, or by none of its conditions', async () => {
  const { length } = ids(await sample.admin('/items/tags?limit=-1&fields=id'));
  const change = (filter: object) => send('PATCH', '/items/tags?fields=id', { query: { filter }, data: {} });
  expect(ids(await change({ _and: [] }))).toHaveLength(length);
  expect((await change({ articles: { _some: {}, _none: {} } })).json.data).toEqual([]);
  expect((await change({ _or: [] })).json.data).toEqual([]);
});

it.each<[method: 'GET' | 'POST', path: string, body: object | undefined, missing: string]>([
  ['GET', '/items/artikles', undefined, '"artikles"'],
  ['GET', '/items/artikles/1', undefined, '"artikles"'],
  ['GET', '/items/articles?fields=titel', undefined, '"titel" of articles'],
  ['GET', '/items/articles?sort=author_id.nme', undefined, '"nme" of authors'],
  ['GET', '/items/articles?filter[titel]=1', undefined, '"titel" of the filter'],
  ['GET', '/users?filter[password][_nnull]=true', undefined, '"password" of the filter'],
  ['POST', '/items/articles', { titel: 'a' }, '"titel" of articles'],
])('tells administrators which name does not exist: %s %s', async (method, path, body, missing) => {
  const sent = { method, ...(body && { body }) };
  const { unchecked } = sample;
  const [answer, hidden] = await Promise.all([unchecked.admin(path, sent), unchecked.ask(path, sent)]);
  expect([answer.status, answer.json.errors[0].message]).toEqual([403, `Not found, or secret: ${missing}.`]);
  expect(hidden.json.errors[0].message).toBe('Not found, or you do not have permission.');
});

describe('resources of the platform', () => {
  it.each(resources)(
    '%s are made, read, searched, changed and deleted, one and several',
    async (path, a, b, change) => {
      const one = await send('POST', `${path}?fields=*`, a);
      expect(one.status).toBe(200);
      const { id } = one.json.data;
      const [other] = ids(await send('POST', path, [b]));
      const keys = [id, other];
      const filter = { id: { _in: keys } };
      const listed = await send('GET', `${path}?fields=*&sort=id&filter=${encodeURIComponent(JSON.stringify(filter))}`);
      expect(ids(listed).toSorted()).toEqual(keys.toSorted());
      expect(ids(await send('SEARCH', path, { query: { filter } }))).toHaveLength(2);
      expect((await send('GET', `${path}/${id}?fields=*`)).json.data).toMatchObject({ id });
      expect((await send('PATCH', `${path}/${id}?fields=*`, change)).json.data).toMatchObject(change);
      expect((await send('PATCH', path, { keys: [other], data: change })).json.data).toHaveLength(1);
      expectNothing(await send('DELETE', `${path}/${id}`));
      expectNothing(await send('DELETE', path, [other]));
      expect(failure(await send('GET', `${path}/${id}`))).toBe('403 FORBIDDEN');
    },
  );

  it('tell what was done, and keep settings', async () => {
    const made = await send('POST', '/items/tags', { name: 'walk' });
    const query = `filter[item]=${made.json.data.id}&filter[collection]=tags&fields=*`;
    const [activity] = (await send('GET', `/activity?${query}`)).json.data;
    expect(activity.action).toBe('create');
    expect((await send('GET', `/activity/${activity.id}`)).status).toBe(200);
    const [revision] = ids(await send('GET', `/revisions?${query}`));
    expect((await send('GET', `/revisions/${revision}?fields=*`)).json.data.data).toMatchObject({ name: 'walk' });
    expectNothing(await send('DELETE', `/items/tags/${made.json.data.id}`));
    expect((await send('GET', '/settings?fields=*')).status).toBe(200);
    const changed = await send('PATCH', '/settings?fields=*', { project_name: 'The magazine' });
    expect(changed.json.data.project_name).toBe('The magazine');
  });

  it('take comments below the activity, clear the cache, and hash', async () => {
    const comment = { collection: 'articles', item: '1', comment: 'As of old.' };
    const { json } = await send('POST', '/activity/comment', comment);
    expect((await send('PATCH', `/activity/comment/${json.data.id}`, { comment: 'Newer.' })).status).toBe(200);
    expectNothing(await send('DELETE', `/activity/comment/${json.data.id}`));
    const cleared = await send('POST', '/utils/cache/clear');
    expect([cleared.status, cleared.headers.get('content-type')]).toEqual([200, null]);
    const hash = (await send('POST', '/utils/hash/generate', { string: 'abc' })).json.data;
    expect((await send('POST', '/utils/hash/verify', { string: 'abc', hash })).json.data).toBe(true);
    expect((await send('GET', '/utils/random/string?length=12')).json.data).toHaveLength(12);
  });
});

it('everybody reads what the own document has, as it says', async () => {
  const roles = (await send('GET', '/roles?fields=id,name&limit=-1')).json.data;
  const callers: (string | undefined)[] = [undefined, sample.adminToken];
  for (const { id, name } of roles) {
    const credentials = { email: `walk-${name}@example.com`.toLowerCase(), password: 'correct horse battery' };
    await send('POST', '/users', { ...credentials, role: id });
    const signedIn = await sample.ask('/auth/login', { method: 'POST', body: credentials });
    expect([name, signedIn.status, signedIn.text]).toEqual([name, 200, expect.any(String)]);
    callers.push(signedIn.json.data.access_token);
  }
  for (const token of callers) {
    const as: Ask = token === undefined ? {} : { token };
    const { paths } = (await sample.unchecked.ask('/server/specs/oas', as)).json;
    const readable = Object.keys(paths).filter(
      (path) => paths[path].get !== undefined && !/\{|^\/(auth|graphql|utils|users\/me)|specs/.test(path),
    );
    expect(readable.length).toBeGreaterThan(10);
    for (const path of readable) expect([path, (await sample.ask(path, as)).status]).toEqual([path, 200]);
  }
});

it('a collection is made, filled, changed, asked by REST and GraphQL, and dropped', async () => {
  const field = (name: string, type: string, schema = {}) => ({ field: name, type, schema });
  const key = field('id', 'integer', { is_primary_key: true, has_auto_increment: true });
  const body = { collection: 'letters', schema: {}, fields: [key, field('subject', 'string')] };
  expect((await send('POST', '/collections', body)).status).toBe(200);
  expect((await send('POST', '/fields/letters', field('article_id', 'bigInteger'))).status).toBe(200);
  const related = { collection: 'letters', field: 'article_id', related_collection: 'articles' };
  expect((await send('POST', '/relations', related)).status).toBe(200);
  const note = { meta: { note: 'Letters of readers.' } };
  expect((await send('PATCH', '/collections/letters', note)).json.data.meta.note).toBe('Letters of readers.');
  const made = await send('POST', '/items/letters?fields=*,article_id.title', { subject: 'Thanks', article_id: '1' });
  expect(made.json.data).toMatchObject({ subject: 'Thanks', article_id: { title: expect.any(String) } });
  const query = '{ letters(filter: { subject: { _eq: "Thanks" } }) { id subject article_id { id } } }';
  const asked = await send('POST', '/graphql', { query });
  expect(asked.json.data.letters).toEqual([{ id: 1, subject: 'Thanks', article_id: { id: '1' } }]);
  expect(failure(await sample.ask('/items/letters'))).toBe('403 FORBIDDEN');
  expectNothing(await send('DELETE', '/relations/letters/article_id'));
  expectNothing(await send('DELETE', '/fields/letters/article_id?data=discard'));
  expect((await send('GET', '/items/letters?fields=*')).json.data).toEqual([{ id: 1, subject: 'Thanks' }]);
  expectNothing(await send('DELETE', '/collections/letters?data=discard'));
  expect(failure(await send('GET', '/items/letters'))).toBe('403 FORBIDDEN');
  expect((await send('POST', '/graphql', { query })).json.errors).toBeDefined();
});

it('files are uploaded, shown as images in other sizes, changed and deleted', async () => {
  const image = await sharp({ create: { width: 80, height: 40, channels: 3, background: '#2456c5' } })
    .png()
    .toBuffer();
  const form = new FormData();
  form.append('title', 'Cover');
  form.append('file', new File([new Uint8Array(image)], 'cover.png', { type: 'image/png' }));
  const { json } = await send('POST', '/files', form);
  expect(json.data).toMatchObject({ title: 'Cover', type: 'image/png', width: 80, height: 40 });
  const path = `/assets/${json.data.id}`;
  expect((await send('GET', path)).bytes.equals(image)).toBe(true);
  const small = await send('GET', `${path}?width=20&format=webp`);
  expect(await sharp(small.bytes).metadata()).toMatchObject({ format: 'webp', width: 20, height: 10 });
  expect((await send('HEAD', path)).headers.get('content-type')).toBe('image/png');
  expect((await send('PATCH', `/files/${json.data.id}`, { title: 'Back' })).json.data.title).toBe('Back');
  expect(failure(await sample.ask(path))).toBe('403 FORBIDDEN');
  expectNothing(await send('DELETE', `/files/${json.data.id}`));
  expect(failure(await send('GET', path))).toBe('403 FORBIDDEN');
});

it('is what it was when it is started again', async () => {
  await sample.restart();
  const signedIn = await sample.ask('/auth/login', { method: 'POST', body: sample.administrator });
  const me = await sample.ask('/users/me?fields=email', { token: signedIn.json.data.access_token });
  expect(me.json.data).toEqual({ email: sample.administrator.email });
  expect((await send('GET', '/items/orders?limit=1')).json.data).toHaveLength(1);
});
