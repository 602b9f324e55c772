/** The process while it is attacked: slow clients and requests that are as expensive as they may be (H14, P15). */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { fire } from '../support/swarm.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine({ REQUEST_TIMEOUT: '3s' }, undefined, true);
});
afterAll(() => magazine?.close());

it('stays quick and small while it is attacked', async () => {
  const { hostname, port } = new URL(magazine.url);
  // Clients that send nothing, a header now and then, half a body, or never read a large answer.
  const slow = Array.from({ length: 120 }, (_, index) => {
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    if (index % 4 === 1) socket.write(`GET /server/ping HTTP/1.1\r\nHost: x\r\nX`);
    if (index % 4 === 2) socket.write(`SEARCH /items/tags HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n{`);
    if (index % 4 === 3) socket.pause().write(`GET /items/comments?limit=-1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    return socket;
  });
  const many = (count: number, name: string) => Array.from({ length: count }, (_, index) => `${name}${index}`);
  const bodies = [
    { query: { fields: many(40_000, '*.*.*.*.*.z') } },
    { query: { fields: many(490, '*.*.*.*.*.*.z') } },
    { query: { filter: { _and: many(200, 'x').map((x) => ({ comments: { body: { _neq: x } } })) } } },
    { query: { filter: { _or: many(60_000, 'x').map(() => ({ comments: {} })) } } },
    { query: { filter: { views: { _in: many(100_000, '') } } } },
    { query: { filter: { views: { _in: many(10_000, '') } } } },
    { query: { sort: many(500, '').map(() => 'author_id.name') } },
  ].map((body) => JSON.stringify(body));
  let slowest = 0;
  let attacking = true;
  const pings = (async () => {
    while (attacking) {
      const start = performance.now();
      expect((await fire(magazine.url, { path: '/server/ping' })).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - start);
      await sleep(20);
    }
  })();
  for (let round = 0; round < 3; round++) {
    const hits = await Promise.all(
      bodies.map((body) => fire(magazine.url, { path: '/items/articles', method: 'SEARCH', body })),
    );
    expect(hits.map(({ status }) => status)).toEqual([400, 400, 200, 400, 400, 200, 200]);
  }
  attacking = false;
  await pings;
  for (const socket of slow) socket.destroy();
  const memory = await readFile(`/proc/${magazine.pid}/status`, 'utf8').catch(() => '');
  const resident = Number(/VmRSS:\s+(\d+)/.exec(memory)?.[1] ?? 0) / 1024;
  console.info(`slowest ping ${slowest.toFixed(0)} ms, resident ${resident.toFixed(0)} MB`);
  // Far above what is measured, and far below the minutes and gigabytes that single requests once took.
  expect(slowest).toBeLessThan(15_000);
  expect(resident).toBeLessThan(1_000);
  expect(magazine.statements.errors()).toEqual([]);
});
