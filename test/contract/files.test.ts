/** Uploads and what is kept of them. Source: API specification, section 11.1; security, cases H01 to H05. */

import { readdir } from 'node:fs/promises';
import { request as requestPlain } from 'node:http';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { file, form, type Part } from '../support/files.ts';
import { wav, webm } from '../support/media.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

const writers = '00000000-0000-4000-8000-0000000000ed';
const bob = '00000000-0000-4000-8000-00000000000b';
const ann = '00000000-0000-4000-8000-00000000000a';
const tokens = { bob: 'token-of-bob-0000000000', ann: 'token-of-ann-0000000000' };
const folder = '00000000-0000-4000-8000-0000000000f0';
const closed = '00000000-0000-4000-8000-0000000000f1';

let project: ServedProject;
let picture: Buffer;
beforeAll(async () => {
  picture = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#c00' } })
    .png()
    .toBuffer();
  project = await serveProject({
    system: true,
    sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
    environment: { FILES_MAX_UPLOAD_SIZE: '100kb' },
    permissions: `roles:
  writer: {}
permissions:
  writer:
    platform_files:
      create:
        fields: [folder, description]
        validation:
          type: { _neq: text/html }
          uploaded_by: { _eq: $CURRENT_USER }
          _or: [{ folder: { _null: true } }, { folder: { _neq: '${closed}' } }]
      read: { fields: ['*'], filter: { uploaded_by: { _eq: $CURRENT_USER } } }
      update: { fields: [title], filter: { uploaded_by: { _eq: $CURRENT_USER } } }
      delete: { filter: { uploaded_by: { _eq: $CURRENT_USER } } }`,
  });
});
beforeEach(async () => {
  await run(`TRUNCATE platform.platform_users, platform.platform_roles, platform.platform_activity, platform.platform_files,
      platform.platform_folders, platform.platform_settings, platform.platform_loose_files RESTART IDENTITY CASCADE;
    INSERT INTO platform.platform_roles (id, name) VALUES ('${writers}', 'writer');
    INSERT INTO platform.platform_users (id, email, role, token) VALUES
      ('${bob}', 'bob@example.com', '${writers}', '${tokens.bob}'), ('${ann}', 'ann@example.com', '${writers}', '${tokens.ann}');
    INSERT INTO platform.platform_folders (id, name) VALUES ('${folder}', 'Pictures'), ('${closed}', 'Closed')`);
});
afterAll(() => project?.close());

async function run(sql: string): Promise<readonly Record<string, unknown>[]> {
  return project.rows(sql);
}

