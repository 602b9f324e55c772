/**
 * Lists behind junctions have three ways: row by row, and for all rows of a page by the keys of their links or by any join.
 * The quickest is taken where a statement takes long. All have the same bytes for everything that is asked of the lists.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledApi } from '@tablewright/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerState } from '../../packages/runtime/src/database/connection-seams.ts';
import type { Database, Statement } from '../../packages/runtime/src/database/database.ts';
import { openDatabase } from '../../packages/runtime/src/dialects/open.ts';
import { allOptimizations } from '../../packages/runtime/src/environment/optimizations.ts';
import {
  type OtherWay,
  otherWays,
  planOtherWays,
} from '../../packages/runtime/src/optimize/adaptive-plans/adaptive-plans.ts';
import { connectionsOf } from '../../packages/runtime/src/optimize/index.ts';
import { createAnswerWriter } from '../../packages/runtime/src/query/answer.ts';
import { createPlanner, type PlannedRead } from '../../packages/runtime/src/query/planner.ts';
import { withClient } from '../support/database.ts';
import { type PlanStep, planOf } from '../support/explain.ts';
import { isWithout } from '../support/optimizations.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

/** Twelve posts with 1,500 links each, six with two, and two without; some lead to targets that a rule hides. */
const links = `SELECT id, 1 + (id * 7919 + n * 13) % 20000 AS k FROM posts,
  generate_series(1, CASE WHEN id <= 12 THEN 1500 WHEN id <= 18 THEN 2 ELSE 0 END) n`;

const sql = `
  CREATE TABLE posts (id int PRIMARY KEY, title text NOT NULL);
  INSERT INTO posts SELECT n, 'Post ' || n FROM generate_series(1, 20) n;
  CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL);
  INSERT INTO authors SELECT n, 'Author ' || n % 7 FROM generate_series(1, 20) n;
  -- Too large to be read as a whole, unlike labels and places.
  CREATE TABLE tags (id bigint PRIMARY KEY, name text COLLATE "C", weight int NOT NULL, author_id int REFERENCES authors, padding text);
  INSERT INTO tags SELECT n, CASE WHEN n % 11 > 0 THEN 'Tag ' || n % 1000 END, n % 100, CASE WHEN n % 3 > 0 THEN 1 + n % 20 END,
    repeat('x', 900) FROM generate_series(1, 20000) n;
  CREATE TABLE notes (id int PRIMARY KEY, tag_id bigint NOT NULL REFERENCES tags, body text NOT NULL);
  INSERT INTO notes SELECT n, 1 + n % 50, 'Note ' || n FROM generate_series(1, 500) n;
  CREATE INDEX ON notes (tag_id);
  CREATE TABLE posts_tags (post_id int REFERENCES posts, tag_id bigint REFERENCES tags, PRIMARY KEY (post_id, tag_id));
  INSERT INTO posts_tags SELECT id, k FROM (${links}) l ON CONFLICT DO NOTHING;
  CREATE TABLE labels (id uuid PRIMARY KEY, name text NOT NULL, grade int);
  INSERT INTO labels SELECT md5(n::text)::uuid, 'Label ' || n, CASE WHEN n % 3 > 0 THEN n % 200 END FROM generate_series(1, 20000) n;
  CREATE TABLE posts_labels (post_id int REFERENCES posts, label_id uuid REFERENCES labels, PRIMARY KEY (post_id, label_id));
  INSERT INTO posts_labels SELECT id, md5(k::text)::uuid FROM (${links}) l ON CONFLICT DO NOTHING;
  -- Linked by another key than its own, whose operators are not in the search path.
  CREATE SCHEMA elsewhere;
  CREATE EXTENSION citext SCHEMA elsewhere;
  CREATE TABLE codes (code elsewhere.citext COLLATE "C" PRIMARY KEY, number int NOT NULL UNIQUE);
  INSERT INTO codes SELECT CASE WHEN n % 2 = 0 THEN upper(c) ELSE c END, n
    FROM (SELECT n, translate(md5(n::text), '0123456789', 'ghijklmnop') AS c FROM generate_series(1, 20000) n) s;
  CREATE TABLE posts_codes (post_id int REFERENCES posts, number int REFERENCES codes (number), PRIMARY KEY (post_id, number));
  INSERT INTO posts_codes SELECT id, k FROM (${links}) l ON CONFLICT DO NOTHING;
  CREATE TABLE places (shelf int, number int, name text NOT NULL, PRIMARY KEY (shelf, number));
  INSERT INTO places SELECT n % 10, n / 10, 'Place ' || n FROM generate_series(1, 20000) n;
  CREATE TABLE posts_places (post_id int REFERENCES posts, shelf int, number int, PRIMARY KEY (post_id, shelf, number),
    FOREIGN KEY (shelf, number) REFERENCES places);
  INSERT INTO posts_places SELECT id, k % 10, k / 10 FROM (${links}) l ON CONFLICT DO NOTHING;
  VACUUM ANALYZE;`;

