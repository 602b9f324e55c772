/**
 * Plans of nested reads, as PostgreSQL makes them of what the server really sends, before and after ANALYZE: a list within a
 * row reads by an index condition, so that its cost follows the rows of that parent and not those of a whole table.
 *
 * Most parents have no rows or two, and a few have thousands: PostgreSQL plans for all of them alike.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withClient } from '../support/database.ts';
import { type PlanStep, planOf } from '../support/explain.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

/** Tables of targets: the columns of their keys, and the key number `n` of them. */
const keys: Readonly<
  Record<string, { readonly columns: readonly string[]; readonly types: string; at(n: string): string }>
> = {
  tags: { columns: ['id'], types: 'bigint', at: (n) => `${n}` },
  labels: { columns: ['id'], types: 'uuid', at: (n) => `md5((${n})::text)::uuid` },
  places: { columns: ['shelf', 'number'], types: 'integer', at: (n) => `(${n}) % 10, (${n}) / 10` },
  /** Few rows, but more than one page. */
  moods: { columns: ['id'], types: 'integer', at: (n) => `${n}` },
};

const unanalysed = 'WITH (autovacuum_enabled = false)';

function targetsSql(name: string): string {
  const { columns, types, at } = keys[name] ?? { columns: [], types: '', at: String };
  const rows = name === 'moods' ? 200 : 20_000;
  const most = Math.min(rows, 500);
  const key = columns.join(', ');
  const own = columns.map((column) => `${column} ${types}`).join(', ');
  const far = columns.map((column) => `target_${column}`).join(', ');
  return `
    CREATE TABLE ${name} (${own}, name text NOT NULL, weight integer NOT NULL, PRIMARY KEY (${key})) ${unanalysed};
    INSERT INTO ${name} SELECT ${at('n')}, 'Name ' || n, n % 100 FROM generate_series(1, ${rows}) n;
    CREATE INDEX ON ${name} (name);
    CREATE TABLE posts_${name} (post_id bigint REFERENCES posts, ${columns.map((column) => `target_${column} ${types}`).join(', ')},
      PRIMARY KEY (post_id, ${far}), FOREIGN KEY (${far}) REFERENCES ${name}) ${unanalysed};
    CREATE INDEX ON posts_${name} (${far});
    INSERT INTO posts_${name} SELECT id, ${at(`1 + (id * 7 + n * 13) % ${rows}`)}
      FROM posts, generate_series(1, CASE WHEN id <= 10 THEN ${most} ELSE 2 END) n ON CONFLICT DO NOTHING;`;
}

const sql = `
  CREATE TABLE posts (id bigint PRIMARY KEY, parent_id bigint REFERENCES posts, title text NOT NULL) ${unanalysed};
  INSERT INTO posts SELECT n, CASE WHEN n > 3000 THEN 1 + n % 10 END, 'Post ' || n FROM generate_series(1, 30000) n;
  CREATE INDEX ON posts (parent_id);
  CREATE INDEX ON posts (title);
  CREATE TABLE comments (id bigint PRIMARY KEY, post_id bigint NOT NULL REFERENCES posts, created_at timestamptz NOT NULL,
    body text NOT NULL) ${unanalysed};
  INSERT INTO comments SELECT n, 1 + n % 10, '2026-01-01'::timestamptz + n * interval '1 minute', repeat('text ', 40)
    FROM generate_series(1, 50000) n;
  CREATE INDEX ON comments (post_id);
  CREATE INDEX ON comments (created_at);
  ${Object.keys(keys).map(targetsSql).join('')}
  CREATE TABLE parts (id bigint PRIMARY KEY, post_id bigint REFERENCES posts, kind text NOT NULL, item text NOT NULL,
    sort integer) ${unanalysed};
  INSERT INTO parts SELECT n, 1 + n % 10, CASE n % 2 WHEN 0 THEN 'tags' ELSE 'moods' END, 1 + n % 100, n
    FROM generate_series(1, 30000) n;
  CREATE TABLE votes (id bigint PRIMARY KEY, post_id bigint NOT NULL REFERENCES posts, cast_at timestamptz NOT NULL,
    weight integer NOT NULL) ${unanalysed};
  INSERT INTO votes SELECT n, 1 + n % 10, '2026-01-01'::timestamptz + n * interval '1 minute', n % 100
    FROM generate_series(1, 30000) n;
  CREATE INDEX ON votes (post_id, cast_at);
  CREATE INDEX ON votes (cast_at);
  CREATE INDEX ON parts (post_id);
  CREATE INDEX ON parts (sort);`;

