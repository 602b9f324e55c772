import { expect, it } from 'vitest';
import { HostGroup } from './host-group.ts';

it('lets a thousand writes wait for a server, refuses more at once, and lets all of them go when there is one', async () => {
  const server = { state: 'away' as 'away' | 'primary' };
  const group = new HostGroup({
    probes: [{ ask: async () => ({ ...server }), reset() {} }],
    ...{ readOnly: false, waitMs: 60_000 },
    log: () => ({ info() {}, warn() {}, error() {} }),
  });
  await group.start();
  const deadline = performance.now() + 60_000;
  const waiting = Array.from({ length: 1_000 }, () => group.writable(deadline));
  await expect(group.writable(deadline)).rejects.toThrow('No database server takes writes.');
  server.state = 'primary';
  await Promise.all(waiting);
  expect(group.writable(deadline)).toBeUndefined();
  group.close();
});

it('lets a write wait no longer than it may', async () => {
  const group = new HostGroup({
    probes: [{ ask: () => Promise.reject(new Error('away')), reset() {} }],
    ...{ readOnly: false, waitMs: 20 },
    log: () => ({ info() {}, warn() {}, error() {} }),
  });
  await group.start();
  await expect(group.writable(performance.now() + 20)).rejects.toThrow('No database server takes writes.');
  group.close();
});