const permissions = `permissions:
  public:
    posts: { read: true }
    authors: { read: true }
    notes: { read: true }
    posts_tags: { read: { fields: '*', filter: { post_id: { _neq: 2 } } } }
    tags: { read: { fields: '*', filter: { weight: { _gt: 1 } } } }
    labels: { read: true }
    codes: { read: true }
    places: { read: { fields: '*', filter: { number: { _lt: 1500 } } } }
`;

/** What is asked of posts, under names of what it is about. */
const reads: Readonly<Record<string, string>> = {
  'a whole list': 'fields=id,tags.name,tags.weight&deep[tags][_limit]=-1',
  'a list with the usual limit': 'fields=id,tags.name',
  'the first by a column with nulls': 'fields=id,tags.id,tags.name&deep[tags][_sort]=-name&deep[tags][_limit]=7',
  'the first by a name behind a relation':
    'fields=id,tags.id&deep[tags][_sort]=author_id.name,-weight&deep[tags][_limit]=13',
  'a filter': 'fields=id,tags.name&deep[tags][_filter][weight][_lt]=50&deep[tags][_limit]=-1',
  'a filter that leaves nothing': 'fields=id,tags.name&deep[tags][_filter][weight][_lt]=0',
  'a value that many have': 'fields=id,tags.name&deep[tags][_filter][name][_in]=Tag 7,Tag 8',
  'rows that lead on':
    'fields=id,tags.author_id.name,tags.notes.body&deep[tags][_limit]=60&deep[tags][notes][_limit]=2',
  keys: 'fields=id,tags,labels',
  'an aggregate': 'fields=id,tags&deep[tags][_aggregate][max]=weight&deep[tags][_aggregate][count]=id',
  'an aggregate that only few rows have':
    'fields=id,tags&deep[tags][_aggregate][count]=id&deep[tags][_having][count][id][_lt]=3',
  'two lists of one page': 'fields=title,tags.id,labels.name&deep[labels][_sort]=-name',
  'a table that is read as a whole': 'fields=id,labels.name&deep[labels][_limit]=-1',
  'the first of a table that is read as a whole':
    'fields=id,labels.id&deep[labels][_sort]=-name&deep[labels][_limit]=7',
  'the first few of such a table': 'fields=id,labels.id&deep[labels][_sort]=name&deep[labels][_limit]=5',
  'the first few, nulls among them':
    'fields=id,labels.id,labels.grade&deep[labels][_sort]=-grade&deep[labels][_limit]=10',
  'the first few before the nulls':
    'fields=id,labels.id,labels.grade&deep[labels][_sort]=grade,-name&deep[labels][_limit]=3',
  'the first few of those that a filter leaves':
    'fields=id,labels.id&deep[labels][_sort]=-name&deep[labels][_limit]=10&deep[labels][_filter][grade][_lt]=4',
  'the first few in the order of the key': 'fields=id,labels.name&deep[labels][_limit]=2',
  'the first few in the order of a key of an extension': 'fields=id,codes.number&deep[codes][_limit]=5',
  'the first few of those that a rule leaves': 'fields=id,places&deep[places][_sort]=-name&deep[places][_limit]=5',
  'a filter on a table that is read as a whole': 'fields=id,labels.id&deep[labels][_filter][name][_ends_with]=7',
  'a comparison on a table that is read as a whole': 'fields=id,labels.id&deep[labels][_filter][name][_neq]=Label 7',
  'an aggregate of a table that is read as a whole': 'fields=id,labels&deep[labels][_aggregate][max]=name',
  'keys of two columns': 'fields=id,places.name,places.shelf&deep[places][_limit]=-1',
  'the same, as keys': 'fields=id,places&deep[places][_sort]=-name',
  'pages by cursor': 'fields=id,tags.name&cursor=&deep[tags][_limit]=3',
  'an order of the posts': 'fields=id,tags.name&sort=-title&deep[tags][_limit]=3',
};