/** Names of all contents that are kept. */
async function kept(): Promise<readonly string[]> {
  const entries = await readdir(join(project.folder, '.platform', 'uploads'), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

/** Files that are on their way. */
async function incoming(): Promise<readonly string[]> {
  return readdir(join(project.folder, '.platform', 'uploads', '.incoming')).catch(() => []);
}

/** Waits until contents and rows belong to each other, as they do a moment after every request. */
async function expectNoOrphans(): Promise<void> {
  await expect
    .poll(async () => {
      const rows = await run(
        'SELECT filename_disk AS name FROM platform.platform_files WHERE filename_disk IS NOT NULL',
      );
      const [{ loose } = {}] = await run('SELECT count(*)::int AS loose FROM platform.platform_loose_files');
      const names = new Set(rows.map(({ name }) => String(name)));
      const here = new Set(await kept());
      return [loose, [...names].filter((name) => !here.has(name)), (await incoming()).length];
    })
    .toEqual([0, [], 0]);
}

const send = (body: FormData, path = '/files', method = 'POST') => project.admin(path, { method, body });

describe('an upload', () => {
  it('is kept with what its content says', async () => {
    const { status, json } = await send(form(file(picture, 'holiday_photo.png', 'text/html')));
    expect(status).toBe(200);
    expect(json.data).toMatchObject({
      storage: 'local',
      filename_disk: `${json.data.id}.png`,
      filename_download: 'holiday_photo.png',
      title: 'Holiday Photo',
      type: 'image/png',
      charset: null,
      filesize: String(picture.length),
      width: 8,
      height: 6,
      uploaded_by: null,
      metadata: { format: 'png', channels: 3 },
    });
    expect(await kept()).toContain(`${json.data.id}.png`);
    const [activity] = await run('SELECT action, collection, item FROM platform.platform_activity');
    expect(activity).toEqual({ action: 'upload', collection: 'platform_files', item: json.data.id });
    await expectNoOrphans();
  });

  it('is known by what sounds, films and photographs tell of themselves', async () => {
    const photograph = sharp({ create: { width: 8, height: 6, channels: 3, background: '#c00' } }).withExif({
      IFD0: { Make: 'Acme\0\0' },
      IFD2: { DateTimeOriginal: '2026:01:02 03:04:05' },
    });
    const body = form(
      file(wav(3), 'a.wav'),
      file(webm(70), 'b.webm'),
      file(await photograph.jpeg().toBuffer(), 'c.jpg'),
      file(wav(3).subarray(0, 40), 'd.wav'),
    );
    const { json } = await send(body, '/files?fields=type,duration,metadata');
    expect(json.data).toMatchObject([
      { type: 'audio/wav', duration: 3, metadata: { codec: 'PCM', sampleRate: 8000, channels: 1 } },
      { type: 'video/webm', duration: 70, metadata: { container: 'EBML/webm' } },
      {
        type: 'image/jpeg',
        duration: null,
        metadata: {
          format: 'jpeg',
          exif: { Image: { Make: 'Acme' }, Photo: { DateTimeOriginal: '2026-01-02T03:04:05.000' } },
        },
      },
      { type: 'audio/wav', duration: null },
    ]);
  });

  it('has the fields in front of its file, and the last one those behind it', async () => {
    const { json } = await send(
      form(
        ['title', 'First'],
        ['folder', folder],
        file('1'),
        ['title', 'Second'],
        ['tags', '["a","b"]'],
        file('2', 'b.csv'),
        ['description', 'behind'],
      ),
      '/files?fields=title,folder,tags,description,type,charset',
    );
    expect(json.data).toEqual([
      { title: 'First', folder, tags: null, description: null, type: 'text/plain', charset: 'utf-8' },
      { title: 'Second', folder: null, tags: ['a', 'b'], description: 'behind', type: 'text/csv', charset: 'utf-8' },
    ]);
  });

  it('lies in the folder of the settings unless it says otherwise', async () => {
    await run(`INSERT INTO platform.platform_settings (storage_default_folder) VALUES ('${folder}')`);
    const { json } = await send(form(file('1'), ['folder', ''], file('2')), '/files?fields=folder');
    expect(json.data).toEqual([{ folder }, { folder: null }]);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\x.txt', 'x.txt'],
    ['a\u202Etxt.exe', 'atxt.exe'],
    [`${'long'.repeat(1_250)}.txt`, `${'long'.repeat(62)}lon.txt`],
    ['..', 'file'],
  ])('of the name %j is called otherwise', async (sent, name) => {
    const { json } = await send(form(file('x', sent)));
    expect(json.data.filename_download).toBe(name);
    expect(json.data.filename_disk).toBe(`${json.data.id}.txt`);
  });

  it.each([
    ['<!doctype html><script>alert(1)</script>', 'text/html'],
    ['<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', 'image/svg+xml'],
    ['<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>', 'application/xml'],
    ['%PDF-1.7\n%\u00e2\u00e3', 'application/pdf'],
    ['\0\u0001\u0002\u0003', 'application/octet-stream'],
    ['', 'text/plain'],
  ])('of %j is what it is, whatever its sender says', async (content, type) => {
    const { json } = await send(form(file(content, 'a.png', 'image/png')));
    expect(json.data.type).toBe(type);
  });

  it.each([
    ['no file', form(['title', 'x']), '400 INVALID_PAYLOAD'],
    ['a file that is too large', form(file('x'.repeat(102_401))), '400 INVALID_PAYLOAD'],
    ['fields of the server', form(['filename_disk', 'other.txt'], file('x')), '403 FORBIDDEN'],
    ['a key of its own', form(['id', bob], file('x')), '403 FORBIDDEN'],
    ['fields that are not there', form(['nothing', 'x'], file('x')), '403 FORBIDDEN'],
    ['a folder that is not there', form(['folder', bob], file('x')), '400 FAILED_VALIDATION'],
    ['a folder that is no key', form(['folder', 'x'], file('x')), '400 INVALID_PAYLOAD'],
    ['a title that is too long', form(['title', 'x'.repeat(256)], file('x')), '400 FAILED_VALIDATION'],
    ['a name that reaches a prototype', form(['__proto__', 'x'], file('x')), '400 INVALID_PAYLOAD'],
    ['lists that are no JSON', form(['tags', '[a'], file('x')), '400 INVALID_PAYLOAD'],
  ])('with %s leaves nothing', async (_, body, told) => {
    const before = (await kept()).length;
    expect(failure(await send(body))).toBe(told);
    await expectNoOrphans();
    await expect.poll(async () => (await kept()).length).toBe(before);
    expect(await run('SELECT id FROM platform.platform_files')).toEqual([]);
  });

  it('with very many parts, or none that can be read, is refused', async () => {
    const many = form(...Array.from({ length: 1_001 }, (_, place): Part => [`f${place}`, 'x']), file('x'));
    expect(failure(await send(many))).toBe('400 INVALID_PAYLOAD');
    for (const [type, body] of [
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=a', 'x'],
      ['multipart/form-data; boundary=a', '--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nx'],
    ]) {
      const answer = await fetch(`${project.url}/files`, {
        method: 'POST',
        headers: { 'content-type': String(type), authorization: 'Bearer test-admin-token-0123456789-0123456789' },
        body: String(body),
      });
      expect(answer.status).toBe(400);
    }
    const lines = Array.from({ length: 10_000 }, (_, place) => `X-${place}: y\r\n`).join('');
    const answer = await fetch(`${project.url}/files`, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=a',
        authorization: 'Bearer test-admin-token-0123456789-0123456789',
      },
      body: `--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n${lines}\r\nx\r\n--a--\r\n`,
    });
    expect([200, 400]).toContain(answer.status);
    await expectNoOrphans();
  });

  it('elsewhere is no body', async () => {
    expect(failure(await send(form(file('x')), '/items/plain'))).toBe('415 UNSUPPORTED_MEDIA_TYPE');
    expect(failure(await send(form(file('x')), '/folders'))).toBe('415 UNSUPPORTED_MEDIA_TYPE');
  });

  it('that breaks off leaves nothing', async () => {
    const before = (await kept()).length;
    const head = '--a\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
    for (const share of [0.01, 0.25, 0.5, 0.99]) {
      await cutAt(`${head}${'x'.repeat(90_000)}\r\n--a--\r\n`, share);
    }
    await expectNoOrphans();
    expect((await kept()).length).toBe(before);
    expect(await run('SELECT id FROM platform.platform_files')).toEqual([]);
  });

  it('is done once under a key', async () => {
    const headers = { 'idempotency-key': 'one' };
    const once = () => project.admin('/files', { method: 'POST', body: form(file('same')), headers });
    const first = await once();
    expect((await once()).text).toBe(first.text);
    const other = { method: 'POST', body: form(file('other')), headers };
    expect(failure(await project.admin('/files', other))).toBe('422 UNPROCESSABLE_ENTITY');
    expect(await run('SELECT id FROM platform.platform_files')).toHaveLength(1);
    await expectNoOrphans();
  });
});

