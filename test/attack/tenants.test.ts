/**
 * Rows of another tenant cannot change what a caller is told. Two databases are asked the same: one with both companies, one
 * with the caller's alone. Answers have to be the same bytes, over REST and GraphQL, of reads, exports, writes and refusals.
 *
 * TENANT_REQUESTS asks so many, ATTACK_SEED repeats a run; every night asks 100,000.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../support/platform.ts';
import { seededRandom } from '../support/swarm.ts';
import { plainTenants, type TenantServer } from '../support/tenants.ts';
import { drawRequest, type TenantRequest } from './tenants/draw-requests.ts';

const requests = Number(process.env.TENANT_REQUESTS ?? 800);

let both: TenantServer;
let alone: TenantServer;
beforeAll(async () => {
  [both, alone] = await Promise.all([plainTenants(true), plainTenants(false)]);
});
afterAll(() => Promise.all([both?.close(), alone?.close()]));

const othersSql = ['customers', 'projects', 'tasks', 'labels', 'project_labels', 'task_labels', 'preferences'].map(
  (table) => `SELECT * FROM ${table} WHERE tenant_id = 2 ORDER BY 1, 2`,
);
const others = async () => JSON.stringify(await Promise.all(othersSql.map((sql) => both.rows(sql))));

it('answers are the same bytes with and without rows of others', async () => {
  const random = seededRandom();
  const before = await others();
  const seen = { answered: 0, filled: 0, written: 0, refused: 0, exports: 0, revisions: 0 };
  for (let index = 0; index < requests; index += 1) {
    const request = drawRequest(random);
    const [first, second] = await Promise.all([both.send(request), alone.send(request)]);
    const told = `request ${index}: ${JSON.stringify(request)}`;
    expect([first.status, bytesOf(first)], told).toEqual([second.status, bytesOf(second)]);
    expect(first.status, `${told}\n${first.text}`).toBeLessThan(500);
    count(seen, request, first);
    if (index % 10_000 === 9_999) console.info(JSON.stringify({ requests: index + 1, ...seen }));
  }
  console.info(JSON.stringify(seen));
  expect(await others()).toBe(before);
  expect(seen.filled).toBeGreaterThan(requests / 4);
  expect(seen.written).toBeGreaterThan(requests / 100);
  expect(seen.refused).toBeGreaterThan(requests / 100);
  expect(seen.exports).toBeGreaterThan(requests / 100);
  expect(seen.revisions).toBeGreaterThan(requests / 1_000);
}, 86_400_000);

/** Moments and random identifiers are not the same on two servers. */
function bytesOf({ text }: Answer): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z?/g, 'moment')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/g, 'identifier');
}

function count(
  seen: Record<'answered' | 'filled' | 'written' | 'refused' | 'exports' | 'revisions', number>,
  request: TenantRequest,
  answer: Answer,
): void {
  const isFine = answer.status < 300 && !answer.text.includes('"errors"');
  if (!isFine) seen.refused += 1;
  else if (request.writes) seen.written += 1;
  else seen.answered += 1;
  if (isFine && request.path.includes('export=')) seen.exports += 1;
  if (isFine && JSON.stringify(request).includes('revisions')) seen.revisions += 1;
  if (isFine && /[a-z]/.test(answer.text.replaceAll(/"data"|"meta"|[a-z_]+":/g, ''))) seen.filled += 1;
}
