import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ClientGoneError } from '../../errors.ts';
import { type Asker, PublicQueue, type Turn } from './public-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const limits = {
  places: 3,
  maxCount: 6,
  slowMs: 150,
  pauseFactor: 0,
  beside: null,
  timeoutMs: 2_000,
  quickOfClient: 0,
};

/** Asks for a turn; gives what came of it so far. */
function ask(queue: PublicQueue, client: string, kind: string, rest: Partial<Asker> = {}) {
  const requested: { turn?: Turn; error?: unknown; begunAfter?: number } = {};
  const from = performance.now();
  void Promise.resolve(queue.enter({ kind, client, goesOn: false, ...rest })).then(
    (turn) => Object.assign(requested, { turn, begunAfter: performance.now() - from }),
    (error: unknown) => Object.assign(requested, { error }),
  );
  return requested;
}

/** Runs a statement that takes so long, also while others wait. */
async function runFor(queue: PublicQueue, client: string, kind: string, ms: number): Promise<void> {
  const turn = await queue.enter({ kind, client, goesOn: false });
  await vi.advanceTimersByTimeAsync(ms);
  queue.leave(turn);
}

test('slow statements of one client leave a place to every other client', async () => {
  const queue = new PublicQueue(limits);
  await runFor(queue, 'greedy', 'slow', 400);
  const greedy = Array.from({ length: 40 }, () => ask(queue, 'greedy', 'slow'));
  const other = ask(queue, 'other', 'unknown');
  await vi.advanceTimersByTimeAsync(0);
  expect(greedy.filter(({ turn }) => turn !== undefined)).toHaveLength(1);
  expect(other.begunAfter).toBe(0);
});

test('when four clients ask ten slow statements at once, another client waits no longer than one counts as unknown', async () => {
  const queue = new PublicQueue(limits);
  const requested = ['a', 'b', 'c', 'd'].flatMap((client) =>
    Array.from({ length: 10 }, () => ask(queue, client, 'the same')),
  );
  const other = ask(queue, 'other', 'unknown');
  await vi.advanceTimersByTimeAsync(200);
  expect(other.begunAfter).toBeLessThanOrEqual(200);
  expect(requested.filter(({ turn }) => turn !== undefined).length).toBeLessThanOrEqual(4);
});

test('what turned out to be slow counts as slow, for its client as well', async () => {
  const queue = new PublicQueue(limits);
  await runFor(queue, 'a', 'slow', 400);
  expect([
    queue.times.isSlow('slow', 'b'),
    queue.times.isSlow('unknown', 'a'),
    queue.times.isSlow('unknown', 'b'),
  ]).toEqual([true, true, false]);
  await vi.advanceTimersByTimeAsync(8_001);
  expect(queue.times.isSlow('unknown', 'a')).toBe(false);
  await vi.advanceTimersByTimeAsync(52_000);
  expect(queue.times.isSlow('slow', 'a')).toBe(false);
});

test('a statement is quick after it was, until there is reason to doubt it', async () => {
  const queue = new PublicQueue(limits);
  expect(queue.times.isQuick('lists')).toBe(false);
  await runFor(queue, 'a', 'lists', 5);
  expect(queue.times.isQuick('lists')).toBe(true);
  queue.times.doubt('lists');
  expect(queue.times.isQuick('lists')).toBe(false);
});

test('slow statements are at most one fewer than there are places, and one a client', async () => {
  const queue = new PublicQueue(limits);
  await runFor(queue, 'a', 'slow', 400);
  const requested = ['a', 'a', 'b', 'c', 'd'].map((client) => ask(queue, client, 'slow'));
  await vi.advanceTimersByTimeAsync(50);
  expect(requested.flatMap(({ turn }) => turn?.client ?? [])).toEqual(['a', 'b']);
});

test('the client that used least begins first', async () => {
  const queue = new PublicQueue({ ...limits, places: 2 });
  await runFor(queue, 'much', 'slow', 1_000);
  await runFor(queue, 'little', 'slow', 200);
  const first = ask(queue, 'fresh', 'slow');
  await vi.advanceTimersByTimeAsync(0);
  const [much, little] = [ask(queue, 'much', 'slow'), ask(queue, 'little', 'slow')];
  await vi.advanceTimersByTimeAsync(50);
  if (first.turn === undefined) throw new Error('The only place is taken.');
  queue.leave(first.turn);
  await vi.advanceTimersByTimeAsync(0);
  expect([little.turn !== undefined, much.turn !== undefined]).toEqual([true, false]);
});

