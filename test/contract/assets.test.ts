/** Contents of files as they are delivered. Source: API specification, section 11.3; security, cases H02, H04 and H07. */
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { file, form } from '../support/files.ts';
import type { Answer, Ask } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
let picture: Buffer;
/** Keys of uploads by their names. */
const ids = new Map<string, string>();

beforeAll(async () => {
  picture = await sharp({ create: { width: 80, height: 60, channels: 4, background: '#cc000080' } })
    .png()
    .toBuffer();
  const wide = await sharp({ create: { width: 300, height: 2, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    environment: { ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION: '200', ASSETS_CACHE_TTL: '1h' },
    permissions: `permissions:
  public:
    platform_files:
      read:
        - { fields: [id, title], filter: { title: { _neq: Secret } } }
        - { fields: [id, title], filter: { uploaded_by: { _eq: $CURRENT_USER } } }`,
  });
  const uploads = form(
    file(picture, 'Grün & "rot".png'),
    file(wide, 'wide.png'),
    file('0123456789', 'digits.txt'),
    file('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'drawing.svg', 'image/png'),
    file('hidden', 'secret.txt'),
    file(picture.subarray(0, 60), 'broken.png'),
    file('', 'empty.txt'),
  );
  const { json } = await project.admin('/files', { method: 'POST', body: uploads });
  for (const { id, filename_download } of json.data) ids.set(filename_download, id);
});
afterAll(() => project?.close());

const asset = (name: string, query = '', ask: Ask = {}): Promise<Answer> =>
  project.admin(`/assets/${ids.get(name)}${query}`, ask);
const settings = (body: unknown) => project.admin('/settings', { method: 'PATCH', body });

describe('a content', () => {
  it('is sent as it is, and runs nowhere', async () => {
    const { status, bytes, headers } = await asset('Grün & "rot".png');
    expect(status).toBe(200);
    expect(bytes).toEqual(picture);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(picture.length),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=3600',
      'content-disposition': `inline; filename="Gr_n _ _rot_.png"; filename*=UTF-8''Gr%C3%BCn%20%26%20%22rot%22.png`,
    });
    expect(headers.get('last-modified')).toMatch(/GMT$/);
    expect(headers.get('content-encoding')).toBeNull();
  });

  it.each([
    ['drawing.svg', '', 'image/svg+xml; charset=utf-8'],
    ['digits.txt', '', 'text/plain; charset=utf-8'],
    ['Grün & "rot".png', '?download', 'image/png'],
  ])('of %s%s is saved and not shown', async (name, query, type) => {
    const { headers } = await asset(name, query);
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(headers.get('content-type')).toBe(type);
  });

  it('may have any name behind its key', async () => {
    expect((await project.admin(`/assets/${ids.get('digits.txt')}/other%20name.txt`)).text).toBe('0123456789');
    expect(failure(await project.admin(`/assets/${ids.get('digits.txt')}/a/b`))).toBe('404 ROUTE_NOT_FOUND');
  });

  it('is for those who may read its file', async () => {
    const open = (name: string, query = '') => project.ask(`/assets/${ids.get(name)}${query}`);
    expect((await open('digits.txt')).text).toBe('0123456789');
    expect(failure(await open('secret.txt'))).toBe('403 FORBIDDEN');
    expect((await asset('secret.txt')).headers.get('cache-control')).toBe('private, max-age=3600');
    expect((await open('secret.txt', '?access_token=test-admin-token-0123456789-0123456789')).text).toBe('hidden');
    for (const key of ['00000000-0000-4000-8000-000000000000', 'x', '%00']) {
      const hidden = await open('secret.txt');
      expect((await project.ask(`/assets/${key}`)).text).toBe(hidden.text);
    }
  });

  it('is kept by shared caches only where those without a token may read it, too', async () => {
    const [user, token] = ['00000000-0000-4000-8000-00000000000b', 'token-of-no-role-000'];
    await project.rows(`INSERT INTO platform.platform_users (id, email, token) VALUES ('${user}', 'own@example.com', '${token}');
      UPDATE platform.platform_files SET uploaded_by = '${user}' WHERE id = '${ids.get('secret.txt')}'`);
    const ask = async (name: string) => {
      const { text, headers } = await project.ask(`/assets/${ids.get(name)}`, { token });
      return [text, headers.get('cache-control')];
    };
    expect(await ask('secret.txt')).toEqual(['hidden', 'private, max-age=3600']);
    expect(await ask('digits.txt')).toEqual(['0123456789', 'public, max-age=3600']);
    expect(failure(await project.ask(`/assets/${ids.get('secret.txt')}`))).toBe('403 FORBIDDEN');
  });

  it('is known again by its tag', async () => {
    const { headers } = await asset('digits.txt');
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await asset('digits.txt', '', { headers: { 'if-none-match': `"x", W/${etag}` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    const since = { 'if-modified-since': headers.get('last-modified') ?? '' };
    expect((await asset('digits.txt', '', { headers: since })).status).toBe(304);
    const before = { 'if-modified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' };
    expect((await asset('digits.txt', '', { headers: before })).status).toBe(200);
    expect((await asset('drawing.svg')).headers.get('etag')).not.toBe(etag);
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-1', 206, '9', 'bytes 9-9/10'],
    ['bytes=-99', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-18446744073709551615', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    [`bytes=${Array.from({ length: 1_000 }, (_, place) => `${place}-${place}`).join(',')}`, 200, '0123456789', null],
    ['bytes=3-1', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=-', 200, '0123456789', null],
  ])('is sent in parts: %s', async (range, status, text, told) => {
    const answer = await asset('digits.txt', '', { headers: { range } });
    expect([answer.status, answer.text, answer.headers.get('content-range')]).toEqual([status, text, told]);
  });

  it.each(['bytes=10-', 'bytes=10-11', 'bytes=-0'])('has no part %s', async (range) => {
    const answer = await asset('digits.txt', '', { headers: { range } });
    expect(failure(answer)).toBe('416 RANGE_NOT_SATISFIABLE');
    expect(answer.headers.get('content-range')).toBe('bytes */10');
  });

  it('is sent whole when the part is of another one', async () => {
    const etag = (await asset('digits.txt')).headers.get('etag') ?? '';
    const part = (ifRange: string) => asset('digits.txt', '', { headers: { range: 'bytes=0-1', 'if-range': ifRange } });
    expect((await part(etag)).text).toBe('01');
    expect((await part('"other"')).text).toBe('0123456789');
  });

  it('has a head, and may be empty', async () => {
    const head = await asset('digits.txt', '', { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, '10', '']);
    const empty = await asset('empty.txt');
    expect([empty.status, empty.headers.get('content-length'), empty.text]).toEqual([200, '0', '']);
  });
});

describe('an image', () => {
  const sizeOf = async (answer: Answer) => {
    const { width, height, format } = await sharp(answer.bytes).metadata();
    return [width, height, format];
  };

  it.each([
    ['?width=40', [40, 30, 'png']],
    ['?width=40&height=40', [40, 40, 'png']],
    ['?width=40&height=40&fit=inside', [40, 30, 'png']],
    ['?height=30&format=webp&quality=50', [40, 30, 'webp']],
    ['?width=160&withoutEnlargement=true', [80, 60, 'png']],
    ['?format=jpg', [80, 60, 'jpeg']],
    ['?key=system-small-cover', [64, 64, 'png']],
    ['?transforms=[["rotate",90],["blur",2],["grayscale"]]', [60, 80, 'png']],
    ['?transforms=[["extract",0,0,10,5]]', [10, 5, 'png']],
  ])('becomes what %s says', async (query, size) => {
    const answer = await asset('Grün & "rot".png', query);
    expect(answer.status).toBe(200);
    expect(await sizeOf(answer)).toEqual(size);
    expect(answer.headers.get('content-type')).toBe(`image/${size[2]}`);
    expect(answer.headers.get('content-disposition')).toMatch(/^inline; /);
    const again = await asset('Grün & "rot".png', query);
    expect(again.bytes).toEqual(answer.bytes);
    expect(again.headers.get('etag')).toBe(answer.headers.get('etag'));
    const part = await asset('Grün & "rot".png', query, { headers: { range: 'bytes=0-3' } });
    expect(part.bytes).toEqual(answer.bytes.subarray(0, 4));
  });

  it.each([
    ['Grün & "rot".png', '?key=nothing'],
    ['Grün & "rot".png', '?width=0'],
    ['Grün & "rot".png', '?width=201'],
    ['Grün & "rot".png', '?width=1.5'],
    ['Grün & "rot".png', '?fit=fill'],
    ['Grün & "rot".png', '?quality=101'],
    ['Grün & "rot".png', '?format=gif'],
    ['Grün & "rot".png', '?withoutEnlargement=yes'],
    ['Grün & "rot".png', '?transforms=x'],
    ['Grün & "rot".png', '?transforms=[["composite",[]]]'],
    ['Grün & "rot".png', '?transforms=[["toFile","/tmp/x"]]'],
    ['Grün & "rot".png', '?transforms=[["constructor"]]'],
    ['Grün & "rot".png', '?transforms=[["blur",1000]]'],
    ['Grün & "rot".png', '?transforms=[["rotate"]]'],
    ['Grün & "rot".png', '?transforms=[["flip"],["flip"],["flip"],["flip"],["flip"],["flip"]]'],
    ['Grün & "rot".png', '?transforms=[["extract",70,0,20,5]]'],
    ['wide.png', '?width=10'],
    ['broken.png', '?width=10'],
    ['digits.txt', '?fit=x'],
  ])('%s does not become what %s says', async (name, query) => {
    expect(failure(await asset(name, query))).toBe('400 INVALID_QUERY');
  });

  it('takes arguments within bounds, which it names', async () => {
    const refused = async (name: string, ...values: readonly (number | string)[]) =>
      (await asset('Grün & "rot".png', `?transforms=${JSON.stringify([[name, ...values]])}`)).text;
    expect(await refused('blur', 0.1)).toContain('\\"blur\\" takes a number from 0.3 to 100.');
    expect(await refused('tint', 'red')).toContain('\\"tint\\" takes a colour such as \\"#3366ff\\".');
    expect(await refused('flip', 1)).toContain('\\"flip\\" takes no arguments.');
    const single = await asset('Grün & "rot".png', '?transforms=["blur",2]');
    expect(single.json.errors[0].message).toContain('must be a JSON list of lists');
  });

  it('is the only thing that is made into others', async () => {
    expect((await asset('digits.txt', '?width=10')).text).toBe('0123456789');
    const { bytes, headers } = await asset('drawing.svg', '?width=10&format=png');
    expect(bytes.toString()).toContain('<svg');
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
  });

  it('becomes what the settings allow', async () => {
    const name = 'Grün & "rot".png';
    const presets = [{ key: 'thumb', fit: 'inside', width: 8, height: 8, format: 'webp', quality: 70 }];
    const refused = await settings({ storage_asset_presets: [{ key: 'wide', width: 201 }] });
    expect(failure(refused)).toBe('400 FAILED_VALIDATION');
    expect((await settings({ storage_asset_presets: presets, storage_asset_transform: 'presets' })).status).toBe(200);
    expect(await sizeOf(await asset(name, '?key=thumb'))).toEqual([8, 6, 'webp']);
    expect((await asset(name, '?key=system-small-contain')).status).toBe(200);
    expect(failure(await asset(name, '?width=8'))).toBe('400 INVALID_QUERY');
    await settings({ storage_asset_transform: 'none' });
    expect(failure(await asset(name, '?key=thumb'))).toBe('400 INVALID_QUERY');
    expect((await asset(name)).status).toBe(200);
    await settings({ storage_asset_transform: 'all', storage_asset_presets: null });
  });

  it('goes with its file', async () => {
    const { json } = await project.admin('/files', { method: 'POST', body: form(file(picture, 'short.png')) });
    const { id } = json.data;
    expect((await project.admin(`/assets/${id}?width=10`)).status).toBe(200);
    await project.admin(`/files/${id}`, { method: 'DELETE' });
    expect(failure(await project.admin(`/assets/${id}?width=10`))).toBe('403 FORBIDDEN');
    await expect
      .poll(() => project.rows('SELECT count(*)::int AS n FROM platform.platform_loose_files').then(([row]) => row?.n))
      .toBe(0);
  });
});
