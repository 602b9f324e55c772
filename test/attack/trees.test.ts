/**
 * Random trees written into random tables: what the database holds afterwards is what an independent model says that a
 * payload means, and a payload that must be refused changes nothing. Half of the worlds are written by a role with rules,
 * which the model judges as well (API specification, sections 7 and 8; security cases B).
 *
 * TREES_SEED repeats a run, TREES_WORLDS draws so many worlds, TREES_REQUESTS writes so many trees into each.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serve } from '@tablewright/runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileProject } from '../support/compile.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { adminToken } from '../support/platform.ts';
import { fire, type Hit } from '../support/swarm.ts';
import { drawn } from './model/draw.ts';
import { configOf, rowsSql, schemaSql } from './model/sql.ts';
import type { Row, Rows } from './model/world.ts';
import { differences, misplaced, readRows, resolved } from './trees/compare.ts';
import { checksSql } from './trees/draw-tables.ts';
import { describeRequest, drawTree } from './trees/draw-tree.ts';
import { drawTreeWorld, type PopulatedTrees, type TreeWorld } from './trees/draw-world.ts';
import { interpret } from './trees/interpret.ts';
import type { Foretold, TreeRequest } from './trees/reading.ts';
import { rulesOf } from './trees/rules.ts';

/** The same worlds each time: what else there is to find is looked for by hand, with other seeds and more worlds. */
const seed = Number(process.env.TREES_SEED ?? 50_000);
const worlds = Number(process.env.TREES_WORLDS ?? 5);
const requests = Number(process.env.TREES_REQUESTS ?? 25);

/** What was seen, so that a run that sees nothing cannot pass for a proof. */
interface Tally {
  done: number;
  refused: number;
  /** Why trees were open, and how many were. */
  readonly open: Map<string, number>;
}

it.each([
  ['an administrator', false],
  ['a role', true],
] as const)(
  'trees of %s leave what the model says, or nothing',
  async (_, restricted) => {
    console.info(`TREES_SEED=${seed} TREES_WORLDS=${worlds} TREES_REQUESTS=${requests}`);
    const tally: Tally = { done: 0, refused: 0, open: new Map() };
    const failures: string[] = [];
    for (let index = 0; index < worlds; index++) {
      const own = seed + index;
      const told = `world ${index}: repeat it alone with TREES_SEED=${own} TREES_WORLDS=1`;
      await proveWorld(own, restricted, tally).catch((error) => {
        failures.push(`${told}\n${error instanceof Error ? error.message : error}`);
      });
    }
    expect(failures.join('\n'), failures.join('\n')).toBe('');
    console.info(JSON.stringify({ ...tally, open: Object.fromEntries(tally.open) }));
    const all = worlds * requests;
    expect(tally.done).toBeGreaterThan(all * (restricted ? 0.03 : 0.3));
    expect(tally.refused).toBeGreaterThan(all * 0.01);
  },
  86_400_000,
);

async function proveWorld(own: number, restricted: boolean, tally: Tally): Promise<void> {
  const [populated] = fc.sample(
    drawn((draw) => drawTreeWorld(draw, restricted)),
    { seed: own, numRuns: 1 },
  );
  if (populated === undefined) throw new Error('no world was drawn');
  const { world, rows } = populated;
  const database = await createDatabase(`${schemaSql(world)}\n${checksSql(world.tables)}\n${rowsSql(world, rows)}`);
  try {
    await proveTrees(own, populated, database.url, tally);
  } catch (error) {
    const path = join('.tmp', `trees-${own}.sql`);
    const parts = [schemaSql(world), rowsSql(world, rows), JSON.stringify(configOf(world)), rulesOf(world)];
    await writeFile(path, parts.join('\n'));
    console.info(`The world was written to ${path}`);
    throw error;
  } finally {
    await database.drop();
  }
}

async function proveTrees(own: number, { world }: PopulatedTrees, url: string, tally: Tally): Promise<void> {
  const compiled = await compileProject({ databaseUrl: url, config: configOf(world), permissions: rulesOf(world) });
  const variables = {
    ADMIN_TOKEN: adminToken,
    PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_DRIVER: own % 2 === 0 ? 'fast' : 'pg',
  };
  const server = await serve(compiled.api, { variables, database: { url }, signals: false });
  try {
    await withClient(url, async (client) => {
      const stored = (): Promise<Rows> =>
        readRows(world.tables, async (sql) => (await client.query<{ row: Row }>(sql)).rows);
      const send = (request: TreeRequest): Promise<Hit> =>
        fire(server.url, {
          method: request.method,
          path: `/items/${request.path}`,
          body: JSON.stringify(request.body),
          ...(world.writes === null && { token: adminToken }),
        });
      const forbidden = await send({ method: 'POST', path: 'nowhere', body: {}, collection: '', items: [] });
      for (let round = 0; round < requests; round++) {
        const before = await stored();
        const [request] = fc.sample(
          drawn((draw) => drawTree(draw, world, before, round + 1)),
          { seed: own * 1_000 + round, numRuns: 1 },
        );
        if (request === undefined) throw new Error('no tree was drawn');
        const foretold = interpret(world, before, request);
        const hit = await send(request);
        const told = `${describeRequest(request)}\n-> ${hit.status} ${hit.text.slice(0, 400)}\n${[...foretold.codes].join()} ${foretold.open ?? ''}`;
        compare(world, foretold, hit, before, await stored(), told, tally);
        if (hit.status === 403) expect(hit.text, told).toBe(forbidden.text);
      }
    });
  } finally {
    await server.close();
    await compiled.remove();
  }
}

function compare(
  { tables }: TreeWorld,
  { codes, open, rows, orders }: Foretold,
  { status, text }: Hit,
  before: Rows,
  after: Rows,
  told: string,
  tally: Tally,
): void {
  expect([200, 204, 400, 403], told).toContain(status);
  const done = status < 300;
  if (!done) {
    expect(differences(before, after), told).toBe('');
    const [, code] = /"code":"([A-Z_]+)"/.exec(text) ?? [];
    expect(['FORBIDDEN', 'FAILED_VALIDATION', 'INVALID_PAYLOAD'], told).toContain(code);
    if (open === undefined) expect([...codes], told).toContain(code);
  }
  if (open !== undefined) {
    tally.open.set(open, (tally.open.get(open) ?? 0) + 1);
    return;
  }
  tally[done ? 'done' : 'refused'] += 1;
  expect(done, told).toBe(codes.size === 0);
  if (!done) return;
  const model = resolved(tables, rows, after);
  const different = differences(model, after);
  expect(different, `${told}\n${different}`).toBe('');
  expect(misplaced(tables, orders, rows, model), told).toBeUndefined();
}
