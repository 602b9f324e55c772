/** The statement allow-list: what reaches the database is what was planned for the caller's class, and nothing else: P2, P16. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Caller, CompiledApi } from '@tablewright/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Statement } from '../../packages/runtime/src/database/database.ts';
import { otherWays } from '../../packages/runtime/src/optimize/adaptive-plans/adaptive-plans.ts';
import { serverSeams } from '../../packages/runtime/src/optimize/index.ts';
import { keyBatchOf } from '../../packages/runtime/src/optimize/key-batching/gathered-reads.ts';
import { readItemPath, splitTarget } from '../../packages/runtime/src/query/parse/target.ts';
import { createPlanner } from '../../packages/runtime/src/query/planner.ts';
import { importApi } from '../support/compile.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { usedOptimizations } from '../support/optimizations.ts';
import { adminToken } from '../support/platform.ts';
import { type Shot, swarm } from '../support/swarm.ts';
import { positions } from './positions.ts';
import { choosingStatements, createStatementLaw } from './statement-law.ts';

let magazine: Magazine;
let api: CompiledApi;
let fixed: ReadonlySet<string>;
let examples: readonly Shot[];
beforeAll(async () => {
  magazine = await startMagazine();
  fixed = new Set([...magazine.statements.texts(), ...choosingStatements]);
  api = await importApi(join(magazine.folder, 'generated'));
  const pages = ['query', 'aggregation', 'export'].map((page) => readFile(`docs/${page}.md`, 'utf8'));
  examples = (await Promise.all(pages)).flatMap(requestsOf);
});
afterAll(() => magazine?.close());

/** The requests that a page of the documentation shows. */
function requestsOf(page: string): readonly Shot[] {
  return [...page.matchAll(/^```http\n([\s\S]*?)^```$/gm)].map(([, text = '']) => {
    const [head = '', ...body] = text.split('\n\n');
    const [method = '', path = ''] = head.trim().split(' ', 2);
    const escaped = path.replaceAll(/[^\w/?&=.,:*()$[\]%+-]/g, encodeURIComponent);
    return { method, path: escaped, ...(body.length > 0 && { body: body.join('\n\n') }) };
  });
}

const marker = `canary${Date.now().toString(36)}`;

/** What a name, a value, a path or a search may be that wants to be part of a statement. */
const wishes = [marker, `${marker}" OR 1=1 --`, `${marker}'); DROP TABLE tags;--`, `$1${marker}`, `*/${marker}/*`];

/** Requests of every kind: those of the documentation, every position with names that are there and with wishes, values. */
function* shots(): Generator<Shot> {
  yield* examples;
  const fields = ['title', 'views', 'rating', 'published_at', 'metadata', 'keywords', 'status', 'author_id'];
  for (const { shot, known } of positions)
    for (const name of [known, 'email', 'created_by', ...wishes]) yield shot(name);
  for (const wish of wishes.map(encodeURIComponent)) {
    yield { path: `/items/articles?search=${wish}&fields=id` };
    yield { path: `/items/articles/${wish}` };
    yield { path: `/items/tags/1?${wish}=${wish}&access_token=` };
    yield { path: `/${wish}` };
    for (const field of fields) {
      for (const operator of ['_eq', '_in', '_contains', '_istarts_with', '_between', '_null', wish]) {
        yield { path: `/items/articles?fields=id&filter[${field}][${operator}]=${wish},${wish}` };
      }
    }
  }
  for (const limit of [-1, 0, 1, 3, 7, 77, 1000, 1001, 2000, 123_456]) {
    for (const offset of [0, 5])
      yield { path: `/items/articles?fields=id,comments.id&limit=${limit}&offset=${offset}&meta=*` };
    yield { path: `/items/articles?fields=id&export=csv&limit=${limit}` };
    yield { path: `/items/articles?fields=comments.id&deep[comments][_limit]=${limit}` };
  }
  for (const { name } of api.collections) {
    yield { path: `/items/${name}` };
    yield { path: `/items/${name}?fields=*.*&limit=5&meta=*` };
    yield { path: `/items/${name}/1?fields=*.*` };
    yield { path: `/items/${name}`, method: 'SEARCH', body: '{"keys":[1,2]}' };
    yield { path: `/items/${name}?aggregate[count]=*` };
  }
}

