import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Looks } from './looks.ts';

const log = { info() {}, warn() {} };

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'a look is not lost that is asked for %i turns after the end of another one',
  async (turns) => {
    let begun = 0;
    const first = Promise.withResolvers<void>();
    const looks = new Looks(() => (begun++ === 0 ? first.promise : Promise.resolve()), log);
    void looks.look();
    first.resolve();
    for (let turn = 0; turn < turns; turn++) await null;
    const before = begun;
    void looks.look();
    await setImmediate();
    expect(begun).toBe(before + 1);
  },
);

test('a change is asked for also while a look is under way', async () => {
  let begun = 0;
  let asked = 0;
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const looks = new Looks(async () => {
    if (begun++ === 0) await first.promise;
    else second.resolve();
  }, log);
  looks.start({
    async hasChanged() {
      if (++asked === 3) first.resolve();
      return true;
    },
  });
  await second.promise;
  expect(asked).toBeGreaterThanOrEqual(3);
  await looks.stop();
});

test('a change of another process is looked at at once, an own one later, and while both are heard nothing is asked', async () => {
  let begun = 0;
  let asked = 0;
  const looks = new Looks(async () => void begun++, log);
  const hearing = { isOwn: (_: boolean): void => {} };
  looks.start({
    listen(heard) {
      hearing.isOwn = heard;
      return { isHeard: true, close: async () => {} };
    },
    hasChanged: async () => ++asked > 0,
  });
  hearing.isOwn(true);
  hearing.isOwn(false);
  await setTimeout(20);
  expect(begun).toBe(1);
  await setTimeout(150);
  expect([begun, asked]).toEqual([2, 0]);
  await looks.stop();
});
