import { expect, it } from 'vitest';
import type { HostReport } from '../database/host-state.ts';
import { createHealth, readinessOf } from './health.ts';

const listed = { hosts: [] } as const;
const primary: HostReport = { state: 'primary', ...listed };
const byReplica: HostReport = { state: 'read-only', byReplica: true, ...listed };

/** The readiness of a server whose state is given, and how often it was asked for that and for its tables. */
function readiness(state: () => HostReport, refresh = async (): Promise<void> => {}) {
  const health = createHealth({
    ...{ database: {}, hostState: async () => state(), timeoutMs: 1_000, readOnly: false },
    watch: { drifts: () => [], checked: () => true, damaged: () => false, refresh },
  });
  return async (role?: string): Promise<string> => readinessOf(await health(), role, false);
}

it('of several servers is told anew at each of their changes, and else shared', async () => {
  let state = primary;
  let refreshed = 0;
  const ask = readiness(
    () => state,
    async () => void refreshed++,
  );
  expect([await ask(), await ask()]).toEqual(['ok', 'ok']);
  expect(refreshed).toBe(1);
  state = byReplica;
  expect([await ask(), await ask('any')]).toEqual(['database', 'ok']);
  state = primary;
  expect(await ask()).toBe('ok');
});

it('is told of a lost server while its tables are still being asked for', async () => {
  let state = primary;
  const ask = readiness(
    () => state,
    () => new Promise(() => {}),
  );
  const before = ask();
  // Until the question is under way.
  for (let turn = 0; turn < 5; turn++) await null;
  state = byReplica;
  const told = Promise.race([ask(), before.then(() => 'after the question')]);
  expect(await told).toBe('database');
  await before;
});

it('of one server is shared by all who ask at once', async () => {
  let asked = 0;
  const ask = readiness(() => ({ state: ++asked === 1 ? 'primary' : 'away' }));
  expect([await ask(), await ask()]).toEqual(['ok', 'ok']);
  expect(asked).toBe(1);
});
