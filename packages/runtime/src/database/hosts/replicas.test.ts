import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../operate/log.ts';
import type { Database } from '../database.ts';
import type { HostFacts } from '../host-state.ts';
import type { Failover, HostChange } from './choose-primary.ts';
import { LagMeter } from './positions.ts';
import { Replica } from './replicas.ts';

const opened = { close: async () => {} } as unknown as Database;
const left: Replica[] = [];
afterEach(async () => {
  for (const replica of left.splice(0)) await replica.close(0);
});

type Followed = ReturnType<ConstructorParameters<typeof Replica>[1]['followed']>;

/** A replica that reports what is given, beside a server whose cluster and history are told by `followed`. */
async function replicaOf(facts: HostFacts, followed: () => Followed, errors: string[] = []): Promise<Replica> {
  const log: Pick<Log, 'info' | 'warn' | 'error'> = {
    warn() {},
    info() {},
    error: (_, message) => void errors.push(String(message)),
  };
  const replica = new Replica(
    { probe: { ask: async () => facts, reset() {} }, number: 1, maxLagMs: 1_000, open: async () => opened },
    { lag: new LagMeter(() => true), followed, log: () => log },
  );
  left.push(replica);
  await replica.start();
  return replica;
}

describe('a replica', () => {
  it('is asked where it holds the cluster that is followed', async () => {
    const replica = await replicaOf({ state: 'read-only', system: 'own', timeline: 1 }, () => ({
      system: 'own',
      timeline: 1,
    }));
    expect(replica.usable()).toBe(opened);
  });

  it.each<[string, HostFacts, RegExp]>([
    ['of another cluster', { state: 'read-only', system: 'other', timeline: 1 }, /another cluster/],
    ['of another database', { state: 'read-only', system: 'own', timeline: 2, database: 'other' }, /another database/],
    ['of a history that ended', { state: 'primary', system: 'own', timeline: 1 }, /its history ended/],
  ])('%s is asked no more once that is known, also between two looks', async (_, facts, sentence) => {
    let followed: Followed = null;
    const errors: string[] = [];
    const replica = await replicaOf(facts, () => followed, errors);
    followed = { system: 'own', timeline: 2, database: 'own' };
    expect(replica.usable()).toBeNull();
    expect(replica.usable()).toBeNull();
    expect(errors).toEqual([expect.stringMatching(sentence)]);
  });

  it('has its connections refuse what waits for them once it is gone, and make themselves anew once it is back', async () => {
    let facts: HostFacts = { state: 'read-only' };
    const changes: HostChange[] = [];
    const open = async (failover: Failover): Promise<Database> => {
      failover.listen((change) => void changes.push(change));
      return opened;
    };
    const replica = new Replica(
      { probe: { ask: async () => facts, reset() {} }, number: 1, maxLagMs: 1_000, open },
      { lag: new LagMeter(() => true), followed: () => null, log: () => ({ info() {}, warn() {}, error() {} }) },
    );
    left.push(replica);
    await replica.start();
    replica.failed();
    await replica.look();
    expect(changes).toEqual([]);
    facts = { state: 'away' };
    replica.failed();
    await replica.look();
    await replica.look();
    expect(changes).toEqual(['gone']);
    facts = { state: 'read-only' };
    await replica.look();
    expect(changes).toEqual(['gone', 'found']);
  });

  it.each<[string, HostFacts, boolean]>([
    ['takes writes of its own', { state: 'primary', instance: 'other' }, false],
    ['is the one that is followed, under another name', { state: 'primary', instance: 'own' }, true],
    ['takes writes of its cluster', { state: 'primary', instance: 'other', isMulti: true }, true],
    ['only reads', { state: 'read-only', instance: 'other' }, true],
  ])('without a history %s', async (_, facts, isAsked) => {
    const errors: string[] = [];
    const followed = () => ({ system: undefined, timeline: undefined, instance: 'own' });
    const replica = await replicaOf(facts, followed, errors);
    expect(replica.usable() !== null).toBe(isAsked);
    // It may have been promoted just now.
    expect(errors).toEqual([]);
    for (let looks = 0; looks < 3; looks++) await replica.look();
    expect(replica.usable() !== null).toBe(isAsked);
    expect(errors).toEqual(isAsked ? [] : [expect.stringContaining('takes writes of its own')]);
  });

  it('that lags is not asked until it has caught up, which the log tells once', async () => {
    let lag = 0;
    const told: unknown[] = [];
    const note = (details: object, message?: string): void => void told.push([details, message]);
    const replica = new Replica(
      {
        probe: { ask: async () => ({ state: 'read-only', lag }), reset() {} },
        number: 2,
        maxLagMs: 1_000,
        open: async () => opened,
      },
      { lag: new LagMeter(() => true), followed: () => null, log: () => ({ info: note, warn: note, error: note }) },
    );
    left.push(replica);
    await replica.start();
    const usable: boolean[] = [];
    for (lag of [900, 1_100, 900, 1_200, 400, 900]) {
      await replica.look();
      usable.push(replica.usable() !== null);
    }
    expect(usable).toEqual([true, false, true, false, true, true]);
    expect(told).toEqual([
      [{ replica: 2, lag: 1_100 }, expect.stringContaining('lags more than DATABASE_READ_MAX_LAG')],
      [{ replica: 2 }, expect.stringContaining('caught up')],
    ]);
  });

  it('is asked once for positions that one answer tells, four times at once for others', async () => {
    const replica = await replicaOf({ state: 'read-only' }, () => null);
    const asked: string[] = [];
    const answers: ((reached: string | null) => void)[] = [];
    const ask = (position: string): Promise<string | null> =>
      replica.ask(
        position,
        (other) => Number(other) >= Number(position),
        () => {
          asked.push(position);
          return new Promise((resolve) => void answers.push(resolve));
        },
      );
    const reads = ['5', '3', '7', '6', '8', '9', '10'].map(ask);
    expect(asked).toEqual(['5', '7', '8', '9']);
    for (const [index, answer] of answers.entries()) answer(asked[index] ?? null);
    expect(await Promise.all(reads)).toEqual(['5', '5', '7', '7', '8', '9', '9']);
    void ask('2');
    expect(asked).toEqual(['5', '7', '8', '9', '2']);
  });
});
