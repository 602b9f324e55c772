/** Tells shared caches which answers are out of date. Source: scale-out notes, section 8. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describeCause, type Log } from '../operate/log.ts';
import { longestKeptMs } from './tags.ts';

export type Purges = ReturnType<typeof createPurges>;

interface PurgesOptions {
  readonly urls: readonly string[];
  readonly tagHeader: string;
  /** Tag of all answers, which stands for more tags than are kept. */
  readonly all: string;
  /** Seconds after which every cache has dropped its answers. */
  readonly seconds: number;
  readonly log: () => Pick<Log, 'warn' | 'info'>;
}

/** Milliseconds for which tags are pending, and tags of one request at most. */
const gatherMs = 50;
const maxTags = 256;
/** Milliseconds after which a purge is repeated: later than the last answer that was read before the change. */
const repeatMs = longestKeptMs + 350;
/** Milliseconds that a cache has to answer, and pauses between tries. */
const answerMs = 2_000;
const firstPauseMs = 100;
/** Writes of a cache that is back wait so long at most: what they change is gone within a second. */
const maxPauseMs = 500;
/** Tags that wait for one cache at most; more become that of all. */
const maxWaiting = 8_192;

const notTaken =
  'The cache takes no purges. Its answers may be out of date until it does, or until their time is over.';

export function createPurges(options: PurgesOptions) {
  const targets = options.urls.map((url) => new PurgeTarget(url, options));
  const repeats = new Map<NodeJS.Timeout, readonly string[]>();
  let pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  function send(tags: readonly string[]): void {
    for (const target of targets) target.add(tags);
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const tags = pending.has(options.all) ? [options.all] : [...pending];
    pending = new Set();
    if (tags.length === 0) return;
    send(tags);
    const repeat = setTimeout(() => {
      repeats.delete(repeat);
      send(tags);
    }, repeatMs).unref();
    repeats.set(repeat, tags);
  }

  return {
    /** Answers with these tags are out of date. */
    purge(tags: readonly string[]): void {
      for (const tag of tags) pending.add(tag);
      timer ??= setTimeout(flush, gatherMs).unref();
    },
    /** Sends all that waits, at most for so long. */
    async close(graceMs: number): Promise<void> {
      const end = performance.now() + graceMs;
      flush();
      // Reads of other processes may still be answered with what was there before.
      if (repeats.size > 0) await sleep(Math.min(repeatMs, graceMs));
      for (const [repeat, tags] of repeats) {
        clearTimeout(repeat);
        send(tags);
      }
      await Promise.all(targets.map((target) => target.settled(end)));
    },
  };
}

/** One cache, with the tags that it has not been told yet. */
class PurgeTarget {
  readonly #url: string;
  readonly #options: PurgesOptions;
  /** Tags, and when every answer that has them is gone. */
  readonly #waiting = new Map<string, number>();
  #running: Promise<void> | undefined;
  #pause: AbortController | undefined;
  #closed = false;
  #failing = false;

  constructor(url: string, options: PurgesOptions) {
    this.#url = url;
    this.#options = options;
  }

  add(tags: readonly string[]): void {
    const until = performance.now() + this.#options.seconds * 1_000;
    if (this.#waiting.size + tags.length > maxWaiting) {
      this.#waiting.clear();
      this.#waiting.set(this.#options.all, until);
    } else for (const tag of tags) this.#waiting.set(tag, until);
    this.#running ??= this.#sendAll().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when nothing waits any more, or at the end. */
  async settled(end: number): Promise<void> {
    if (this.#running === undefined) return;
    const over = sleep(Math.max(0, end - performance.now()), undefined, { ref: false });
    await Promise.race([this.#running, over]);
    this.#closed = true;
    this.#pause?.abort();
  }

  async #sendAll(): Promise<void> {
    let pause = firstPauseMs;
    while (this.#waiting.size > 0 && !this.#closed) {
      const tags = [...this.#waiting].slice(0, maxTags);
      if (await this.#send(tags.map(([tag]) => tag))) {
        for (const [tag, until] of tags) if (this.#waiting.get(tag) === until) this.#waiting.delete(tag);
        pause = firstPauseMs;
      } else {
        this.#pause = new AbortController();
        await sleep(pause, undefined, { ref: false, signal: this.#pause.signal }).catch(() => undefined);
        pause = Math.min(2 * pause, maxPauseMs);
        this.#dropGone();
      }
    }
  }

  async #send(tags: readonly string[]): Promise<boolean> {
    try {
      const response = await fetch(this.#url, {
        method: 'PURGE',
        headers: { [this.#options.tagHeader]: tags.join(' ') },
        redirect: 'manual',
        signal: AbortSignal.timeout(answerMs),
      });
      // Some caches answer so where they hold nothing of the kind. Others pass on to a server what they do not know.
      const refusal = response.status === 404 ? await response.text() : '';
      if (refusal.includes('ROUTE_NOT_FOUND')) throw new Error('passed the purge on to a server');
      if (!response.bodyUsed) await response.body?.cancel();
      if (!response.ok && response.status !== 404) throw new Error(`answered ${response.status}`);
      if (this.#failing)
        this.#options.log().info({ event: 'cache-purge', url: this.#url }, 'The cache takes purges again.');
      this.#failing = false;
      return true;
    } catch (error) {
      const failure = { event: 'cache-purge', url: this.#url, cause: describeCause(error) };
      if (!this.#failing) this.#options.log().warn(failure, notTaken);
      this.#failing = true;
      return false;
    }
  }

  #dropGone(): void {
    const now = performance.now();
    for (const [tag, until] of this.#waiting) if (until < now) this.#waiting.delete(tag);
  }
}
