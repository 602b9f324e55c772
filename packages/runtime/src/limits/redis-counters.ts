/**
 * Counters that several processes share, in Redis: one script counts, so that no two processes count the same, and a
 * counter ends with its window. Redis is optional: callers must be able to do without it at any moment.
 */
import type { Redis } from 'ioredis';
import { describeCause, type Log } from '../operate/log.ts';
import type { Counted } from './windows.ts';

/** Counter, its window, and the count up to which it matters. */
export interface SharedCounter {
  readonly key: string;
  /** Milliseconds of a window. */
  readonly duration: number;
  /** Above this count the following counters are left alone. */
  readonly points: number;
}

/** The counters of one Redis. */
export interface SharedCounters {
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
  let client: Redis | undefined;
  let closed = false;
  let isAway = false;
  let askAgainAt = Number.NEGATIVE_INFINITY;
  const opening = Promise.withResolvers<void>();

  function away(cause: unknown): void {
    opening.resolve();
    askAgainAt = performance.now() + pause;
    if (isAway || closed) return;
    isAway = true;
    log.warn({ cause: describeCause(cause) }, 'Redis does not answer. Each process counts requests on its own.');
  }

  function back(): void {
    opening.resolve();
    askAgainAt = Number.NEGATIVE_INFINITY;
    if (!isAway) return;
    isAway = false;
    log.info({}, 'Redis answers again. All processes count requests together.');
  }

  async function connect(): Promise<void> {
    const { Redis } = await import('ioredis');
    if (closed) return;
    client = new Redis(url, {
      // Nothing is sent later: a count belongs to its request.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 5_000,
      // A server that is frozen keeps its connections, and may never see them again.
      socketTimeout: 5_000,
      retryStrategy: (times) => Math.min(times * 200, 5_000),
    });
    client.on('ready', back);
    client.on('error', away);
    client.on('close', () => away(new Error('The connection was closed.')));
  }

  connect().catch(away);
  setTimeout(opening.resolve, pause).unref();

  return {
    isThere() {
      if (client?.status !== 'ready') return false;
      if (!isAway) return true;
      if (performance.now() < askAgainAt) return false;
      // One request finds out for all the others.
      askAgainAt = performance.now() + pause;
      return true;
    },
    async count(counters) {
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
        if (isAway) back();
        return readAnswer(response);
      } catch (cause) {
        away(cause);
        return null;
      } finally {
        clearTimeout(timer);
      }
    },
    opened: opening.promise,
    close() {
      closed = true;
      opening.resolve();
      client?.disconnect();
    },
  };
}

/** Pairs of attempts and milliseconds, as the script gives them. */
function readAnswer(response: unknown): readonly Counted[] {
  const numbers: readonly unknown[] = Array.isArray(response) ? response : [];
  return numbers.flatMap((attempts, index) => {
    const left = numbers[index + 1];
    return index % 2 === 0 && typeof attempts === 'number' && typeof left === 'number' ? [{ attempts, left }] : [];
  });
}
