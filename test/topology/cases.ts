/** Cases that topologies share. */
import { setTimeout as sleep } from 'node:timers/promises';
import { told } from '../support/host-told.ts';
import type { Platform } from '../support/platform.ts';
import { examineOrders, startWriters } from './orders.ts';
import { type CaseRow, percentile, untilTrue } from './report.ts';

const header = 'x-consistency-token';
/** The wait is measured at one read of so many. */
const measuredEach = 5;

/** Writes, and reads at once what was written, with the token of the answer; four at once. */
export async function readBehindWrites(server: Platform, count: number): Promise<CaseRow> {
  let stale = 0;
  let number = 0;
  let untold = 0;
  const waits: number[] = [];
  const work = async (): Promise<void> => {
    while (number++ < count) {
      const ref = `read ${number}`;
      const written = await server.admin('/items/orders?fields=id', { method: 'POST', body: { ref } });
      const token = written.headers.get(header) ?? '';
      if (token === '' || token === 'latest') untold++;
      const path = `/items/orders/${written.json.data.id}?fields=ref`;
      const read = (): ReturnType<Platform['admin']> => server.admin(path, { headers: { [header]: token } });
      const start = performance.now();
      if ((await read()).json.data?.ref !== ref) stale++;
      const first = performance.now();
      if (waits.length * measuredEach > number) continue;
      await read();
      // The second read waits for nothing any more.
      waits.push(Math.max(0, first - start - (performance.now() - first)));
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  const [p50, p99] = [percentile(waits, 50), percentile(waits, 99)];
  return {
    name: `${count} reads behind writes, with token`,
    expected: '0 stale; wait p50 <= 1 ms, p99 <= 10 ms',
    measured: `${stale} stale, ${untold} without a position; p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`,
    isMet: stale + untold === 0 && p50 <= 1 && p99 <= 10,
    ...(stale + untold === 0 && { isLate: true }),
  };
}

/** Reads go on while something happens to a replica: so many before it and after it, and for some seconds. */
export async function readMeanwhile(name: string, server: Platform, happen: () => Promise<unknown>): Promise<CaseRow> {
  const each = 200;
  const state = { failed: 0, count: 0, slowest: 0, isOver: false };
  const read = async (): Promise<void> => {
    while (!state.isOver) {
      const start = performance.now();
      if ((await server.admin('/items/orders?limit=5')).status !== 200) state.failed++;
      state.slowest = Math.max(state.slowest, performance.now() - start);
      state.count++;
      await sleep(5);
    }
  };
  const reading = Promise.all(Array.from({ length: 4 }, read));
  await Promise.all([sleep(1_000), untilTrue(async () => state.count >= each)]);
  const before = state.count;
  await happen();
  const then = state.count;
  await Promise.all([sleep(3_000), untilTrue(async () => state.count >= then + each)]);
  state.isOver = true;
  await reading;
  const { failed, count, slowest } = state;
  return {
    name,
    expected: '0 failed reads, none of a second',
    measured: `${failed} of ${count}, ${before} of them before it; ${Math.round(slowest)} ms at most`,
    isMet: failed === 0 && slowest < 1_000,
    ...(failed === 0 && { isLate: true }),
  };
}

/**
 * A read by a standby that stands still is one that does not have what was written two seconds before. As much is added to them
 * as a request took at most: a machine that runs other tests looks at its servers so much later.
 */
export async function readPaused(server: Platform, ms: number): Promise<CaseRow> {
  const start = performance.now();
  let errors = 0;
  let slowest = 0;
  const ages: number[] = [];
  const written: { readonly ref: string; readonly at: number }[] = [];
  while (performance.now() - start < ms) {
    const begun = performance.now();
    const ref = `paused ${begun}`;
    await server.admin('/items/orders?fields=id', { method: 'POST', body: { ref } });
    written.push({ ref, at: performance.now() });
    const { status, json } = await server.admin('/items/orders?fields=ref&sort=-id&limit=1');
    if (status !== 200) errors++;
    const newest = written.find((entry) => entry.ref === json.data?.[0]?.ref)?.at ?? start;
    const now = performance.now();
    slowest = Math.max(slowest, now - begun);
    if (now - start > 2_500) ages.push(now - newest);
    await sleep(20);
  }
  const late = ages.filter((age) => age > 2_000 + slowest).length;
  return {
    name: `replay paused ${ms / 1000} s`,
    expected: 'from 2 s on no read there, 0 errors',
    measured: `${late} late reads of ${ages.length}, ${errors} errors`,
    isMet: late === 0 && errors === 0,
  };
}

/** Losses of the server that takes writes. */
export interface Losses {
  readonly name: string;
  readonly count: number;
  /** False where replication may lose what was acknowledged. */
  readonly isKept: boolean;
  /** Ends the server, and gives the time from which on another one takes writes. */
  lose(round: number): Promise<number>;
  /** Addresses of the servers that have everything now. */
  survivors(): Promise<readonly string[]>;
  /** Brings the server back. */
  restore(): Promise<void>;
}

/** Writes while the server that takes writes is lost again and again. */
export async function loseOften(server: Platform, losses: Losses): Promise<readonly CaseRow[]> {
  const { name, count, isKept } = losses;
  const found = { acknowledged: 0, lost: 0, twice: 0, partial: 0, slowest: 0, longest: 0 };
  for (let round = 0; round < count; round++) {
    const writers = startWriters(server, 8, `${name} ${round}`);
    await sleep(1_000);
    const takenAt = await losses.lose(round);
    await untilTrue(async () => performance.now() > takenAt + 3_000 || writers.firstAfter(takenAt) !== undefined);
    await sleep(500);
    await writers.stop();
    const { acknowledged } = writers;
    found.acknowledged += acknowledged.size;
    for (const url of await losses.survivors()) {
      const { lost, twice, partial } = await examineOrders(url, acknowledged);
      found.lost += lost;
      found.twice = Math.max(found.twice, twice);
      found.partial = Math.max(found.partial, partial);
    }
    found.slowest = Math.max(found.slowest, (writers.firstAfter(takenAt) ?? Number.POSITIVE_INFINITY) - takenAt);
    found.longest = Math.max(found.longest, writers.slowest);
    await losses.restore();
  }
  const { acknowledged, lost, twice, partial, slowest, longest } = found;
  return [
    {
      name,
      expected: isKept ? '0 acknowledged lost, 0 twice, 0 partial' : 'losses counted; 0 twice, 0 partial',
      measured: `${lost} of ${acknowledged} lost, ${twice} twice, ${partial} partial`,
      isMet: twice === 0 && partial === 0 && (lost === 0 || !isKept),
    },
    {
      name: 'first write after that',
      expected: '<= 1 s after another server takes writes',
      measured: `${Math.round(slowest)} ms at most; longest request ${Math.round(longest)} ms`,
      isMet: slowest <= 1_000,
      isLate: slowest < Number.POSITIVE_INFINITY,
    },
  ];
}

const sent: readonly { readonly method: 'GET' | 'POST' | 'PATCH'; readonly path: string; readonly body?: object }[] = [
  ...['/items/orders', '/items/orders/1', '/users?limit=1', '/server/ready', '/server/ready?role=any'].map((path) => ({
    method: 'GET' as const,
    path,
  })),
  { method: 'POST', path: '/items/orders', body: { ref: 'x' } },
  { method: 'PATCH', path: '/items/orders/1', body: { ref: 'x' } },
  { method: 'POST', path: '/auth/login', body: { email: 'a@example.com', password: 'some password' } },
];

/** Statuses of requests of some methods, and the longest time that one took. */
export async function askAll(server: Platform, methods: readonly string[]) {
  let slowest = 0;
  const statuses = await Promise.all(
    sent
      .filter(({ method }) => methods.includes(method))
      .map(async ({ path, ...options }) => {
        const start = performance.now();
        const { status } = await server.admin(path, options);
        slowest = Math.max(slowest, performance.now() - start);
        return status;
      }),
  );
  return { statuses, slowest };
}

/** Milliseconds until health and readiness tell what is so by now. */
export function untilTold(server: Platform, expected: readonly string[]): Promise<number> {
  return untilTrue(async () => String(await told(server)) === String(expected), 10_000);
}
