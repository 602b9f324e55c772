/** What a server tells of its database, by health and readiness. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Platform } from './platform.ts';

/** Status and body of `/server/health`, `/server/ready` and `/server/ready?role=any`. */
export async function told(platform: Platform): Promise<readonly string[]> {
  const paths = ['/server/health', '/server/ready', '/server/ready?role=any'];
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