test('statements of one client begin in the order in which they came', async () => {
  const queue = new PublicQueue({ ...limits, places: 2 });
  await runFor(queue, 'a', 'slow', 200);
  const first = ask(queue, 'a', 'slow');
  await vi.advanceTimersByTimeAsync(0);
  const waiting = [ask(queue, 'a', 'slow'), ask(queue, 'a', 'slow'), ask(queue, 'a', 'slow')];
  // Time goes on while they are compared.
  const from = performance.now();
  let ticks = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => from + ticks++ / 1_000);
  if (first.turn !== undefined) queue.leave(first.turn);
  await vi.advanceTimersByTimeAsync(0);
  clock.mockRestore();
  expect(waiting.map(({ turn }) => turn !== undefined)).toEqual([true, false, false]);
});

test('a statement whose reader has left waits no longer, and leaves its place to the next', async () => {
  const queue = new PublicQueue({ ...limits, places: 2 });
  await runFor(queue, 'a', 'slow', 400);
  const first = ask(queue, 'a', 'slow');
  await vi.advanceTimersByTimeAsync(0);
  const readers = [1, 2, 3].map(() => ({ isGone: false }));
  const [soon, late, next] = readers.map((reader) => ask(queue, 'a', 'slow', { reader }));
  const leave = (number: number): void => void Object.assign(readers[number] ?? {}, { isGone: true });
  leave(0);
  await vi.advanceTimersByTimeAsync(20);
  expect([soon?.error, late?.error]).toEqual([expect.any(ClientGoneError), undefined]);
  leave(1);
  if (first.turn !== undefined) queue.leave(first.turn);
  await vi.advanceTimersByTimeAsync(0);
  expect([late?.error, next?.turn?.client]).toEqual([expect.any(ClientGoneError), 'a']);
});

test('what holds a connection goes on before others, and is not refused', async () => {
  const queue = new PublicQueue({ ...limits, places: 2 });
  await runFor(queue, 'a', 'slow', 400);
  const running = ask(queue, 'b', 'slow');
  const waiting = ask(queue, 'c', 'slow');
  const goesOn = ask(queue, 'a', 'slow', { goesOn: true });
  await vi.advanceTimersByTimeAsync(2_100);
  expect([waiting.error, goesOn.error, goesOn.turn]).toEqual([expect.any(Error), undefined, undefined]);
  if (running.turn !== undefined) queue.leave(running.turn);
  await vi.advanceTimersByTimeAsync(0);
  expect(goesOn.turn).toBeDefined();
});

test('slow statements pause where the database does one thing at a time, others do not', async () => {
  const queue = new PublicQueue({ ...limits, pauseFactor: 3 });
  await runFor(queue, 'a', 'slow', 400);
  const [slow, other] = [ask(queue, 'b', 'slow'), ask(queue, 'c', 'unknown')];
  await vi.advanceTimersByTimeAsync(1_150);
  expect([slow.turn, other.begunAfter]).toEqual([undefined, 0]);
  await vi.advanceTimersByTimeAsync(100);
  expect(slow.turn).toBeDefined();
});

