/** Answers that come no earlier than a given time, so that their duration reveals nothing. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs the work and settles as it does, but not before `leastMs` milliseconds have passed. */
export async function stall<T>(leastMs: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + leastMs;
  try {
    return await work();
  } finally {
    await waitUntil(end);
  }
}

/** The same for work that fails; a success is not delayed. */
export async function stallFailure<T>(leastMs: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + leastMs;
  try {
    return await work();
  } catch (error) {
    await waitUntil(end);
    throw error;
  }
}

async function waitUntil(end: number): Promise<void> {
  const left = end - performance.now();
  if (left > 0) await sleep(left);
}
