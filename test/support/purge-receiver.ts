/** Stands for a shared cache: takes purges, and tells which answers they concern. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer } from './platform.ts';

/** Takes purges. */
export interface PurgeReceiver {
  readonly url: string;
  /** Tags of each purge so far. */
  readonly purges: (readonly string[])[];
  /** Answers so many purges with an error from now on, or as the server at this address does. */
  fail(count: number, as?: string): void;
  close(): Promise<void>;
}

/** Starts one. */
export async function receivePurges(header = 'surrogate-key'): Promise<PurgeReceiver> {
  const purges: string[][] = [];
  let failures = 0;
  let passedTo: string | undefined;
  const server = createServer(async (request, response) => {
    if (request.method !== 'PURGE' || failures > 0) {
      failures -= 1;
      const passed = passedTo === undefined ? undefined : await fetch(passedTo, { method: 'PURGE' });
      response.writeHead(passed?.status ?? 503).end(await passed?.text());
      return;
    }
    purges.push(String(request.headers[header]).split(' '));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    purges,
    fail(count, as) {
      failures = count;
      passedTo = as;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers that are kept, and purges of them. */
export interface PurgeWatch {
  /** An answer that is kept: on a busy machine one may take too long for that. */
  kept(path: string): Promise<Answer>;
  /** Waits until the cache was told twice of all writes so far. */
  settle(): Promise<void>;
  /** Those of the addresses whose answers the purges of a write concern. */
  purgedBy(write: () => Promise<unknown>, paths: readonly string[]): Promise<readonly string[]>;
}

/** Options of the watch. */
export interface PurgeWatchOptions {
  readonly receiver: () => PurgeReceiver;
  readonly header: string;
  readonly ask: (path: string) => Promise<Answer>;
  /** Writes an item of `fences`, which has one for each number from 1; nothing else is about this collection. */
  readonly touch: (number: number) => Promise<unknown>;
  /** Set where some answers are purged by any write, so that only the first purge after a write tells. */
  readonly isFirst?: true;
}

/** SQL of the collection `fences`. */
export const fencesSql = `CREATE TABLE fences (id integer PRIMARY KEY, n integer);
  INSERT INTO fences (id) VALUES ${Array.from({ length: 60 }, (_, index) => `(${index + 1})`).join()}`;

/** Watches purges by their order, not by the time that they take: those of a later write come after those of all before. */
export function watchPurges({ receiver, header, ask, touch, isFirst }: PurgeWatchOptions): PurgeWatch {
  const tagsOf = ({ headers }: Answer): readonly string[] => headers.get(header)?.split(' ') ?? [];
  let touched = 0;

  async function kept(path: string): Promise<Answer> {
    for (let tries = 0; tries < 500; tries++) {
      const answer = await ask(path);
      if (answer.headers.get('cache-control')?.startsWith('public') === true) return answer;
      await sleep(20);
    }
    throw new Error(`No answer to ${path} is kept.`);
  }

  /** Waits until the cache was told so often of a write of now. */
  async function outlast(times: number): Promise<void> {
    touched += 1;
    const [tag = ''] = tagsOf(await kept(`/items/fences/${touched}`));
    await touch(touched);
    const told = (): number => receiver().purges.filter((tags) => tags.includes(tag)).length;
    await expect.poll(told, { timeout: 120_000, interval: 20 }).toBeGreaterThanOrEqual(times);
  }

  return {
    kept,
    settle: () => outlast(2),
    async purgedBy(write, paths) {
      const answers = await Promise.all(paths.map(kept));
      await outlast(2);
      const { purges } = receiver();
      const before = purges.length;
      await write();
      // Tags of 50 ms are sent together, and that of everything then stands for all others.
      await sleep(100);
      if (isFirst) await expect.poll(() => purges.length, { timeout: 120_000, interval: 20 }).toBeGreaterThan(before);
      else await outlast(1);
      const purged = new Set(purges.slice(before).flat());
      return paths.filter((_, index) => answers[index] && tagsOf(answers[index]).some((tag) => purged.has(tag)));
    },
  };
}
