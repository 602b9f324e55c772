/**
 * What a role cannot see cannot change what it is told (security properties P1, P6, P7; section 3 of the security
 * specification). Worlds are drawn: tables, relations, rules, rows, and queries of the whole language. Every query is
 * asked of two databases that look the same to the role and differ in whatever it cannot see: the answers must be the
 * same bytes, and those that an independent model foretells from what the role sees.
 *
 * PROPERTY_SEED repeats a run, PROPERTY_RUNS draws so many worlds, PROPERTY_QUERIES asks so many queries of each.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '@tablewright/runtime';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileProject } from '../support/compile.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { drawnSeed } from '../support/drawn-seed.ts';
import { createAnswerer, type Read, type ReadAnswer } from '../support/reads.ts';
import { drawn } from './model/draw.ts';
import { drawTwin } from './model/draw-changes.ts';
import { drawQuery } from './model/draw-queries.ts';
import { drawWorld, type Populated } from './model/draw-world.ts';
import { queryString, searchBody } from './model/forms.ts';
import { foretell, someCursor } from './model/oracle.ts';
import type { Asked } from './model/query.ts';
import { configOf, permissionsOf, rowsSql, schemaSql } from './model/sql.ts';
import { createView, type View } from './model/view.ts';
import type { Rows } from './model/world.ts';

const seed = drawnSeed('PROPERTY_SEED');
const worlds = Number(process.env.PROPERTY_RUNS ?? 4);
const queries = Number(process.env.PROPERTY_QUERIES ?? 100);
/** Changes tried to make the second database of the first. */
const attempts = 120;

/** What was seen over a whole run, so that a run that sees nothing cannot pass for one that proves something. */
interface Tally {
  changes: number;
  answered: number;
  filled: number;
  forbidden: number;
}

it('an answer follows from what the role sees, and from nothing else', async () => {
  console.info(`PROPERTY_SEED=${seed} PROPERTY_RUNS=${worlds} PROPERTY_QUERIES=${queries}`);
  const tally: Tally = { changes: 0, answered: 0, filled: 0, forbidden: 0 };
  for (let index = 0; index < worlds; index++) {
    const own = seed + index;
    const told = `world ${index}: repeat it alone with PROPERTY_SEED=${own} PROPERTY_RUNS=1`;
    await proveWorld(own, tally).catch((error) => {
      throw new Error(`${told}\n${error instanceof Error ? error.message : error}`, { cause: error });
    });
  }
  console.info(JSON.stringify(tally));
  expect(tally.changes).toBeGreaterThan(worlds * 5);
  expect(tally.filled).toBeGreaterThan(tally.answered / 4);
  expect(tally.answered).toBeGreaterThan(worlds * queries * 0.5);
}, 86_400_000);

async function proveWorld(own: number, tally: Tally): Promise<void> {
  const [populated] = fc.sample(drawn(drawWorld), { seed: own, numRuns: 1 });
  if (populated === undefined) throw new Error('no world was drawn');
  const [twin] = fc.sample(
    drawn((draw) => drawTwin(draw, populated.world, populated.rows, attempts)),
    { seed: own, numRuns: 1 },
  );
  if (twin === undefined) throw new Error('no twin was drawn');
  tally.changes += twin.changes;
  const { world, rows } = populated;
  const first = await createDatabase(`${schemaSql(world)}\n${rowsSql(world, rows)}`);
  const second = await createDatabase(`${schemaSql(world)}\n${rowsSql(world, twin.rows)}`);
  try {
    await proveQueries(own, populated, [first.url, second.url], tally);
  } catch (error) {
    console.info(`The world was written to ${await writeDown(own, populated, twin.rows)}`);
    throw error;
  } finally {
    await Promise.all([first.drop(), second.drop()]);
  }
}