/** Sends a share of a body and hangs up. */
function cutAt(body: string, share: number): Promise<void> {
  return new Promise((resolve) => {
    const request = requestPlain(`${project.url}/files`, {
      method: 'POST',
      headers: {
        'content-type': 'multipart/form-data; boundary=a',
        'content-length': String(body.length),
        authorization: 'Bearer test-admin-token-0123456789-0123456789',
      },
    });
    request.on('error', () => undefined);
    request.on('close', () => resolve());
    request.write(body.slice(0, Math.floor(body.length * share)), () => setTimeout(() => request.destroy(), 20));
  });
}

describe('rules', () => {
  const asBob = (body: FormData, path = '/files', method = 'POST') =>
    project.ask(path, { method, body, token: tokens.bob });

  it('see what the server finds out, and grant what the sender says', async () => {
    const { status, json } = await asBob(form(['description', 'mine'], file('x')));
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ description: 'mine', title: 'Note', uploaded_by: bob, modified_by: bob });
    expect(failure(await asBob(form(file('<!doctype html>'))))).toBe('400 FAILED_VALIDATION');
    expect(failure(await asBob(form(['title', 'mine'], file('x'))))).toBe('403 FORBIDDEN');
    expect(failure(await project.ask('/files', { method: 'POST', body: form(file('x')) }))).toBe('403 FORBIDDEN');
    await expectNoOrphans();
  });

  it('see what is filled in afterwards', async () => {
    await run(`INSERT INTO platform.platform_settings (storage_default_folder) VALUES ('${folder}')`);
    const { json } = await asBob(form(file('x')));
    expect(json.data).toMatchObject({ folder, uploaded_by: bob });
    await run(`UPDATE platform.platform_settings SET storage_default_folder = '${closed}'`);
    const refused = [await asBob(form(file('x'))), await asBob(form(file('x'), file('y')))];
    expect(refused.map(failure)).toEqual(['400 FAILED_VALIDATION', '400 FAILED_VALIDATION']);
    expect((await asBob(form(['folder', ''], file('x')))).status).toBe(200);
    await expectNoOrphans();
  });

  it('keep others from replacing, changing and removing', async () => {
    const { json } = await asBob(form(file('mine')));
    const path = `/files/${json.data.id}`;
    const asAnn = { token: tokens.ann };
    expect(failure(await project.ask(path, { ...asAnn, method: 'PATCH', body: form(file('hers')) }))).toBe(
      '403 FORBIDDEN',
    );
    expect(failure(await project.ask(path, { ...asAnn, method: 'PATCH', body: { title: 'hers' } }))).toBe(
      '403 FORBIDDEN',
    );
    expect(failure(await project.ask(path, { ...asAnn, method: 'DELETE' }))).toBe('403 FORBIDDEN');
    expect(failure(await project.ask(`/assets/${json.data.id}`, asAnn))).toBe('403 FORBIDDEN');
    expect(failure(await project.ask(path, { method: 'PATCH', token: tokens.bob, body: { filename_disk: 'x' } }))).toBe(
      '403 FORBIDDEN',
    );
    expect((await project.ask(`/assets/${json.data.id}`, { token: tokens.bob })).text).toBe('mine');
    await expectNoOrphans();
  });
});

