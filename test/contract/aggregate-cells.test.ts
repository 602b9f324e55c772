import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCells } from '../support/cells.ts';
import { withClient } from '../support/database.ts';
import type { Magazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startCells();
});
afterAll(() => magazine?.close());

const seen = `FROM (SELECT id, title, status, CASE WHEN status = 'published' THEN views END AS views,
  CASE WHEN status = 'published' THEN rating END AS rating, CASE WHEN status = 'published' THEN author_id END AS author_id
  FROM articles WHERE status IN ('published', 'archived')) a`;

it.each([
  [
    'aggregate[count]=*&aggregate[countDistinct]=views&aggregate[sum]=views,rating&aggregate[max]=views',
    `SELECT json_build_object('count', count(*), 'countDistinct', json_build_object('views', count(DISTINCT views)),
      'sum', json_build_object('views', sum(views), 'rating', sum(rating)::text),
      'max', json_build_object('views', max(views))) ${seen}`,
  ],
  [
    'aggregate[count]=id,views,author_id',
    `SELECT json_build_object('count', json_build_object('id', count(id), 'views', count(views),
      'author_id', count(author_id))) ${seen}`,
  ],
  [
    'groupBy=author_id&aggregate[count]=*&sort=-count&limit=-1',
    `SELECT json_build_object('author_id', author_id, 'count', count(*)) ${seen}
      GROUP BY author_id ORDER BY count(*) DESC, author_id`,
  ],
  [
    'groupBy=status&aggregate[min]=rating&filter[views][_gte]=10&having={"count":{"views":{"_gt":1}}}',
    `SELECT json_build_object('status', status, 'min', json_build_object('rating', min(rating)::text)) ${seen}
      WHERE views >= 10 GROUP BY status HAVING count(views) > 1`,
  ],
])('hidden cells count as null: %s', async (query, sql) => {
  const { status, json } = await magazine.ask(`/items/articles?${query}`);
  const data = await withClient(magazine.database.url, async (client) => {
    const result = await client.query<{ row: string }>(`SELECT r::text AS row FROM (${sql}) s(r)`);
    return result.rows.map(({ row }): unknown => JSON.parse(row));
  });
  expect([status, json]).toEqual([200, { data }]);
});

it.each(['ask', 'admin'] as const)('a secret field is no name for %s', async (who) => {
  const unknown = await magazine[who]('/items/authors?groupBy=nothing');
  expect(unknown.status).toBe(403);
  for (const query of [
    'aggregate[count]=email',
    'aggregate[min]=email',
    'aggregate[countDistinct]=id,email',
    'groupBy=email',
    'groupBy=count(email)',
    'groupBy=id&sort=email',
    'groupBy=id&sort=-max.email',
    'groupBy=id&having={"max":{"email":{"_gt":"a"}}}',
    'groupBy=id&having={"count":{"email":{"_null":false}}}',
  ]) {
    const answer = await magazine[who](`/items/authors?${query}`);
    // Administrators are told which name it is.
    const text = who === 'ask' ? unknown.text : expect.stringMatching(/Not found, or secret: .*email/);
    expect([query, answer.status, answer.text]).toEqual([query, 403, text]);
  }
});

it('a view without a key can be aggregated', async () => {
  const { json } = await magazine.admin('/items/plenty?aggregate[count]=*&aggregate[sum]=amount&aggregate[avg]=id');
  expect(json.data).toEqual([{ count: 1_000_000, sum: { amount: '750000750000.0' }, avg: { id: 500_000.5 } }]);
});