async function proveQueries(
  own: number,
  { world, rows }: Populated,
  urls: readonly [string, string],
  tally: Tally,
): Promise<void> {
  const [url] = urls;
  const compiled = await compileProject({
    databaseUrl: url,
    config: configOf(world),
    permissions: permissionsOf(world),
  });
  const [database, other] = await Promise.all([openDatabase({ url }), openDatabase({ url: urls[1] })]);
  try {
    const { api } = compiled;
    const accessClass = api.access.find(({ roles }) => roles.includes('reader'))?.name ?? 'public';
    const answer = createAnswerer(api);
    const view = createView(world, rows);
    await fc.assert(
      fc.asyncProperty(
        drawn((draw) => drawQuery(draw, { view, rows })),
        async (asked) => {
          const read = readOf(asked);
          const caller = { accessClass, ...world.asker };
          const [own, twin] = await Promise.all([answer(database, caller, read), answer(other, caller, read)]);
          expect([twin.status, twin.text], own.statement).toEqual([own.status, own.text]);
          compareWithModel(view, asked, own, tally);
          // A cursor of one database leads on in the other.
          if (asked.query.cursor !== undefined && own.status === 200) {
            await walkPages(view, asked, own, (next) => answer(other, caller, readOf(next)));
          }
        },
      ),
      { seed: own, numRuns: queries },
    );
  } finally {
    await Promise.all([database.close(1_000), other.close(1_000)]);
    await compiled.remove();
  }
}

function readOf({ query, form }: Asked): Read {
  const { collection, key } = query;
  if (key !== undefined) return { kind: 'item', collection, key, query: queryString(query, form) };
  if (form === 'body' || query.keys !== undefined) return { kind: 'search', collection, body: searchBody(query) };
  return { kind: 'list', collection, query: queryString(query, form) };
}

function compareWithModel(view: View, { query, foretold }: Asked, answer: ReadAnswer, tally: Tally): void {
  const expected = foretell(view, query);
  if ('code' in expected) {
    tally.forbidden += 1;
    expect([answer.status, answer.text.split(' ')[0]], answer.statement).toEqual([403, expected.code]);
    return;
  }
  expect(answer.status, answer.text).toBe(200);
  tally.answered += 1;
  if (Array.isArray(expected.data) ? expected.data.length > 0 : expected.data !== null) tally.filled += 1;
  if (!foretold) return;
  const told: unknown = JSON.parse(answer.text.replace(/"next_cursor":"[\w-]+"/, `"next_cursor":"${someCursor}"`));
  expect(told, answer.statement).toEqual(query.export === undefined ? expected : expected.data);
}

/** Follows the cursors to the last page: together the pages are the list. */
async function walkPages(
  view: View,
  asked: Asked,
  first: ReadAnswer,
  ask: (next: Asked) => Promise<ReadAnswer>,
): Promise<void> {
  const { cursor: _, ...whole } = asked.query;
  const items: unknown[] = [];
  let page = first;
  for (let pages = 0; pages < 40; pages++) {
    const { data, meta } = JSON.parse(page.text);
    items.push(...data);
    if (meta.next_cursor === null) break;
    page = await ask({ ...asked, query: { ...asked.query, cursor: meta.next_cursor } });
    expect(page.status, `${page.text} ${meta.next_cursor}`).toBe(200);
  }
  expect({ data: items }).toEqual(foretell(view, { ...whole, limit: -1, meta: [] }));
}

/** Writes everything that is needed to look at a failure by hand into a file. */
async function writeDown(own: number, { world, rows }: Populated, other: Rows): Promise<string> {
  const parts = [schemaSql(world), rowsSql(world, rows), '-- The other database:', rowsSql(world, other)];
  const settings = [permissionsOf(world), JSON.stringify(configOf(world)), JSON.stringify(world.asker)];
  const path = join('.tmp', `world-${own}.sql`);
  await writeFile(path, [...parts, ...settings].join('\n'));
  return path;
}

it('the model itself is of the same mind as PostgreSQL about what lies outside of it', async () => {
  const { collation } = await createDatabase().then(async ({ url, drop }) => {
    const { rows } = await withClient(url, (client) =>
      client.query<{ collation: string }>(
        'SELECT datcollate AS collation FROM pg_database WHERE datname = current_database()',
      ),
    );
    await drop();
    return rows[0] ?? { collation: '' };
  });
  // `compareValues` compares texts by their code units, as this collation does.
  expect(collation).toBe('C');
});