/** The statements that the planner has for a request of a caller, alone and with others; none when it has none. */
function plannedFor(planner: ReturnType<typeof createPlanner>, caller: Caller, shot: Shot): readonly string[] {
  const statement = planOf(planner, caller, shot);
  if (statement === undefined) return [];
  const others = [...(otherWays.of(statement) ?? []), ...[keyBatchOf.of(statement)?.statement].filter((one) => !!one)];
  return [statement, ...others].map(({ text }) => text);
}

function planOf(planner: ReturnType<typeof createPlanner>, caller: Caller, shot: Shot): Statement | undefined {
  const { path, query } = splitTarget(shot.path);
  const item = readItemPath(path);
  if (item === null || (shot.method ?? 'GET') === 'OPTIONS') return undefined;
  const named = { name: item.collection };
  try {
    if (shot.method === 'SEARCH') {
      const body = shot.body === undefined || shot.body === '' ? undefined : JSON.parse(shot.body);
      return planner.search(caller, named, body).plan.statement;
    }
    const { plan } =
      item.key === null ? planner.list(caller, named, query) : planner.read(caller, named, item.key, query);
    return plan.statement;
  } catch {
    return undefined;
  }
}

it.each(['public', 'admin'])(
  'all statements are those planned for %s',
  async (role) => {
    magazine.statements.reset();
    const accessClass = api.access.find(({ roles }) => roles.includes(role))?.name ?? '';
    const planner = createPlanner(api, serverSeams(usedOptimizations));
    const planned = new Set<string>();
    const token = role === 'admin' ? { token: adminToken } : {};
    const fired = await swarm(
      magazine.url,
      [...shots()].map((shot) => ({ ...shot, ...token })),
      (shot) => {
        const texts = plannedFor(planner, { accessClass, user: null, role: null }, shot);
        for (const text of texts) planned.add(text);
      },
    );
    const texts = new Set(
      magazine.statements
        .texts()
        .filter((text) => !fixed.has(text) && !/^SET (client_encoding|plan_cache_mode) /.test(text)),
    );
    console.info(`${fired} requests as ${role}, ${texts.size} statements`);
    expect(texts.size).toBeGreaterThan(100);
    expect([...texts].filter((text) => !planned.has(text))).toEqual([]);
    expect([...texts].filter((text) => text.includes(marker))).toEqual([]);
    expect([...new Set([...texts].flatMap(createStatementLaw(api, accessClass)))]).toEqual([]);
    expect(magazine.statements.errors()).toEqual([]);
  },
  120_000,
);

it('the law itself would have noticed', () => {
  const law = createStatementLaw(api, 'public');
  const shown =
    'SELECT t0."id" FROM "public"."articles" t0 WHERE t0."status" = $1::"public"."article_status" LIMIT 100';
  expect(law(shown)).toEqual([]);
  expect(law(shown.replace('"id"', '"created_by"'))).not.toEqual([]);
  expect(law(shown.replace('"articles"', '"orders"'))).not.toEqual([]);
  expect(law(shown.replace('$1', `'draft'`))).not.toEqual([]);
  expect(law(`${shown}; SELECT 1`)).not.toEqual([]);
  expect(law(shown.replace('100', '12'))).not.toEqual([]);
  expect(law(shown.replace('t0."id"', 'pg_sleep(1)'))).not.toEqual([]);
  // A column that is readable elsewhere is not readable everywhere.
  expect(law(shown.replace('"id"', '"article_id"'))).not.toEqual([]);
});
