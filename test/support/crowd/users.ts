/**
 * A process of its own with users as an application has them: they sign in, read a little and write a little, with pauses.
 * Tells how long each request took. Started by `startCrowd` in crowd.ts; not meant to be imported.
 */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fire } from '../fire.ts';
import { onOrders, type UserOrders, type Visit } from './orders.ts';

/** Milliseconds between two requests of a user, on average. */
const pauseMs = 1_500;

const orders = onOrders<UserOrders>();
const visits: Visit[] = [];

/** Makes one request and notes it. Gives the text of its answer. */
async function visit(kind: Visit['kind'], agent: Agent, shot: Parameters<typeof fire>[1]): Promise<string> {
  const from = performance.now();
  const { status, text } = await fire(orders.url, shot, agent).catch((error: unknown) => ({
    status: 599,
    text: String(error),
  }));
  visits.push({ kind, status, ms: performance.now() - from, at: Date.now() });
  return text;
}

async function live({ email, password }: UserOrders['users'][number], number: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, localAddress: `127.0.1.${(number % 200) + 1}` });
  const signIn = async (): Promise<string> => {
    const text = await visit('sign-in', agent, {
      path: '/auth/login',
      method: 'POST',
      body: JSON.stringify({ email, password, mode: 'json' }),
    });
    return /"access_token":"([^"]+)"/.exec(text)?.[1] ?? '';
  };
  await sleep(Math.random() * pauseMs);
  let token = await signIn();
  // All users have signed in within a moment: each goes on at another point, or they would sign in together again and again.
  for (let turn = number % 6; ; turn++) {
    await sleep(pauseMs * (0.5 + Math.random()));
    if (turn % 6 === 5) token = await signIn();
    else if (turn % 2 === 0) {
      const body = JSON.stringify({ collection: 'articles', bookmark: `${number} ${turn}` });
      await visit('write', agent, { path: '/presets?fields=id', method: 'POST', token, body });
    } else await visit('read', agent, { path: '/items/articles?limit=5&fields=id,title', token });
  }
}

for (const [number, user] of orders.users.entries()) void live(user, number);
orders.told(() => visits.splice(0));
