import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StreamShare } from './stream-share.ts';

const limits = { maxCount: 3, maxOfClient: 2, timeoutMs: 30 };
const { signal } = new AbortController();
const unavailable = { code: 'SERVICE_UNAVAILABLE' };

test('one client leaves a stream to others, callers without a token leave one to those who have one', async () => {
  const share = new StreamShare(limits);
  await share.enter({ client: 'a', isPublic: true }, signal);
  await share.enter({ client: 'a', isPublic: true }, signal);
  await expect(share.enter({ client: 'a', isPublic: true }, signal)).rejects.toMatchObject(unavailable);
  await expect(share.enter({ client: 'b', isPublic: true }, signal)).rejects.toMatchObject(unavailable);
  await share.enter({ client: 'b', isPublic: false }, signal);
  expect(share.load).toMatchObject({ running: 3, maxCount: 3, waiting: 0 });
});

test('when a stream ends, those with a token come first, then the client that has fewest', async () => {
  const share = new StreamShare({ ...limits, timeoutMs: 1_000 });
  const end = await share.enter({ client: 'a', isPublic: true }, signal);
  const endOther = await share.enter({ client: 'a', isPublic: true }, signal);
  const order: string[] = [];
  const enter = (name: string, client: string, isPublic: boolean): Promise<unknown> =>
    share.enter({ client, isPublic }, signal).then((leave) => {
      order.push(name);
      return sleep(1).then(leave);
    });
  const all = [enter('of a', 'a', true), enter('of b', 'b', true), enter('of a user', 'a', false)];
  end();
  await sleep(5);
  endOther();
  await Promise.all(all);
  expect(order[0]).toBe('of a user');
  expect(order.indexOf('of b')).toBeLessThan(order.indexOf('of a'));
});

test('a client that leaves waits no longer', async () => {
  const share = new StreamShare({ ...limits, maxCount: 1, timeoutMs: 60_000 });
  const end = await share.enter({ client: 'a', isPublic: false }, signal);
  const gone = new AbortController();
  const waiting = share.enter({ client: 'b', isPublic: false }, gone.signal);
  gone.abort();
  await expect(waiting).rejects.toMatchObject(unavailable);
  end();
  await share.enter({ client: 'c', isPublic: false }, signal);
});
