/** A disk that is full: whoever uploads is told so, and nothing is lost or left. Source: reliability, case R23. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { file, form } from '../support/files.ts';
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
