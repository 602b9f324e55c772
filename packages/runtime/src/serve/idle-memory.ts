/**
 * Returns memory after a burst. V8 collects when it needs room, and an idle process needs none. Without this a process
 * keeps the memory of the largest answers until the next requests.
 */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often it is looked, in milliseconds. */
const lookMs = 2_000;
/** Bytes beyond the size after the last collection that are worth another one. */
const worthBytes = 32 * 1024 ** 2;
/** The part of its time that an idle process is busy, and how many looks in a row find it so: a collection takes 0.1 s or more. */
const idleUtilization = 0.15;
const idleLooks = 3;

/** Looks after the memory of this process until the function is called that it returns. */
export function collectWhenIdle(): () => void {
  let collect: (() => void) | undefined;
  let least = process.memoryUsage.rss();
  let before = performance.eventLoopUtilization();
  let idle = 0;

  function look(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    const resident = process.memoryUsage.rss();
    least = Math.min(least, resident);
    idle = utilization > idleUtilization ? 0 : idle + 1;
    if (resident - least < worthBytes || idle < idleLooks) return;
    collect ??= collector();
    // Twice: memory outside the heap that the first run frees is returned by the second.
    collect();
    collect();
    least = process.memoryUsage.rss();
  }

  const timer = setInterval(look, lookMs).unref();
  return () => clearInterval(timer);
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function' ? () => void collect() : () => {};
}
