import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { SharedPort } from './shared-port.ts';

// The last one is in no machine.
const addresses = ['127.0.0.1', '127.0.0.2', '192.0.2.1'] as const;

test('the port is that of each host that the machine has', async () => {
  const passed: Socket[] = [];
  const worker = {} as Worker;
  const shared = new SharedPort(
    async () => ({ hosts: addresses, port: 0 }),
    (receiver, socket) => {
      passed.push(socket);
      shared.taken(receiver);
    },
  );
  const { address, port } = await shared.add(worker);
  expect(address).toBe('127.0.0.1');
  const clients = await Promise.all(
    addresses.slice(0, 2).map(async (host) => {
      const client = connect(port, host);
      await once(client, 'connect');
      return client;
    }),
  );
  await expect.poll(() => passed.map(({ localAddress }) => localAddress).toSorted()).toEqual(addresses.slice(0, 2));
  await shared.close();
  for (const host of addresses.slice(0, 2)) {
    await expect(once(connect(port, host), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  }
  for (const socket of [...clients, ...passed]) socket.destroy();
});
