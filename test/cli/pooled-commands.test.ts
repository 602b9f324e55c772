/** Commands through a pooler: what they tell the session they are given, its next client must not be under. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { runPlatform } from '../support/platform.ts';
import { type Pooler, poolerVersion, startPooler, withoutPooler } from '../support/pooler.ts';

// Several starts of the command each.
vi.setConfig({ testTimeout: 120_000 });

const modes = ['transaction', 'statement', 'session'] as const;
describe.skipIf(poolerVersion === undefined).each(modes)(`PgBouncer pooling by %s${withoutPooler}`, (mode) => {
  let folder: string;
  let database: TestDatabase;
  let pooler: Pooler;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platform-pooled-'));
    database = await createDatabase(
      'CREATE TABLE notes (id int PRIMARY KEY, body text); INSERT INTO notes SELECT generate_series(1, 20), NULL',
    );
    pooler = await startPooler(database.url, mode);
    await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { notes: { read: true } } }\n');
  });
  afterAll(async () => {
    await pooler?.stop();
    await Promise.all([database?.drop(), rm(folder, { recursive: true, force: true })]);
  });

  it('leaves sessions as they were', async () => {
    const explained = ['explain', 'GET /items/notes?filter[body][_eq]=x', '--as', 'public'];
    const printed: string[] = [];
    for (const args of [['introspect'], ['can', 'public', 'read', 'notes', '1'], explained, ['doctor', '--notes']]) {
      const done = await runPlatform([...args, '--project', folder], { DATABASE_URL: pooler.url });
      expect([args, done.code, done.stderr]).toEqual([args, 0, expect.any(String)]);
      printed.push(done.stderr);
      await withClient(pooler.url, (client) => client.query('UPDATE notes SET body = id::text'));
      const setting = (name: string) => withClient(pooler.url, (client) => client.query(`SHOW ${name}`));
      expect((await setting('enable_seqscan')).rows).toEqual([{ enable_seqscan: 'on' }]);
      expect((await setting('jit')).rows).toEqual([{ jit: 'on' }]);
    }
    if (mode !== 'statement') expect(printed[2]).toContain('consider one on (body)');
    expect(printed[3]).toContain('pooler: A pooler stands before the database');
  });
});
