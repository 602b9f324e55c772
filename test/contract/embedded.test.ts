/** The embedded database answers with the same bytes as a real server. */

import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dataSql } from '../../fixtures/magazine/data.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { createProject, type Platform, startPlatform } from '../support/platform.ts';

let magazine: Magazine;
let project: Awaited<ReturnType<typeof createProject>>;
let embedded: Platform;
beforeAll(async () => {
  magazine = await startMagazine();
  project = await createProject('fixtures/magazine');
  const dataDir = join(project.folder, '.platform', 'database');
  await mkdir(dataDir, { recursive: true });
  const database = await PGlite.create({ dataDir });
  await database.exec(await readFile(join(project.folder, 'database.postgres.sql'), 'utf8'));
  for (const statement of dataSql(1)) await database.exec(statement);
  await database.close();
  embedded = await startPlatform(project.folder, '');
}, 60_000);
afterAll(async () => {
  await embedded?.stop();
  await Promise.all([magazine?.close(), project?.remove()]);
});

it.each([
  '/items/measurements?limit=-1',
  '/items/articles?fields=*.*&limit=40',
  '/items/articles?fields=title,comments.article_id.author_id.articles.tags.name&limit=20&meta=*',
  '/items/orders?fields=*,order_lines.*&limit=-1',
  '/items/article_stats?sort=-article_id&limit=5',
  '/items/articles?limit=-1&filter[author_id][name][_contains]=a',
  '/items/articles/99999999',
])('%s', async (path) => {
  const expected = await magazine.admin(path);
  const answer = await embedded.admin(path);
  expect(answer.status).toBe(expected.status);
  expect(answer.text).toBe(expected.text);
  expect((await embedded.ask(path)).text).toBe((await magazine.ask(path)).text);
});
