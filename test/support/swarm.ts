/** Many requests at once, as an attacker sends them, and what no answer to any of them may be. */
import { Agent, type IncomingMessage, request } from 'node:http';
import { expect } from 'vitest';

/** One request of a swarm; the body is sent as JSON text. */
export interface Shot {
  readonly path: string;
  readonly method?: string;
  readonly token?: string;
  readonly body?: string;
}

/** What came back. */
export interface Hit {
  readonly status: number;
  readonly text: string;
  /** Names and values of the headers, without the date and the lengths. */
  readonly headers: string;
}

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

/** Fires one shot. */
export async function fire(url: string, { path, method = 'GET', token, body }: Shot, agent?: Agent): Promise<Hit> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    };
    const target = new URL(url);
    request({ host: target.hostname, port: target.port, path, method, headers, ...(agent && { agent }) }, resolve)
      .on('error', reject)
      .end(body);
  });
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
  const headers = Object.entries(response.headers).filter(([name]) => name !== 'date' && name !== 'content-length');
  return { status: response.statusCode ?? 0, text, headers: JSON.stringify(headers) };
}

/** Words of the database, its driver and this process that no error may hold. */
const inside =
  /postgres|pg_|SQLSTATE|syntax error|relation "|column "|type "|invalid input|out of range for|\bat Object\.|node:|\.ts:/i;

/** Fails unless an answer is one that the specification has for a read: items, or 400 or 403 from its table. */
export function expectDefined(shot: Shot, { status, text }: Hit): void {
  const told = `${shot.method ?? 'GET'} ${shot.path.slice(0, 500)} ${shot.body?.slice(0, 500) ?? ''} -> ${status} ${text.slice(0, 300)}`;
  if (status === 200) return;
  const code = /^\{"errors":\[\{"message":".*","extensions":\{"code":"([A-Z_]+)"/s.exec(text)?.[1];
  expect([`${status} ${code}`, inside.test(text)], told).toEqual([
    expect.stringMatching(/^(400 (INVALID_QUERY|INVALID_PAYLOAD)|403 FORBIDDEN)$/),
    false,
  ]);
}

/**
 * Numbers from 0 up to 1, the same for the same seed. The seed is printed; ATTACK_SEED repeats a run.
 */
export function seededRandom(): () => number {
  const seed = Number(process.env.ATTACK_SEED ?? Math.floor(Math.random() * 2 ** 31));
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
