/** What a server tells of its database, by health and readiness. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Platform } from './platform.ts';

const paths = ['/server/health', '/server/ready', '/server/ready?role=any'];
/** Milliseconds after which most changes are told: states are no older than two seconds. */
export const promptMs = 3_000;
/** Milliseconds after which each is, on a machine that runs other tests. */
const changeMs = 20_000;

/** Status and body of `/server/health`, `/server/ready` and `/server/ready?role=any`. */
export async function told(platform: Platform): Promise<readonly string[]> {
  const answers = await Promise.all(paths.map((path) => platform.ask(path)));
  return answers.map(({ status, json }) => `${status} ${json.status}`);
}

/** As told where the database takes writes. */
export const primary = ['200 ok', '200 ok', '200 ok'];
/** As told where it takes none. */
export const away = ['503 error', '503 database', '503 database'];

/** How many times as long as on a machine at rest something may take beside other tests. */
const patience = 8;

/** Waits until the server says so; states are no older than two seconds, which `npm run topology` measures. */
export async function becomes(platform: Platform, expected: readonly string[], withinMs: number): Promise<void> {
  const end = performance.now() + patience * withinMs;
  while (performance.now() < end && String(await told(platform)) !== String(expected)) await sleep(50);
  expect(await told(platform)).toEqual(expected);
}

/** Milliseconds after which the server tells of a change; meanwhile it tells nothing but what was and what is so. */
export async function follows(
  platform: Platform,
  from: readonly string[],
  to: readonly string[],
  changedAt: number,
): Promise<number> {
  const seen = paths.map(() => false);
  let lateMs = 0;
  for (let after = 0; after < 10; await sleep(50)) {
    const now = await told(platform);
    for (const [index, answer] of now.entries()) {
      expect(seen[index] ? [to[index]] : [from[index], to[index]]).toContain(answer);
      seen[index] ||= answer === to[index] && from[index] !== to[index];
    }
    if (String(now) === String(to)) after++;
    else lateMs = performance.now() - changedAt;
    expect(lateMs).toBeLessThan(changeMs);
  }
  return lateMs;
}
