/** A disk that is full: whoever uploads is told so, and nothing is lost or left. Source: reliability, case R23. */
import { execFileSync } from 'node:child_process';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptSecret } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { file, form } from '../support/files.ts';
import { createProject, runPlatform, startUnchecked } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** A folder of two megabytes, or null where this machine lets nobody mount one. */
async function mountSmall(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder], { stdio: 'ignore' });
    return folder;
  } catch {
    await rm(folder, { recursive: true });
    return null;
  }
}

const disk = await mountSmall();
const without = disk === null ? ' (left out: nothing can be mounted here)' : '';

describe.skipIf(disk === null)(`a disk of two megabytes${without}`, () => {
  let project: ServedProject;
  beforeAll(async () => {
    project = await serveProject({
      system: true,
      sql: 'CREATE TABLE plain (id integer PRIMARY KEY);',
      environment: { STORAGE_LOCATIONS: 'local', STORAGE_LOCAL_DRIVER: 'local', STORAGE_LOCAL_ROOT: disk ?? '' },
    });
  });
  afterAll(async () => {
    await project?.close();
    execFileSync('umount', [disk ?? '']);
    await rm(disk ?? '', { recursive: true });
  });

  const upload = (content: Buffer) => project.admin('/files', { method: 'POST', body: form(file(content)) });
  const left = async () => ({
    rows: (await project.rows('SELECT filename_disk FROM platform.platform_files ORDER BY 1')).map((row) =>
      String(row.filename_disk),
    ),
    files: (await readdir(disk ?? '', { withFileTypes: true })).filter((one) => one.isFile()).map(({ name }) => name),
    incoming: await readdir(join(disk ?? '', '.incoming')),
  });

  it('takes what fits, refuses the rest with 503, and takes more when there is room again', async () => {
    const first = await upload(Buffer.alloc(400_000, 'a'));
    expect(first.status).toBe(200);
    const name: string = first.json.data.filename_disk;
    for (const size of [3_000_000, 5_000_000]) {
      const refused = await upload(Buffer.alloc(size, 'b'));
      expect([failure(refused), refused.headers.get('retry-after')]).toEqual([
        '503 SERVICE_UNAVAILABLE',
        expect.any(String),
      ]);
    }
    await expect.poll(left).toEqual({ rows: [name], files: [name], incoming: [] });
    await writeFile(join(disk ?? '', 'ballast'), Buffer.alloc(1_500_000));
    expect(failure(await upload(Buffer.alloc(400_000, 'c')))).toBe('503 SERVICE_UNAVAILABLE');
    expect((await project.admin(`/assets/${first.json.data.id}`)).bytes.length).toBe(400_000);
    expect((await project.admin('/files?fields=id')).json.data).toHaveLength(1);
    await rm(join(disk ?? '', 'ballast'));
    const again = await upload(Buffer.alloc(400_000, 'c'));
    expect(again.status).toBe(200);
    expect(await readFile(join(disk ?? '', again.json.data.filename_disk), 'latin1')).toBe('c'.repeat(400_000));
    await expect.poll(async () => (await left()).incoming).toEqual([]);
  });
});

it.skipIf(disk === null)(`a secret is kept wholly or not at all${without}`, async () => {
  const folder = (await mountSmall()) ?? '';
  try {
    await writeFile(join(folder, 'ballast'), Buffer.alloc(2 * 1024 * 1024));
    await expect(keptSecret(folder)).rejects.toThrow('ENOSPC');
    await rm(join(folder, 'ballast'));
    expect(await keptSecret(folder)).toHaveLength(43);
    expect(await readdir(folder)).toEqual(['secret']);
  } finally {
    execFileSync('umount', [folder]);
    await rm(folder, { recursive: true });
  }
});

it.skipIf(disk === null)(`a new project is there wholly or not at all${without}`, { timeout: 60_000 }, async () => {
  const folder = (await mountSmall()) ?? '';
  const init = () => runPlatform(['init', '--yes', '--project', join(folder, 'shop')]);
  try {
    execFileSync('mount', ['-o', 'remount,size=16k', folder]);
    expect(await init()).toMatchObject({ code: 2, stderr: expect.stringContaining('ENOSPC') });
    execFileSync('mount', ['-o', 'remount,size=2m', folder]);
    expect((await init()).code).toBe(0);
    const rules = await readFile(join(folder, 'shop', 'permissions.yaml'), 'utf8');
    expect([await readdir(join(folder, 'shop', 'migrations')), rules]).toEqual([
      ...[expect.arrayContaining([expect.stringMatching(/\.sql$/)]), expect.stringContaining('products')],
    ]);
  } finally {
    execFileSync('umount', [folder]);
    await rm(folder, { recursive: true });
  }
});

/** PostgreSQL of tests runs as `nobody` where root runs them. */
const nobody = 65534;

it.skipIf(disk === null)(
  `administrators hear from every worker that writes find the disk of the database full, until one succeeds${without}`,
  { timeout: 60_000 },
  async () => {
    const folder = (await mountSmall()) ?? '';
    if (process.getuid?.() === 0) await chown(folder, nobody, nobody);
    const space = `small_${process.pid}`;
    const database = await createDatabase('');
    const run = (sql: string) => withClient(database.url, (client) => client.query(sql));
    const project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
    try {
      await run(`CREATE TABLESPACE ${space} LOCATION '${folder}'`);
      await run(`CREATE TABLE notes (id integer PRIMARY KEY, body text) TABLESPACE ${space}`);
      await run('ALTER TABLE notes ALTER body SET STORAGE EXTERNAL');
      const server = await startUnchecked(project.folder, database.url, {}, ['--generate', '--workers', '2']);
      try {
        const write = (id: number, length: number) =>
          server.admin('/items/notes', { method: 'POST', body: { id, body: 'x'.repeat(length) } });
        /** Health over several connections, which the workers share. */
        const health = async () => {
          const answers = await Promise.all(Array.from({ length: 8 }, () => server.admin('/server/health')));
          return answers.map(({ status, json: { status: whole, checks } }) => [
            ...[status, whole, checks.database.status, checks.database.output?.[0]],
          ]);
        };
        const eachTime = (...expected: readonly unknown[]) => Array.from({ length: 8 }, () => expected);
        // The whole also tells of waits on a busy machine.
        expect(await health()).toEqual(eachTime(200, expect.any(String), 'ok', undefined));
        expect(failure(await write(1, 900_000))).toBe('200 no error');
        expect(failure(await write(2, 900_000))).toBe('200 no error');
        expect(failure(await write(3, 900_000))).toBe('503 SERVICE_UNAVAILABLE');
        const sentence = expect.stringMatching(
          /^Writes fail because the disk of the database is full: the first \d+ s ago/,
        );
        await expect.poll(health).toEqual(eachTime(200, 'warn', 'warn', sentence));
        // The server reads, and takes the writes for which there is room.
        expect((await server.ask('/server/health')).json).toEqual({ status: 'ok' });
        expect((await server.ask('/server/ready')).status).toBe(200);
        expect((await server.ask('/items/notes?fields=id')).json.data).toEqual([{ id: 1 }, { id: 2 }]);
        expect(failure(await write(4, 10))).toBe('200 no error');
        await expect.poll(health).toEqual(eachTime(200, expect.any(String), 'ok', undefined));
      } finally {
        await server.stop();
      }
    } finally {
      await run('DROP TABLE IF EXISTS notes');
      await run(`DROP TABLESPACE IF EXISTS ${space}`);
      await Promise.all([database.drop(), project.remove()]);
      execFileSync('umount', [folder]);
      await rm(folder, { recursive: true });
    }
  },
);