describe('a file', () => {
  it('without content waits for one', async () => {
    const make = (body: unknown) => project.admin('/files', { method: 'POST', body });
    for (const body of [{}, { filename_download: 'x.txt' }])
      expect(failure(await make(body))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await make({ type: 'text/plain' }))).toBe('400 FAILED_VALIDATION');
    const { schemas } = (await project.admin('/server/specs/oas')).json.components;
    expect(schemas.CreatePlatformFiles.required.toSorted()).toEqual(['filename_download', 'type']);
    const { json } = await make({ type: 'text/html', filename_download: 'x.txt' });
    const { id } = json.data;
    expect(json.data).toMatchObject({ filename_disk: null, filesize: null, type: 'text/html' });
    expect(failure(await project.admin(`/assets/${id}`))).toBe('403 FORBIDDEN');
    expect((await project.admin(`/files/${id}`, { method: 'PATCH', body: { type: 'text/css' } })).status).toBe(200);
    expect((await send(form(file('now')), `/files/${id}`, 'PATCH')).json.data.type).toBe('text/plain');
    const typed = await project.admin(`/files/${id}`, { method: 'PATCH', body: { type: 'text/css' } });
    expect(failure(typed)).toBe('400 INVALID_PAYLOAD');
    expect((await project.admin(`/assets/${id}`)).text).toBe('now');
  });

  it('gets another content under its key, and the old one goes', async () => {
    const { json } = await send(form(['title', 'Kept'], file('old')));
    const { id, filename_disk: old } = json.data;
    const replaced = await send(form(file(picture, 'new.png')), `/files/${id}`, 'PATCH');
    expect(replaced.json.data).toMatchObject({
      id,
      title: 'Kept',
      filename_download: 'new.png',
      type: 'image/png',
      width: 8,
    });
    await expectNoOrphans();
    await expect.poll(kept).not.toContain(old);
    expect((await project.admin(`/assets/${id}`)).bytes).toEqual(picture);
    expect(failure(await send(form(file('1'), file('2')), `/files/${id}`, 'PATCH'))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await send(form(file('1')), `/files/${bob}`, 'PATCH'))).toBe('403 FORBIDDEN');
    const other = { method: 'PATCH', body: form(file('1')), headers: { 'if-match': 'W/"other"' } };
    expect(failure(await project.admin(`/files/${id}`, other))).toBe('422 UNPROCESSABLE_ENTITY');
    await expectNoOrphans();
  });

  it('goes with its content, alone and with others', async () => {
    const { json } = await send(form(file('1'), file('2'), file('3')));
    const [one, ...others]: { id: string; filename_disk: string }[] = json.data;
    expect((await project.admin(`/files/${one?.id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await project.admin('/files', { method: 'DELETE', body: others.map(({ id }) => id) })).status).toBe(204);
    await expectNoOrphans();
    for (const { filename_disk } of json.data) await expect.poll(kept).not.toContain(filename_disk);
  });
});