describe('beside callers with a token', () => {
  const beside = { yieldMs: 50, pauseFactor: 2, freeMs: 0, slowShare: 0.1 };
  const shared = { ...limits, places: 1, maxCount: 1, beside };

  /** Work of a caller with a token that takes so long. */
  function work(queue: PublicQueue, ms: number): void {
    void queue.beside(() => new Promise((resolve) => setTimeout(resolve, ms)));
  }

  test('a statement lets work that is under way go first, for a while', async () => {
    const loopTurns = new PublicQueue(shared);
    work(loopTurns, 20);
    const short = ask(loopTurns, 'a', 'unknown');
    await vi.advanceTimersByTimeAsync(20);
    expect(short.turn).toBeUndefined();
    await vi.advanceTimersByTimeAsync(20);
    if (short.turn === undefined) throw new Error('The work has ended.');
    loopTurns.leave(short.turn);
    work(loopTurns, 1_000);
    const long = ask(loopTurns, 'a', 'unknown');
    await vi.advanceTimersByTimeAsync(70);
    expect(long.begunAfter).toBeGreaterThanOrEqual(50);
  });

  test('statements pause after one that was not quick, and quick ones do not', async () => {
    const passwordQueue = new PublicQueue(shared);
    await runFor(passwordQueue, 'a', 'quick', 5);
    work(passwordQueue, 1);
    await vi.advanceTimersByTimeAsync(10);
    await runFor(passwordQueue, 'a', 'neither', 60);
    const [pausing, quick] = [ask(passwordQueue, 'b', 'neither'), ask(passwordQueue, 'c', 'quick')];
    await vi.advanceTimersByTimeAsync(20);
    expect([pausing.turn, quick.turn?.client]).toEqual([undefined, 'c']);
    if (quick.turn !== undefined) passwordQueue.leave(quick.turn);
    await vi.advanceTimersByTimeAsync(110);
    expect(pausing.turn).toBeDefined();
  });

  test('a client that used little does not pause', async () => {
    const publicQueue = new PublicQueue({ ...shared, beside: { ...beside, freeMs: 50 } });
    work(publicQueue, 1);
    await vi.advanceTimersByTimeAsync(10);
    await runFor(publicQueue, 'a', 'neither', 60);
    const [much, little] = [ask(publicQueue, 'a', 'neither'), ask(publicQueue, 'b', 'neither')];
    await vi.advanceTimersByTimeAsync(20);
    expect([much.turn, little.turn?.client]).toEqual([undefined, 'b']);
  });

  test('while many wait, slow and unknown statements are held to their share, and others are not', async () => {
    const waitingQueue = new PublicQueue({ ...shared, beside: { ...beside, pauseFactor: 0 }, timeoutMs: 60_000 });
    const token = setInterval(() => work(waitingQueue, 0), 200);
    await runFor(waitingQueue, 'known', 'neither', 60);
    await runFor(waitingQueue, 'a', 'slow', 400);
    const waiting = ['slow', 'unknown'].flatMap((kind) =>
      Array.from({ length: 8 }, () => ask(waitingQueue, kind, kind)),
    );
    const [first] = waiting;
    await vi.advanceTimersByTimeAsync(20);
    const known = ask(waitingQueue, 'c', 'neither');
    await vi.advanceTimersByTimeAsync(20);
    expect(known.turn).toBeUndefined();
    // Few waited when the first was asked for.
    if (first?.turn === undefined) throw new Error('There is a place.');
    waitingQueue.leave(first.turn);
    await vi.advanceTimersByTimeAsync(20);
    expect(known.turn).toBeDefined();
    if (known.turn !== undefined) waitingQueue.leave(known.turn);
    const begun = (): number => waiting.filter(({ turn }) => turn !== undefined).length;
    // 300 ms too many, a tenth of the time.
    await vi.advanceTimersByTimeAsync(2_500);
    expect(begun()).toBe(1);
    await vi.advanceTimersByTimeAsync(700);
    expect(begun()).toBe(2);
    clearInterval(token);
  });

  test('without them nothing of this holds', async () => {
    const otherQueue = new PublicQueue(shared);
    for (const kind of ['one', 'two', 'three']) await runFor(otherQueue, kind, kind, 400);
    const slow = ask(otherQueue, 'a', 'one');
    await vi.advanceTimersByTimeAsync(0);
    expect(slow.begunAfter).toBe(0);
  });
});

test('who waits is told, and who waits too long or with too many is refused', async () => {
  const queue = new PublicQueue({ ...limits, places: 2 });
  await runFor(queue, 'a', 'slow', 400);
  const requested = Array.from({ length: 252 }, () => ask(queue, 'a', 'slow'));
  await vi.advanceTimersByTimeAsync(500);
  expect(queue.waited).toEqual({ waiting: 250, longestMs: 500 });
  expect(requested.filter(({ error }) => error !== undefined)).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_600);
  expect(requested.filter(({ error }) => error !== undefined)).toHaveLength(251);
});
