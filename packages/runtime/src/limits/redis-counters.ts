/**
 * Counters that several processes share, in Redis: one script counts, so that no two processes count the same, and a
 * counter ends with its window. Redis is optional: callers must be able to do without it at any moment.
 */
import type { Redis } from 'ioredis';
import { describeCause, type Log } from '../operate/log.ts';
import type { Counted } from './windows.ts';

/** Counter, its window, and the count up to which it matters. */
interface SharedCounter {
  readonly key: string;
  /** Milliseconds of a window. */
  readonly duration: number;
  /** Above this count the following counters are left alone. */
  readonly points: number;
}

/** The counters of one Redis. */
interface SharedCounters {
  /** True if Redis is worth asking at this moment. */
  isThere(): boolean;
  /**
   * Counts one on each counter, and returns the counts; fewer if one had too many. Null when there was no answer in
   * time. Never rejects.
   */
  count(counters: readonly SharedCounter[]): Promise<readonly Counted[] | null>;
  /** Resolves when it is known whether Redis is there, within a second. */
  readonly opened: Promise<void>;
  close(): void;
}

/** Milliseconds that a request waits for Redis, and that others do without it when one has waited in vain. */
const timeoutMs = 200;
const pause = 1_000;

const source = `local answer = {}
for place, key in ipairs(KEYS) do
  local attempts = redis.call('INCR', key)
  local left = redis.call('PTTL', key)
  if left < 0 then
    left = tonumber(ARGV[2 * place - 1])
    redis.call('PEXPIRE', key, left)
  end
  answer[2 * place - 1] = attempts
  answer[2 * place] = left
  if attempts > tonumber(ARGV[2 * place]) then break end
end
return answer`;

/** Connects to the Redis of a URL, again and again when it is away, which is logged once each time. */
export function createRedisCounters(url: string, log: Pick<Log, 'info' | 'warn'>): SharedCounters {
  return new RedisCounters(url, log);
}

class RedisCounters implements SharedCounters {
  readonly #url: string;
  readonly #log: Pick<Log, 'info' | 'warn'>;
  readonly #opening = Promise.withResolvers<void>();
  readonly opened = this.#opening.promise;
  #client: Redis | undefined;
  #closed = false;
  #isAway = false;
  #askAgainAt = Number.NEGATIVE_INFINITY;

  constructor(url: string, log: Pick<Log, 'info' | 'warn'>) {
    this.#url = url;
    this.#log = log;
    this.#connect().catch((cause: unknown) => this.#away(cause));
    setTimeout(this.#opening.resolve, pause).unref();
  }

  isThere(): boolean {
    if (this.#client?.status !== 'ready') return false;
    if (!this.#isAway) return true;
    if (performance.now() < this.#askAgainAt) return false;
    // One request finds out for all the others.
    this.#askAgainAt = performance.now() + pause;
    return true;
  }

  async count(counters: readonly SharedCounter[]): Promise<readonly Counted[] | null> {
    const client = this.#client;
    if (client === undefined) return null;
    const keys = counters.map(({ key }) => key);
    const limits = counters.flatMap(({ duration, points }) => [duration, points]);
    const tooLate = Promise.withResolvers<never>();
    const giveUp = (): void => tooLate.reject(new Error('There was no answer in time.'));
    // After reading what has arrived: this process may have been too busy to see an answer that was in time.
    const timer = setTimeout(() => setImmediate(giveUp), timeoutMs);
    try {
      const response = await Promise.race([
        client.call('EVAL', source, keys.length, ...keys, ...limits),
        tooLate.promise,
      ]);
      if (this.#isAway) this.#back();
      return readAnswer(response);
    } catch (cause) {
      this.#away(cause);
      return null;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#closed = true;
    this.#opening.resolve();
    this.#client?.disconnect();
  }

  #away(cause: unknown): void {
    this.#opening.resolve();
    this.#askAgainAt = performance.now() + pause;
    if (this.#isAway || this.#closed) return;
    this.#isAway = true;
    this.#log.warn({ cause: describeCause(cause) }, 'Redis does not answer. Each process counts requests on its own.');
  }

  #back(): void {
    this.#opening.resolve();
    this.#askAgainAt = Number.NEGATIVE_INFINITY;
    if (!this.#isAway) return;
    this.#isAway = false;
    this.#log.info({}, 'Redis answers again. All processes count requests together.');
  }

  async #connect(): Promise<void> {
    const { Redis } = await import('ioredis');
    if (this.#closed) return;
    const client = new Redis(this.#url, {
      // Nothing is sent later: a count belongs to its request.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 5_000,
      // A server that is frozen keeps its connections, and may never see them again.
      socketTimeout: 5_000,
      retryStrategy: (times) => Math.min(times * 200, 5_000),
    });
    this.#client = client;
    client.on('ready', () => this.#back());
    client.on('error', (cause: unknown) => this.#away(cause));
    client.on('close', () => this.#away(new Error('The connection was closed.')));
  }
}

/** Pairs of attempts and milliseconds, as the script gives them. */
function readAnswer(response: unknown): readonly Counted[] {
  const numbers: readonly unknown[] = Array.isArray(response) ? response : [];
  return numbers.flatMap((attempts, index) => {
    const left = numbers[index + 1];
    return index % 2 === 0 && typeof attempts === 'number' && typeof left === 'number' ? [{ attempts, left }] : [];
  });
}
