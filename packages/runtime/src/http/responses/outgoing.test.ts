import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { UnsentBytes } from '../../limits/unsent.ts';
import { Outgoing } from './outgoing.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A response on its way to a client that does not read until it is told. */
async function answering(): Promise<{ readonly response: ServerResponse; readonly client: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port }: Pick<AddressInfo, 'port'> = Object(server.address());
  const client = connect({ port, host: '127.0.0.1' }).on('error', () => {});
  closing.push(
    () => server.close(),
    () => client.destroy(),
  );
  client.pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, response]: [unknown, ServerResponse] = Object(await once(server, 'request'));
  return { response, client };
}

const chunk = (): Buffer => Buffer.alloc(128 * 1024, 'x');

test('gathers for a slow client up to a bound, goes on when it reads, and counts what it has not got', async () => {
  const { response, client } = await answering();
  const unsent = new UnsentBytes({ maxCount: 64 * 1024 ** 2, timeoutMs: 100 });
  const body = new Outgoing({ response, out: response, unsent: unsent.of('a'), stallMs: 60_000 });
  let waiting: Promise<void> | undefined;
  let pushed = 0;
  // The system takes some megabytes before a client that does not read is noticed.
  while (waiting === undefined && pushed < 500) {
    pushed++;
    waiting = body.push(chunk());
    await sleep(0);
  }
  expect(waiting).toBeInstanceOf(Promise);
  expect(unsent.used).toBeGreaterThanOrEqual(512 * 1024);
  expect(unsent.used).toBeLessThan(1024 ** 2);
  let received = 0;
  client.on('data', (bytes) => {
    received += bytes.length;
  });
  client.resume();
  await waiting;
  body.end(Buffer.from('end'));
  await once(response, 'finish');
  await sleep(20);
  expect(unsent.used).toBe(0);
  expect(received).toBeGreaterThan(pushed * 128 * 1024);
});

test('cuts a client that reads nothing, and forgets what it has not got', async () => {
  const { response } = await answering();
  const unsent = new UnsentBytes({ maxCount: 64 * 1024 ** 2, timeoutMs: 100 });
  const body = new Outgoing({ response, out: response, unsent: unsent.of('a'), stallMs: 50 });
  body.end(Buffer.alloc(32 * 1024 ** 2, 'x'));
  expect(unsent.used).toBeGreaterThan(0);
  await once(response, 'close');
  expect([response.writableFinished, unsent.used]).toEqual([false, 0]);
});