let project: ServedProject;
let planner: ReturnType<typeof createPlanner>;
let database: Database;
beforeAll(async () => {
  project = await serveProject({ sql: sql.replace('VACUUM ANALYZE;', 'ANALYZE;'), permissions });
  const module: { readonly api: CompiledApi } = await import(
    pathToFileURL(join(project.folder, 'generated/server.js')).href
  );
  planner = createPlanner(module.api, { passes: [planOtherWays] });
  database = await openDatabase({ url: project.database.url }, { driver: 'fast' });
});
afterAll(async () => {
  await database?.close(0);
  await project?.close();
});

function planned(query: string, accessClass = 'public'): PlannedRead {
  return planner.list({ accessClass, user: null, role: null }, { name: 'posts' }, query);
}

function othersOf(query: string, accessClass?: string): readonly OtherWay[] | undefined {
  return otherWays.of(planned(query, accessClass).plan.statement);
}

/** Steps of a plan that join rows of named queries by a loop. */
function loops(step: PlanStep): number {
  const own = step['Node Type'] === 'Nested Loop' && readsNamed(step) ? 1 : 0;
  return (step.Plans ?? []).reduce((sum, below) => sum + loops(below), own);
}

/** True if a step has rows of a named query, apart from values that it computes first. */
function readsNamed(step: PlanStep): boolean {
  const below = (step.Plans ?? []).filter((part) => part['Parent Relationship'] !== 'InitPlan');
  return step['Node Type'] === 'CTE Scan' || below.some(readsNamed);
}

describe.each(Object.entries(reads))('%s', (_, query) => {
  test('has the same bytes each way', async () => {
    const { plan, parameters } = planned(query);
    const others = otherWays.of(plan.statement) ?? [];
    const [rows = '', ...ways] = await Promise.all(
      [plan.statement, ...others].map(async ({ name, text }) => {
        const answer = createAnswerWriter(plan)();
        await database.read({ name, text }, parameters, answer);
        return answer.end().toString();
      }),
    );
    expect(JSON.parse(rows).data).toHaveLength(20);
    expect(ways.length).toBeGreaterThan(0);
    for (const way of ways) expect(way).toBe(rows);
  });
});

