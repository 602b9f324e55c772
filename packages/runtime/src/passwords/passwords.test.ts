import { argon2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../limits/work-queue.ts';
import { commonWords, isCommonPassword, refusePasswords } from './password-policy.ts';
import { createPasswords } from './passwords.ts';

const passwords = createPasswords();

describe('passwords', () => {
  it('are verified by their exact bytes', async () => {
    const encoded = await passwords.hash('né');
    expect(await passwords.verify(encoded, 'né')).toBe(true);
    for (const other of ['ne\u0301', 'né ', 'NÉ', '', 'n\u0000é']) {
      expect(await passwords.verify(encoded, other)).toBe(false);
    }
  });

  it('are hashed with a salt of their own, in a form that another implementation reads', async () => {
    const [one, other] = await Promise.all([passwords.hash('secret'), passwords.hash('secret')]);
    expect(one).not.toBe(other);
    const [, , , settings, salt = '', hash] = one.split('$');
    expect(settings).toBe('m=19456,t=2,p=1');
    const options = { message: 'secret', nonce: Buffer.from(salt, 'base64'), parallelism: 1, tagLength: 32 };
    const again = argon2Sync('argon2id', { ...options, memory: 19_456, passes: 2 });
    expect(again.toString('base64').replace(/=+$/, '')).toBe(hash);
  });

  it('of nobody, and what is no hash, are wrong', async () => {
    for (const encoded of [null, '', 'secret', '$argon2id$v=19$m=1$x', '$2b$10$abcdefghijklmnopqrstuv']) {
      expect(await passwords.verify(encoded, 'secret')).toBe(false);
    }
  });

  it('that are too long are not what their beginning is', async () => {
    const long = 'x'.repeat(1024);
    const encoded = await passwords.hash(long);
    expect(await passwords.verify(encoded, long)).toBe(true);
    expect(await passwords.verify(encoded, `${long}x`)).toBe(false);
  });

  it('are outdated when they cost less than new ones', async () => {
    expect(passwords.isOutdated(await passwords.hash('secret'))).toBe(false);
    expect(passwords.isOutdated('$argon2id$v=19$m=65536,p=4,t=3$c2FsdA$aGFzaA')).toBe(false);
    for (const encoded of [
      '$argon2id$v=19$m=19455,t=2,p=1$c2FsdA$aGFzaA',
      '$argon2id$v=19$m=19456,t=1,p=1$c2FsdA$aGFzaA',
      '$argon2i$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA',
      '$argon2id$v=16$m=19456,t=2,p=1$c2FsdA$aGFzaA',
      '$argon2id$v=19$m=19456,m=8,t=2,p=1$c2FsdA$aGFzaA',
      'secret',
    ]) {
      expect(passwords.isOutdated(encoded)).toBe(true);
    }
  });
});

describe('turns', () => {
  it('run so many at once, in order, and refuse those who would wait too long', async () => {
    const queue = new WorkQueue({ atOnce: 2, waiting: 3 });
    const ends: (() => void)[] = [];
    const begun: number[] = [];
    const work = (number: number) =>
      queue.acquire(() => {
        begun.push(number);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = [0, 1, 2, 3, 4].map(work);
    await expect(work(5)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(begun).toEqual([0, 1]);
    for (let done = 0; done < 5; done++) {
      await expect.poll(() => ends.length).toBeGreaterThan(done);
      ends[done]?.();
      await all[done];
    }
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    const last = work(6);
    ends.at(-1)?.();
    await last;
  });

  it('come to clients one after the other, and the client with most gives way', async () => {
    const queue = new WorkQueue({ atOnce: 1, waiting: 4 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const begun: string[] = [];
    const work = (client: string, number: number) =>
      queue
        .acquire(async () => void begun.push(`${client}${number}`), client)
        .catch(() => `${client}${number} refused`);
    const first = queue.acquire(() => promise, 'a');
    const greedy = [1, 2, 3, 4].map((number) => work('a', number));
    const others = [work('b', 1), work('c', 1)];
    expect(await work('a', 5)).toBe('a5 refused');
    resolve();
    await first;
    expect(await Promise.all([...greedy, ...others])).toEqual([
      undefined,
      undefined,
      'a3 refused',
      'a4 refused',
      undefined,
      undefined,
    ]);
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2']);
  });

  it('are not waited for without end, where a bound is named, and come to those behind', async () => {
    const queue = new WorkQueue({ atOnce: 1, waiting: 3, longestWaitMs: 50 });
    const { promise, resolve } = Promise.withResolvers<void>();
    const first = queue.acquire(() => promise);
    await expect(queue.acquire(async () => 'too late')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const next = queue.acquire(async () => 'in time');
    resolve();
    await first;
    expect(await next).toBe('in time');
  });

  it('go on after work that failed', async () => {
    const loopTurns = new WorkQueue({ atOnce: 1, waiting: 1 });
    await expect(loopTurns.acquire(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await loopTurns.acquire(async () => 'yes')).toBe('yes');
  });
});

describe('a new password', () => {
  const policy = { minLength: 8, pattern: null };
  const type = async (password: string, pattern: string | null = null): Promise<unknown> =>
    (await refusePasswords([password], { ...policy, pattern }))?.extensions.type;

  it('has its length in characters and at most 1024 bytes', async () => {
    expect(await type('1234567')).toBe('min_length');
    expect(await type('8 places')).toBeUndefined();
    expect(await type('🙂'.repeat(7))).toBe('min_length');
    expect(await type('🙂'.repeat(8))).toBeUndefined();
    expect(await type('x'.repeat(1024))).toBeUndefined();
    expect(await type(`${'x'.repeat(1023)}é`)).toBe('max_length');
  });

  it('matches the policy', async () => {
    expect(await type('UNLIKELY', '[a-z]')).toBe('password');
    expect(await type('unlikely one', '[a-z]')).toBeUndefined();
    expect(await type('unlikely one', '[')).toBe('password');
    const [first, second] = ['unlikely one', 'UNLIKELY'];
    const several = await refusePasswords([first, second], { ...policy, pattern: '[a-z]' });
    expect(several?.extensions.type).toBe('password');
  });

  it('is none that everybody tries first, in capitals or not', async () => {
    for (const common of ['12345678', 'password', 'PASSWORD', 'Passw0rd', 'qwertyuiop', 'iloveyou', 'trustno1']) {
      expect([common, await type(common)]).toEqual([common, 'password']);
    }
    for (const longer of ['password ', ' password', 'passwords of mine', 'pässword'])
      expect(await type(longer)).toBeUndefined();
    expect((await refusePasswords(['dragon'], { minLength: 1, pattern: null }))?.extensions.type).toBe('password');
  });

  it('is looked up among thousands of words that can be passwords', async () => {
    const words = readFileSync(commonWords, 'utf8').trim().split(/\s/);
    expect(words.length).toBeGreaterThan(5_000);
    expect(words.filter((word) => word.length >= 8).length).toBeGreaterThanOrEqual(3_000);
    expect(words.filter((word) => !isCommonPassword(word) || !isCommonPassword(word.toUpperCase()))).toEqual([]);
  });

  it('is not repeated by the error', async () => {
    const error = await refusePasswords(['#~#~#'], policy);
    expect(JSON.stringify([error?.message, error?.extensions])).not.toContain('#~');
  });
});
