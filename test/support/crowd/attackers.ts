/**
 * A process of its own with anonymous clients that ask for as much as they can: some never read what they are sent, others
 * ask again at once. Started by `startCrowd` in crowd.ts; not meant to be imported.
 */
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fire, type Shot } from '../fire.ts';
import { type AttackOrders, onOrders, type Visit } from './orders.ts';

/** Addresses that each kind of attacker has. */
const addresses = 8;
/** Milliseconds before a client asks again that was refused, or cut. */
const pauseMs = 100;

const texts = (count: number): string =>
  JSON.stringify({
    query: { filter: { _or: Array.from({ length: count }, (_, i) => ({ body: { _icontains: `none ${i}` } })) } },
  });
const document = `{ articles(limit: 100) { title comments { body article_id { comments { id body } } } } }`;

/** What greedy clients ask for, in turn: all that is allowed, and some that is not. */
const shots: readonly Shot[] = [
  { path: '/items/articles?limit=100&fields=*.*.*' },
  { path: '/items/articles?limit=-1&fields=*.*' },
  { path: '/items/articles?limit=10&fields=*.*.*.*.*' },
  { path: '/items/articles', method: 'SEARCH', body: texts(90) },
  { path: '/items/comments?limit=-1&fields=*,article_id.*' },
  { path: '/items/articles', method: 'SEARCH', body: texts(1_200) },
  { path: '/graphql', method: 'POST', body: JSON.stringify({ query: document }) },
];

const unread = ['/items/comments?limit=-1&fields=*,article_id.*', '/items/articles?limit=100&fields=*.*.*'];

// Attackers have machines of their own: where they share the server's, they take no processor from it that it wants itself.
setPriority(19);

const orders = onOrders<AttackOrders>();
const visits: Visit[] = [];

async function beGreedy(number: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, localAddress: `127.0.2.${(number % addresses) + 1}` });
  for (let turn = number; ; turn++) {
    const shot = shots[turn % shots.length] ?? { path: '/' };
    const from = performance.now();
    const status = await fire(orders.url, shot, agent).then(
      (hit) => hit.status,
      () => 599,
    );
    visits.push({ kind: 'greedy', status, ms: performance.now() - from, at: Date.now() });
    if (status !== 200) await sleep(pauseMs);
  }
}

async function beSlow(number: number): Promise<void> {
  const { hostname, port } = new URL(orders.url);
  for (;;) {
    const from = performance.now();
    const socket = connect({ port: Number(port), host: hostname, localAddress: `127.0.3.${(number % addresses) + 1}` });
    socket.pause().write(`GET ${unread[number % unread.length]} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await new Promise<void>((resolve) => socket.on('error', () => {}).on('close', () => resolve()));
    visits.push({ kind: 'slow', status: 0, ms: performance.now() - from, at: Date.now() });
    await sleep(pauseMs);
  }
}

for (let number = 0; number < orders.greedy; number++) void beGreedy(number);
for (let number = 0; number < orders.slow; number++) void beSlow(number);
orders.told(() => visits.splice(0));