test.skipIf(isWithout('adaptive-plans'))('only small tables are read as a whole', async () => {
  const { rows } = await withClient(project.database.url, (client) =>
    client.query(
      "SELECT relname, pg_relation_size(oid) <= 16777216 AS small FROM pg_class WHERE relname IN ('tags', 'labels', 'places') ORDER BY relname",
    ),
  );
  expect(rows.map(({ small }) => small)).toEqual([true, true, false]);
  /** Reads until it goes by a text, and some more times; the texts by which the reads have gone. */
  const textsUntil = async (query: string, wanted: string, more = 0): Promise<readonly string[]> => {
    project.statements.reset();
    const isMet = () => project.statements.ran().includes(wanted);
    for (let times = 0, left = more; times < 100 && (left > 0 || !isMet()); times++) {
      if (isMet()) left--;
      expect((await project.admin(`/items/posts?limit=4&${query}`)).status).toBe(200);
    }
    return project.statements.ran();
  };
  const [large = '', small = ''] = [reads['a whole list'], reads['a table that is read as a whole']];
  // A table behind a junction with a rule is never read as a whole, so this is about administrators.
  const [ofLarge, ofSmall] = [large, small].map((query) => othersOf(`limit=4&${query}`, 'admin') ?? []);
  const [byKeys = '', whole = ''] = ofLarge?.map(({ text }) => text) ?? [];
  const joined = ofSmall?.[1]?.text ?? '';
  // Three tries by keys come before those of whole tables.
  const ran = await textsUntil(large, byKeys, 9);
  expect([whole === '', ran.includes(byKeys), ran.includes(whole)]).toEqual([false, true, false]);
  expect(await textsUntil(small, joined)).toContain(joined);
});

test.skipIf(isWithout('adaptive-plans'))('whole tables are compared with values and rules, and not searched', () => {
  const ways = (name: string): number => othersOf(reads[name] ?? '')?.length ?? 0;
  // By keys, and by any join or one in order.
  expect(ways('a comparison on a table that is read as a whole')).toBe(3);
  expect(ways('keys of two columns')).toBe(3);
  expect(ways('a filter on a table that is read as a whole')).toBe(1);
});

describe('a page', () => {
  test.each(Object.keys(reads).filter((name) => !/two columns|the same, as keys/.test(name)))(
    'joins %s without a loop',
    async (name) => {
      const [byKeys] = othersOf(reads[name] ?? '') ?? [];
      expect(loops(await planOf(project.database.url, byKeys?.text ?? ''))).toBe(0);
    },
  );

  test('is not made where lists skip rows, have none, or lead through no junction', () => {
    expect(othersOf('fields=id,tags.name&deep[tags][_limit]=0')).toBeUndefined();
    expect(othersOf('fields=id,tags.name&deep[tags][_offset]=2')).toBeUndefined();
    expect(othersOf('fields=id,title')).toBeUndefined();
    expect(othersOf('fields=id,tags.name&limit=-1')).toBeUndefined();
  });
});

// The plain lane would need BEGIN for the cost, which pools by statements refuse.
describe.each([
  ['fast', '4'],
  ['pg', '1.04'],
] as const)('by the driver %s', (driver, cost) => {
  test(`other ways run under a cost of pages of ${cost}, and the settings of their caller`, async () => {
    const { seams = {} } = connectionsOf(allOptimizations, driver);
    const seen = await openDatabase({ url: project.database.url }, { driver, seams });
    try {
      const show = "current_setting('random_page_cost') || coalesce(current_setting('my.claims', true), '')";
      const slow: Statement = { name: 'r_rows', text: `SELECT ${show} || pg_sleep(0.02)::text` };
      const statement = otherWays.on(slow, [{ name: 'r_page', text: `SELECT ${show}` }]);
      const apply = {
        name: 's_mine',
        text: "SELECT WHERE set_config('my.claims', $1, true) IS NULL",
        parameters: [' x'],
      };
      const caller = { key: 'x', apply, undo: { name: 's_none', text: 'SELECT' } };
      const texts: string[] = [];
      for (let times = 0; times < 7; times++) {
        for (const runsAs of [undefined, caller]) {
          const sink = {
            row: (bytes: Buffer, at: number, length: number) =>
              void texts.push(bytes.toString('utf8', at + 4, at + length)),
          };
          await seen.read(runsAs === undefined ? statement : { ...statement, runsAs }, [], sink);
        }
      }
      expect(texts).toEqual(texts.map((_, run) => `${run < 8 ? '1.04' : cost}${run % 2 === 0 ? '' : ' x'}`));
      expect(texts).toHaveLength(14);
    } finally {
      await seen.close(0);
    }
  });
});