const config = `{
  manyToAny: [{ collection: 'posts', field: 'pieces', link: 'parts', linkField: 'post_id', collectionField: 'kind',
    itemField: 'item', allowed: ['tags', 'moods'], sort: 'sort' }],
}`;

const everything = [
  'posts',
  'comments',
  'parts',
  'votes',
  ...Object.keys(keys).flatMap((name) => [name, `posts_${name}`]),
];
const permissions = `permissions:
  public:
${everything.map((name) => `    ${name}: { read: ${name === 'tags' ? "{ fields: '*', filter: { weight: { _gt: 1 } } }" : 'true'} }`).join('\n')}
`;

/** Queries of posts by what they are to show. Those of `targets` are asked about each table of targets. */
const reads: Readonly<Record<string, string>> = {
  'an o2m in the order of its key': 'fields=id,comments.body',
  'an o2m in the order of an index':
    'fields=id,comments.body&deep[comments][_sort]=-created_at&deep[comments][_limit]=5',
  'an o2m in the order of an index behind its parent':
    'fields=id,votes.weight&deep[votes][_sort]=-cast_at&deep[votes][_limit]=5',
  'an o2m with a filter':
    'fields=id,comments.body&deep[comments][_filter][created_at][_gt]=2026-01-02T00:00:00Z&deep[comments][_limit]=3',
  'an o2m whose rows lead on': 'fields=id,comments.body,comments.post_id.title&deep[comments][_limit]=3',
  'keys of an o2m': 'fields=id,comments&deep[comments][_limit]=7',
  'a table that refers to itself':
    'fields=id,parent_id.title,posts.title&deep[posts][_sort]=-title&deep[posts][_limit]=5',
  'a many-to-any': 'fields=id,pieces.item:tags.name,pieces.item:moods.name&deep[pieces][_limit]=5',
};
const targetReads: Readonly<Record<string, string>> = {
  'a whole list': 'fields=id,T.name&deep[T][_limit]=-1',
  'a list': 'fields=id,T.name',
  keys: 'fields=id,T',
  'the first by a column of its own': 'fields=id,T.name&deep[T][_sort]=name&deep[T][_limit]=5',
  'a filter that leaves many': 'fields=id,T.name&deep[T][_filter][weight][_lt]=50&deep[T][_sort]=-name',
  'a filter that leaves one': 'fields=id,T.name&deep[T][_filter][name][_eq]=Name 7',
  'a number': 'fields=id,count(T)',
  aggregates: 'fields=id,T&deep[T][_aggregate][max]=weight',
  'a list two levels down': 'fields=id,posts.T.name&deep[posts][_limit]=3',
};

/** The junctions make relations of these names. */
const all: readonly (readonly [title: string, query: string])[] = [
  ...Object.entries(reads),
  ...Object.keys(keys).flatMap((name) =>
    Object.entries(targetReads).map(([title, query]) => [`${title} of ${name}`, query.replaceAll('T', name)] as const),
  ),
];

let project: ServedProject;
/** What the server sends for each query, which it prepares once. */
const statements = new Map<string, string>();

beforeAll(async () => {
  project = await serveProject({ sql, config, permissions });
  for (const [, query] of all) {
    project.statements.reset();
    const { status, text } = await project.ask(`/items/posts?limit=20&sort=-id&${query}`);
    expect(status, text).toBe(200);
    statements.set(query, project.statements.texts().find((sent) => sent.startsWith('SELECT t')) ?? '');
  }
});

afterAll(() => project?.close());

