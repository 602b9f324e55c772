/** The platform over a database that is only reached through a pooler by transactions. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateHosted } from '../support/host.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { isWithout } from '../support/optimizations.ts';
import { createProject, type Platform, startPlatform } from '../support/platform.ts';
import { type Pooler, poolerVersion, startPooler, withoutPooler } from '../support/pooler.ts';

const reads = [
  '/items/articles?limit=5',
  '/items/articles?fields=title,author_id.name,tags.name,comments.body&sort=-published_at&limit=20&meta=*',
  '/items/articles?groupBy=status&aggregate[count]=*&sort=status',
  '/items/articles?limit=-1&export=csv',
  '/items/articles/1',
  '/items/orders',
  '/items/articles?filter[id][_gt]=x',
];

describe.skipIf(poolerVersion === undefined)(`behind PgBouncer${withoutPooler}`, () => {
  let magazine: Magazine;
  let pooler: Pooler;
  let project: Awaited<ReturnType<typeof createProject>>;
  let pooled: Platform;
  beforeAll(async () => {
    magazine = await startMagazine();
    pooler = await startPooler(magazine.database.url, 'transaction');
    project = await createProject('fixtures/magazine');
    // Compiled through it, too.
    await generateHosted(project.folder, pooler.url);
    pooled = await startPlatform(project.folder, pooler.url, { LOG_LEVEL: 'warn' }, []);
  });
  afterAll(async () => {
    await pooled?.stop();
    await pooler?.stop();
    await Promise.all([magazine?.close(), project?.remove()]);
  });

  it.skipIf(isWithout('fast-driver'))('one line of the log says which driver is used, and why', async () => {
    const lines = (): string[] =>
      pooled
        .log()
        .split('\n')
        .filter((line) => line.includes('plain pg'));
    // The log may be behind the answers.
    await expect.poll(lines).toEqual([expect.stringContaining('pooler')]);
  });

  it.each(reads)('%s has the answer that the database itself gives', async (path) => {
    const [ours, direct] = await Promise.all([pooled.ask(path), magazine.ask(path)]);
    expect([ours.status, ours.headers.get('etag'), ours.text]).toEqual([
      direct.status,
      direct.headers.get('etag'),
      direct.text,
    ]);
  });

  it('is healthy', async () => {
    expect((await pooled.admin('/server/health')).status).toBe(200);
  });
});