test('statements that join in order have that setting for themselves', async () => {
  const ways = { any: false, ordered: true, 'any again': false } as const;
  const createChooser = (state: ServerState) => (statement: Statement) => {
    const merges = new Map<string, boolean>(Object.entries(ways)).get(statement.name);
    return { statement: merges === undefined ? statement : state.planForMany(statement, merges) };
  };
  const seen = await openDatabase({ url: project.database.url }, { driver: 'fast', seams: { createChooser } });
  try {
    const text = "SELECT current_setting('enable_hashjoin')";
    const found: string[] = [];
    const row = (bytes: Buffer, at: number, length: number) =>
      void found.push(bytes.toString('utf8', at + 4, at + length));
    for (const name of Object.keys(ways)) await seen.read({ name, text }, [], { row });
    expect(found).toEqual(['on', 'off', 'on']);
  } finally {
    await seen.close(0);
  }
});

test.skipIf(isWithout('adaptive-plans')).each([
  ['a list', `/items/posts?limit=20&${reads['the first by a column with nulls']}`],
  ['a large answer', `/items/posts?limit=20&${reads['a whole list']}`],
])('a server reads %s for the whole page once it has taken long, and answers the same', async (_, path) => {
  const first = await project.ask(path);
  expect(first.status).toBe(200);
  expect(await isReadByPage(path, first.text)).toBe(false);
  // After eight runs, or 24 where the average is below five milliseconds; those beside other work do not count.
  await expectWay(true, path, first.text);
});

test.skipIf(isWithout('adaptive-plans'))('a list of few links goes row by row after one of many', async () => {
  const path = `/items/posts?limit=20&${reads['the first by a column with nulls']}&filter[id][_between]=`;
  await expectWay(true, `${path}1,12`);
  await expectWay(true, `${path}13,20`);
  await expectWay(false, `${path}13,20`);
});

/** Reads a list, and tells whether it went for the whole page at once. */
async function isReadByPage(path: string, text?: string): Promise<boolean> {
  project.statements.reset();
  const answer = await project.ask(path);
  expect([answer.status, answer.text]).toEqual([200, text ?? answer.text]);
  return project.statements.ran().some((statement) => statement.startsWith('WITH '));
}

/** Reads a list until it goes that way. */
async function expectWay(byPage: boolean, path: string, text?: string): Promise<void> {
  for (let times = 0; times < 100; times++) if ((await isReadByPage(path, text)) === byPage) return;
  expect.fail(`No read of a hundred went ${byPage ? 'for the whole page' : 'row by row'}.`);
}

test('statistics of tables are others after ANALYZE', async () => {
  const { url } = project.database;
  /** Facts that a server which starts now learns of a table. */
  const learn = async () => {
    let state: ServerState | undefined;
    const createChooser = (opened: ServerState) => {
      state = opened;
      return (statement: Statement) => ({ statement });
    };
    const seen = await openDatabase({ url }, { seams: { createChooser } });
    try {
      const factsNow = () => state?.factsOf(['"public"."counted"']);
      await expect.poll(factsNow).toEqual({ areSmall: true, statistics: [expect.any(Number)] });
      return factsNow()?.statistics;
    } finally {
      await seen.close(0);
    }
  };
  await withClient(url, (client) =>
    client.query('CREATE TABLE counted WITH (autovacuum_enabled = false) AS SELECT generate_series(1, 200) AS id'),
  );
  const before = await learn();
  await withClient(url, (client) => client.query('ANALYZE counted'));
  expect(await learn()).toEqual([200]);
  expect(before).not.toEqual([200]);
});