/** Steps that read tables for every row above them, without those that an index condition confines. */
function unconfined(step: PlanStep, within: boolean): readonly string[] {
  const inside = within || step['Parent Relationship'] === 'SubPlan';
  const reads = step['Relation Name'] !== undefined && !step['Node Type'].startsWith('Bitmap');
  const own =
    inside && reads && step['Index Cond'] === undefined ? [`${step['Node Type']} of ${step['Relation Name']}`] : [];
  return [...own, ...(step.Plans ?? []).flatMap((inner) => unconfined(inner, inside))];
}

/** Tables that a plan reads for every row above. */
function readWithin(step: PlanStep, within = false): readonly string[] {
  const inside = within || step['Parent Relationship'] === 'SubPlan';
  const own = inside && step['Relation Name'] !== undefined ? [step['Relation Name']] : [];
  return [...own, ...(step.Plans ?? []).flatMap((inner) => readWithin(inner, inside))];
}

/** Conditions by which a plan finds rows of a table in an index. */
function conditionsOn(table: string, step: PlanStep): readonly string[] {
  const below = step.Plans ?? [];
  // The conditions of a bitmap stand in the steps below the one that names the table.
  const bitmaps = below.filter((part) => part['Node Type'] === 'Bitmap Index Scan');
  const own = step['Relation Name'] === table ? [step, ...bitmaps].flatMap((part) => part['Index Cond'] ?? []) : [];
  return [...own, ...below.flatMap((part) => conditionsOn(table, part))];
}

describe.each(['before', 'after'])('%s ANALYZE', (moment) => {
  beforeAll(async () => {
    if (moment === 'after') await withClient(project.database.url, (client) => client.query('VACUUM (ANALYZE)'));
  });

  test.each(all)('%s reads by an index', async (_, query) => {
    const plan = await planOf(project.database.url, statements.get(query) ?? '');
    expect(unconfined(plan, false)).toEqual([]);
    expect(JSON.stringify(plan)).toContain('SubPlan');
  });

  test.each(['tags', 'labels', 'moods'])('a list of %s is read by the keys of all links at once', async (name) => {
    const plan = await planOf(
      project.database.url,
      statements.get(`fields=id,${name}.name&deep[${name}][_limit]=-1`) ?? '',
    );
    expect(conditionsOn(name, plan)).toEqual([expect.stringMatching(/^\(id = ANY \(\(InitPlan \d+\)\.col1\)\)$/)]);
  });

  test.each(['tags', 'labels', 'moods'])('links to the %s that have a value are found by these', async (name) => {
    const query = `fields=id,${name}.name&deep[${name}][_filter][name][_eq]=Name 7`;
    const plan = await planOf(project.database.url, statements.get(query) ?? '');
    expect(conditionsOn(name, plan)).toEqual([
      expect.stringMatching(/^\(name = ANY /),
      expect.stringMatching(/^\(id = t\d+\.target_id\)$/),
    ]);
    expect(conditionsOn(`posts_${name}`, plan)).toContainEqual(
      expect.stringMatching(/post_id = .*\) AND \(target_id = ANY /),
    );
  });

  test('a list that no index has in order is sorted, one that an index has is not', async () => {
    const sorted = await planOf(project.database.url, statements.get('fields=id,comments.body') ?? '');
    expect(conditionsOn('comments', sorted)).toEqual(['(post_id = t1.id)']);
    expect(JSON.stringify(sorted)).toContain('"Node Type":"Sort"');
    const query = 'fields=id,votes.weight&deep[votes][_sort]=-cast_at&deep[votes][_limit]=5';
    const followed = await planOf(project.database.url, statements.get(query) ?? '');
    expect(conditionsOn('votes', followed)).toEqual([expect.stringMatching(/^\(post_id = ANY /)]);
    expect(JSON.stringify(followed)).not.toContain('"Node Type":"Sort"');
  });

  test.each(Object.keys(keys))('a number of %s counts links, but where a rule hides some', async (name) => {
    const plan = await planOf(project.database.url, statements.get(`fields=id,count(${name})`) ?? '');
    expect(new Set(readWithin(plan))).toEqual(new Set([`posts_${name}`, ...(name === 'tags' ? [name] : [])]));
  });
});
