/** The system resources by the commands of @directus/sdk, and what belongs to one of them alone. */
import { expect, it } from 'vitest';
import { listOf, memberOf, type RunCommand } from './walk.ts';

/** Singular and plural in the names of commands, and two items; names of the second are changed. */
interface Resource {
  readonly one: string;
  readonly many: string;
  readonly item: (place: string) => object;
  readonly change: object;
}

const resources: readonly Resource[] = [
  { one: 'Folder', many: 'Folders', item: (place) => ({ name: `Folder ${place}` }), change: { name: 'Renamed' } },
  {
    one: 'Preset',
    many: 'Presets',
    item: (place) => ({ collection: 'articles', bookmark: place }),
    change: { layout: 'tabular' },
  },
  { one: 'Role', many: 'Roles', item: (place) => ({ name: `Role ${place}` }), change: { description: 'Renamed' } },
  {
    one: 'User',
    many: 'Users',
    item: (place) => ({ email: `${place}@sdk.example.com`, password: 'A long password 1' }),
    change: { title: 'Renamed' },
  },
  {
    one: 'Comment',
    many: 'Comments',
    item: (place) => ({ collection: 'articles', item: '1', comment: place }),
    change: { comment: 'Renamed' },
  },
];

/** Registers the walks. */
export function walkSystem(run: RunCommand): void {
  it.each(resources)('writes and reads $many', async ({ one, many, item, change }) => {
    const first = await run(`create${one}`, item('one'));
    const others = listOf(await run(`create${many}`, [item('two'), item('three')]));
    const [id, second, third] = [first, ...others].map((made) => memberOf(made, 'id'));
    expect(await run(`read${one}`, id)).toMatchObject({ id });
    expect(listOf(await run(`read${many}`, { fields: ['id'], limit: -1 }))).toContainEqual({ id });
    expect(await run(`update${one}`, id, change)).toMatchObject(change);
    expect(await run(`update${many}`, [second], change)).toMatchObject([change]);
    expect(await run(`update${many}Batch`, [{ id: third, ...change }])).toMatchObject([change]);
    expect(await run(`delete${one}`, id)).toBeNull();
    expect(await run(`delete${many}`, [second, third])).toBeNull();
  });

  it('cannot write rules that a file has (section 12.4)', async () => {
    const rule = { role: null, collection: 'tags', action: 'read', fields: ['*'] };
    const [first] = listOf(await run('readPermissions', { limit: 1 }));
    expect(first).toBeUndefined();
    for (const [name, ...args] of [
      ['createPermission', rule],
      ['createPermissions', [rule]],
      ['readPermission', 1],
      ['updatePermission', 1, rule],
      ['updatePermissions', [1], rule],
      ['updatePermissionsBatch', [{ id: 1, ...rule }]],
      ['deletePermission', 1],
      ['deletePermissions', [1]],
    ] as const) {
      await expect(run(name, ...args)).rejects.toThrow(/UNPROCESSABLE_ENTITY|FORBIDDEN/);
    }
  });

  it('reads rules, activity, revisions and settings', async () => {
    expect(await run('readPermissions', { limit: -1 })).toEqual(expect.any(Array));
    const [activity] = listOf(await run('readActivities', { sort: ['-id'], limit: 1 }));
    expect(await run('readActivity', memberOf(activity, 'id'))).toEqual(activity);
    const [revision] = listOf(await run('readRevisions', { sort: ['-id'], limit: 1 }));
    expect(await run('readRevision', memberOf(revision, 'id'))).toMatchObject({ id: memberOf(revision, 'id') });
    expect(await run('updateSettings', { project_name: 'Walked' })).toMatchObject({ project_name: 'Walked' });
    expect(await run('readSettings', { fields: ['project_name'] })).toEqual({ project_name: 'Walked' });
  });

  it('keeps files', async () => {
    const bytes = Uint8Array.of(0, 1, 254, 255);
    const upload = (name: string): FormData => {
      const form = new FormData();
      form.append('title', name);
      // The library reads a text before its own commands for contents can.
      form.append('file', new Blob([bytes]), `${name}.bin`);
      return form;
    };
    const [id, second] = [await run('uploadFiles', upload('one')), await run('uploadFiles', upload('two'))].map(
      (file) => memberOf(file, 'id'),
    );
    expect(await run('readFile', id, { fields: ['title'] })).toEqual({ title: 'one' });
    expect(await run('updateFile', id, { title: 'renamed' })).toMatchObject({ title: 'renamed' });
    expect(await run('updateFiles', [id, second], { description: 'same' })).toHaveLength(2);
    expect(await run('updateFilesBatch', [{ id, title: 'again' }])).toMatchObject([{ title: 'again' }]);
    const blob = await run('readAssetBlob', id);
    expect(blob instanceof Blob && (await blob.bytes())).toEqual(bytes);
    const buffer = await run('readAssetArrayBuffer', id);
    expect(buffer instanceof ArrayBuffer && new Uint8Array(buffer)).toEqual(bytes);
    expect(await run('readAssetRaw', id)).toBeInstanceOf(ReadableStream);
    // Sections 11.2 and 16: addresses of the server's own network are denied.
    await expect(run('importFile', 'http://127.0.0.1:9/', {})).rejects.toThrow('INVALID_PAYLOAD');
    expect(await run('deleteFile', id)).toBeNull();
    expect(await run('deleteFiles', [second])).toBeNull();
  });

  it('invites', async () => {
    const [role] = listOf(await run('readRoles', { limit: 1, fields: ['id'] }));
    expect(await run('inviteUser', 'invited@sdk.example.com', memberOf(role, 'id'))).toBeNull();
    await expect(run('acceptUserInvite', 'x', 'A long password 1')).rejects.toThrow('INVALID_TOKEN');
  });
}
