import { expect, test } from 'vitest';
import { ClientGoneError } from '../errors.ts';
import { type Admitted, ReadQueue } from './waits.ts';

const limits = { maxCount: 4, maxPublic: 2, timeoutMs: 20 };

function admitted(entering: Admitted | Promise<Admitted>): Admitted {
  if (entering instanceof Promise) throw new Error('There is no room.');
  return entering;
}

test('callers without a token leave room to others', async () => {
  const driftGuard = new ReadQueue(limits);
  const [first] = [admitted(driftGuard.enter(true)), admitted(driftGuard.enter(true))];
  const waiting = driftGuard.enter(true);
  expect(waiting).toBeInstanceOf(Promise);
  admitted(driftGuard.enter(false));
  driftGuard.leave(first);
  expect(await waiting).toEqual({ isPublic: true });
});

test('reads with a token come first, and no read waits for ever', async () => {
  const driftGuard = new ReadQueue(limits);
  const running = Array.from({ length: 4 }, () => admitted(driftGuard.enter(false)));
  const order: string[] = [];
  const others = Promise.resolve(driftGuard.enter(true)).then(() => order.push('without'));
  const users = Promise.resolve(driftGuard.enter(false)).then(() => order.push('with'));
  for (const read of running) driftGuard.leave(read);
  await Promise.all([others, users]);
  expect(order).toEqual(['with', 'without']);
  for (let read = 0; read < 2; read++) admitted(driftGuard.enter(false));
  await expect(driftGuard.enter(false)).rejects.toThrow('No connection was free in time.');
});

test('a read whose client has left waits no longer, and leaves its place to the next', async () => {
  const queue = new ReadQueue({ ...limits, maxCount: 1, timeoutMs: 5_000 });
  const running = admitted(queue.enter(false));
  const clients = [1, 2, 3].map(() => ({ isGone: false }));
  const [soon, late, next] = clients.map((client) => Promise.resolve(queue.enter(false, 0, client)));
  const refused = Promise.allSettled([soon, late]);
  Object.assign(clients[0] ?? {}, { isGone: true });
  await expect(soon).rejects.toThrow(ClientGoneError);
  Object.assign(clients[1] ?? {}, { isGone: true });
  queue.leave(running);
  expect(await next).toEqual({ isPublic: false });
  expect((await refused).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
