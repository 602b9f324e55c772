/** The general limits of requests: per client, and of all. Source: API specification, sections 1.5, 2.9 and 16. */
import type { IncomingMessage } from 'node:http';
import type { Redis } from 'ioredis';
import { subnetOf } from '../environment/networks.ts';
import type { RequestLimit, RequestLimits } from '../environment/requests.ts';
import type { FindClientAddress } from '../operate/client-address.ts';
import { describeCause, type Log } from '../operate/log.ts';
import { type Counted, createWindows, exceeded, type Windows } from './windows.ts';

export interface RequestLimiter {
  /** Counts a request, at once where this process knows enough. Throws or rejects with REQUESTS_EXCEEDED. */
  admit(request: IncomingMessage): Promise<void> | undefined;
  /** Resolves when it is known whether other processes count along. */
  readonly opened: Promise<void>;
  close(): void;
}

/** Clients whose requests a process counts at the same time, about ten megabytes; further ones push the oldest out. */
const maxClients = 65_536;

interface Limit extends RequestLimit {
  readonly name: string;
  /** Key by which requests are counted: the client, or one key for all. */
  readonly keyOf: (request: IncomingMessage) => string;
  readonly windows: Windows;
  readonly reached: RequestLimitReached;
}

/** Called with the name of a limit that refuses a request (`client` or `all`), and the key that it counts by. */
type RequestLimitReached = (limit: string, key: string) => void;

/** Makes the limiter; null when no limit is on. */
export function createRequestLimiter(
  { client, global, redis }: RequestLimits,
  clientAddress: FindClientAddress,
  log: Pick<Log, 'info' | 'warn'>,
  reached: RequestLimitReached = () => {},
): RequestLimiter | null {
  // In this order: a request refused for its client does not count against all.
  const limits = [
    ...(client === null ? [] : [limitOf('client', client, maxClients, (request) => subnetOf(clientAddress(request)))]),
    ...(global === null ? [] : [limitOf('all', global, 1, () => '')]),
  ].map((limit): Limit => ({ ...limit, reached }));
  if (limits.length === 0) return null;
  const shared = redis === null ? null : createRedisCounters(redis, log);

  /** Copies shared counts to the local windows, so that refusing a client needs no further request to Redis. */
  async function countTogether(keys: readonly string[]): Promise<void> {
    const counters = limits.map(({ name, duration, points }, index) => {
      return { key: `platform:requests:${name}:${keys[index]}`, duration, points };
    });
    const counts = (await shared?.count(counters)) ?? null;
    if (counts === null) return countAlone(limits, keys);
    const now = performance.now();
    for (const [index, counted] of counts.entries()) limits[index]?.windows.note(keys[index] ?? '', counted, now);
    for (const [index, counted] of counts.entries()) check(limits[index], keys[index] ?? '', counted);
  }

  return {
    admit(request) {
      const keys = limits.map(({ keyOf }) => keyOf(request));
      if (shared?.isThere() !== true) {
        countAlone(limits, keys);
        return undefined;
      }
      const now = performance.now();
      for (const [index, limit] of limits.entries()) {
        const counted = limit.windows.read(keys[index] ?? '', now);
        if (counted !== undefined && counted.attempts >= limit.points) refuse(limit, keys[index] ?? '', counted.left);
      }
      return countTogether(keys);
    },
    opened: shared?.opened ?? Promise.resolve(),
    close: () => shared?.close(),
  };
}

function limitOf(name: string, limit: RequestLimit, maxWindows: number, keyOf: Limit['keyOf']): Omit<Limit, 'reached'> {
  return { ...limit, name, keyOf, windows: createWindows(limit.duration, maxWindows) };
}

function countAlone(limits: readonly Limit[], keys: readonly string[]): void {
  const now = performance.now();
  for (const [index, limit] of limits.entries()) {
    const key = keys[index] ?? '';
    check(limit, key, limit.windows.count(key, now));
  }
}

function check(limit: Limit | undefined, key: string, { attempts, left }: Counted): void {
  if (limit !== undefined && attempts > limit.points) refuse(limit, key, left);
}

function refuse({ name, points, reached }: Limit, key: string, left: number): never {
  reached(name, key);
  throw exceeded(points, left);
}

/** Counter, its window, and the count up to which it matters. */
interface SharedCounter {
  readonly key: string;
  /** Milliseconds of a window. */
  readonly duration: number;
  /** Above this count the following counters are left alone. */
  readonly points: number;
}

interface SharedCounters {
  /** True if Redis is worth asking at this moment. */
  isThere(): boolean;
  /** Counts one on each counter, and returns the counts, fewer if one had too many; null when late. Never rejects. */
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
function createRedisCounters(url: string, log: Pick<Log, 'info' | 'warn'>): SharedCounters {
  return new RedisCounters(url, log);
}

/**
 * Counters that several processes share, in Redis: one script counts, so that no two processes count the same, and a
 * counter ends with its window. Redis is optional: callers must be able to do without it at any moment.
 */
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
