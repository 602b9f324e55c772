/**
 * The general limits of requests: per client address, and of all together. Source: API specification, sections 1.5, 2.9
 * and 16.
 */
import type { IncomingMessage } from 'node:http';
import { subnetOf } from '../environment/networks.ts';
import type { RequestLimit, RequestLimits } from '../environment/requests.ts';
import type { FindClientAddress } from '../operate/client-address.ts';
import type { Log } from '../operate/log.ts';
import { createRedisCounters } from './redis-counters.ts';
import { type Counted, createWindows, exceeded, type Windows } from './windows.ts';

/** Counts requests. */
export interface RequestLimiter {
  /**
   * Counts a request: at once where this process knows enough, else by a promise. Throws or rejects with
   * REQUESTS_EXCEEDED.
   */
  admit(request: IncomingMessage): Promise<void> | undefined;
  /** Resolves when it is known whether other processes count along. */
  readonly opened: Promise<void>;
  close(): void;
}

/** Clients whose requests a process counts at the same time, about ten megabytes; further ones push the oldest out. */
const maxClients = 65_536;

interface Limit extends RequestLimit {
  /** Name of the limit in Redis. */
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
    ...(client === null ? [] : [limitOf('client', client, maxClients, (request) => clientOf(clientAddress, request))]),
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

function clientOf(clientAddress: FindClientAddress, request: IncomingMessage): string {
  const address = clientAddress(request);
  return address === null ? '' : subnetOf(address);
}
