/** Many requests at once, as an attacker sends them, and what no answer to any of them may be. */
import { Agent } from 'node:http';
import { expect } from 'vitest';
import { drawnSeed } from './drawn-seed.ts';
import { fire, type Hit, type Shot } from './fire.ts';

export { fire, type Hit, type Shot };

/** Fires shots over a bounded number of connections and hands every answer to `look`. */
export async function swarm(url: string, shots: Iterable<Shot>, look: (shot: Shot, hit: Hit) => void): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const waiting = shots[Symbol.iterator]();
  let fired = 0;
  async function shoot(): Promise<void> {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      fired += 1;
      look(next.value, await fire(url, next.value, agent));
    }
  }
  await Promise.all(Array.from({ length: 16 }, shoot));
  agent.destroy();
  return fired;
}

/** Words of the database, its driver and this process that no error may hold. */
const inside =
  /postgres|pg_|SQLSTATE|syntax error|relation "|column "|type "|invalid input|out of range for|\bat Object\.|node:|\.ts:/i;

/** Fails unless an answer is one that the specification has for a read: items, or 400 or 403 from its table. */
export function expectDefined(shot: Shot, { status, text }: Hit): void {
  if (status === 200) return;
  const code = /^\{"errors":\[\{"message":".*","extensions":\{"code":"([A-Z_]+)"/s.exec(text)?.[1];
  const isTold = inside.test(text);
  // An assertion takes longer than such an answer.
  if (refusals.test(`${status} ${code}`) && !isTold) return;
  const told = `${shot.method ?? 'GET'} ${shot.path.slice(0, 500)} ${shot.body?.slice(0, 500) ?? ''} -> ${status} ${text.slice(0, 300)}`;
  expect([`${status} ${code}`, isTold], told).toEqual([expect.stringMatching(refusals), false]);
}

const refusals = /^(400 (INVALID_QUERY|INVALID_PAYLOAD)|403 FORBIDDEN)$/;

/** Numbers from 0 up to 1, the same for the same seed. The seed is printed; ATTACK_SEED repeats a run. */
export function seededRandom(otherwise?: number): () => number {
  const seed = drawnSeed('ATTACK_SEED', otherwise);
  console.info(`ATTACK_SEED=${seed}`);
  let state = seed;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
