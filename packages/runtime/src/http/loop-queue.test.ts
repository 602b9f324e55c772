import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LoopQueue } from './loop-queue.ts';

/** Keeps the event loop busy. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

test('a request alone begins at once, and so do short ones after it', () => {
  const queue = new LoopQueue(1_000);
  expect([queue.acquire(), queue.acquire(), queue.acquire()]).toEqual([undefined, undefined, undefined]);
});

test('requests that take long let the event loop turn in between', async () => {
  const queue = new LoopQueue(10_000);
  let turned = 0;
  let isOver = false;
  const count = (): void => {
    turned++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const request = async (begin: Promise<void>): Promise<void> => {
    await begin;
    await queue.acquire();
    work(6);
  };
  // As sockets hand requests over: one after the other, with their promises in between.
  await Promise.all(Array.from({ length: 12 }, () => request(nextTurn())));
  isOver = true;
  // Two requests take more than the part of a turn.
  expect(turned).toBeGreaterThanOrEqual(5);
});

test('a request that waited too long is refused', async () => {
  const queue = new LoopQueue(5);
  expect(queue.acquire()).toBeUndefined();
  work(15);
  const late = queue.acquire();
  work(15);
  await expect(late).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await nextTurn();
  expect(queue.acquire()).toBeUndefined();
});
