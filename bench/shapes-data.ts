/** Tables of the bench of shapes: posts with few and many rows below them, and targets of every size behind junctions. */
import { withClient } from '../test/support/postgres.ts';

/** Rows below one post, by its group. */
export const fanOuts: readonly number[] = [0, 3, 50, 1000];

/** Posts of each group. */
export const postsPerGroup = 400;

/** Kinds of keys that targets have. */
export type KeyKind = 'bigint' | 'uuid' | 'composite';

/** A table that a junction leads to. */
export interface Target {
  /** Table, collection and relation. */
  readonly table: string;
  readonly kind: KeyKind;
  /** As the report names it: `200`, `100k`, `5m`. */
  readonly size: string;
  readonly rows: number;
  /** Columns of its key. */
  readonly key: readonly string[];
  /** Columns of the junction that refer to them. */
  readonly far: readonly string[];
}

interface KeyColumns extends Pick<Target, 'key' | 'far'> {
  readonly type: string;
  /** Values of the key columns of the row with a number. */
  at(number: string): string;
}

const keys: Readonly<Record<KeyKind, KeyColumns>> = {
  bigint: { key: ['id'], far: ['tag_id'], type: 'bigint', at: (number) => number },
  uuid: { key: ['id'], far: ['tag_id'], type: 'uuid', at: (number) => `md5((${number})::text)::uuid` },
  composite: {
    key: ['shop_id', 'number'],
    far: ['tag_shop_id', 'tag_number'],
    type: 'integer',
    at: (number) => `(${number}) % 10, (${number}) / 10`,
  },
};

/** Rows of each size; the quick bench makes the large ones smaller. */
export interface Sizes {
  readonly '200': number;
  readonly '100k': number;
  readonly '5m': number;
}

/** All targets, and `ruled_tags`, which a row rule hides half of. */
export function listTargets(sizes: Sizes): readonly Target[] {
  const kinds: readonly KeyKind[] = ['bigint', 'uuid', 'composite'];
  const target = (table: string, kind: KeyKind, size: string, rows: number): Target => {
    return { table, kind, size, rows, key: keys[kind].key, far: keys[kind].far };
  };
  return [
    ...kinds.flatMap((kind) =>
      Object.entries(sizes).map(([size, rows]: [string, number]) => target(`tags_${kind}_${size}`, kind, size, rows)),
    ),
    target('ruled_tags', 'bigint', '100k', sizes['100k']),
  ];
}

/** Autovacuum would choose the moment of ANALYZE by itself. */
const options = 'WITH (autovacuum_enabled = false)';

/** Makes and fills everything, without ANALYZE. */
export async function fillShapes(url: string, sizes: Sizes, say: (text: string) => void): Promise<void> {
  await withClient(url, async (client) => {
    await client.query("SET maintenance_work_mem = '512MB'");
    say('filling posts and comments');
    await client.query(postsSql());
    await client.query(commentsSql(sizes['5m']));
    for (const target of listTargets(sizes)) {
      say(`filling ${target.table}`);
      await client.query(targetSql(target));
    }
    await client.query(partsSql(sizes));
    await client.query('CHECKPOINT');
  });
}

/** Posts without children are those of the group 0; the children are posts as well. */
function postsSql(): string {
  const groups = fanOuts.map((fanOut) => `(${fanOut})`).join(', ');
  return `
    CREATE TABLE posts (id bigint PRIMARY KEY, fan_out integer NOT NULL, parent_id bigint REFERENCES posts, title text NOT NULL) ${options};
    INSERT INTO posts SELECT row_number() OVER (), fan_out, NULL, 'Post ' || n
      FROM (VALUES ${groups}) v (fan_out), generate_series(1, ${postsPerGroup}) n;
    INSERT INTO posts SELECT ${fanOuts.length * postsPerGroup} + row_number() OVER (), -1, id, 'Child ' || n
      FROM posts, generate_series(1, fan_out) n;
    CREATE INDEX ON posts (fan_out, id);
    CREATE INDEX ON posts (parent_id);`;
}

/** Comments of the posts of the groups, and as many of other posts as fill the table. */
function commentsSql(rows: number): string {
  const first = fanOuts.length * postsPerGroup;
  const own = fanOuts.reduce((sum, fanOut) => sum + fanOut * postsPerGroup, 0);
  return `
    CREATE TABLE authors (id bigint PRIMARY KEY, name text NOT NULL) ${options};
    INSERT INTO authors SELECT n, 'Author ' || n FROM generate_series(1, 100000) n;
    CREATE TABLE comments (id bigint NOT NULL, post_id bigint NOT NULL, author_id bigint NOT NULL,
      created_at timestamptz NOT NULL, body text NOT NULL) ${options};
    INSERT INTO comments SELECT row_number() OVER (), id, 1 + (id * 31 + n * 17) % 100000,
      '2026-01-01'::timestamptz + (n * 7919 + id) % 100000 * interval '1 minute', 'Comment ' || n
      FROM posts, generate_series(1, fan_out) n;
    INSERT INTO comments SELECT ${own} + n, ${first + 1} + n % 100000, 1 + n * 31 % 100000,
      '2025-01-01'::timestamptz + n % 500000 * interval '1 minute', 'Comment ' || n FROM generate_series(1, ${rows - own}) n;
    ALTER TABLE comments ADD PRIMARY KEY (id), ADD FOREIGN KEY (post_id) REFERENCES posts,
      ADD FOREIGN KEY (author_id) REFERENCES authors;
    CREATE INDEX ON comments (post_id, created_at);
    CREATE INDEX ON comments (created_at);`;
}

function targetSql({ table, kind, rows, key, far }: Target): string {
  const { type, at } = keys[kind];
  const most = Math.min(1000, rows);
  const stride = Math.max(1, Math.floor(rows / most) - 1);
  const columns = (names: readonly string[]): string => names.map((name) => `${name} ${type} NOT NULL`).join(', ');
  return `
    CREATE TABLE ${table} (${columns(key)}, name text NOT NULL, weight integer NOT NULL) ${options};
    INSERT INTO ${table} SELECT ${at('n')}, 'Tag ' || n, n % 100 FROM generate_series(1, ${rows}) n;
    ALTER TABLE ${table} ADD PRIMARY KEY (${key.join(', ')});
    CREATE INDEX ON ${table} (name);
    CREATE TABLE posts_${table} (post_id bigint NOT NULL, ${columns(far)}) ${options};
    INSERT INTO posts_${table} SELECT DISTINCT id, ${at(`1 + (id * 7919 + n * ${stride}) % ${rows}`)}
      FROM posts, generate_series(1, least(fan_out, ${most})) n;
    ALTER TABLE posts_${table} ADD PRIMARY KEY (post_id, ${far.join(', ')}), ADD FOREIGN KEY (post_id) REFERENCES posts,
      ADD FOREIGN KEY (${far.join(', ')}) REFERENCES ${table};
    CREATE INDEX ON posts_${table} (${far.join(', ')});`;
}

/** Link rows of a many-to-any, to two tables by turns. */
function partsSql(sizes: Sizes): string {
  return `
    CREATE TABLE parts (id bigint PRIMARY KEY, post_id bigint REFERENCES posts, kind text NOT NULL, item text NOT NULL,
      sort integer NOT NULL) ${options};
    INSERT INTO parts SELECT row_number() OVER (), id, CASE n % 2 WHEN 0 THEN 'tags_bigint_200' ELSE 'tags_bigint_100k' END,
      1 + (id * 7 + n) % CASE n % 2 WHEN 0 THEN ${sizes['200']} ELSE ${sizes['100k']} END, n
      FROM posts, generate_series(1, fan_out) n;
    CREATE INDEX ON parts (post_id, sort);`;
}

/** Configuration of the compiled project. */
export const shapesConfig = `import { defineConfig } from 'tablewright/config';

export default defineConfig({
  manyToAny: [
    {
      collection: 'posts',
      field: 'pieces',
      link: 'parts',
      linkField: 'post_id',
      collectionField: 'kind',
      itemField: 'item',
      allowed: ['tags_bigint_200', 'tags_bigint_100k'],
      sort: 'sort',
    },
  ],
});
`;

/** Everybody reads everything, but of `ruled_tags` the lighter half. */
export function shapesPermissions(sizes: Sizes): string {
  const tables = listTargets(sizes).flatMap(({ table }) => [table, `posts_${table}`]);
  const rule = (table: string): string =>
    table === 'ruled_tags' ? "{ fields: ['*'], filter: { weight: { _lt: 50 } } }" : 'true';
  const lines = ['posts', 'comments', 'authors', 'parts', ...tables].map(
    (table) => `    ${table}: { read: ${rule(table)} }`,
  );
  return `permissions:\n  public:\n${lines.join('\n')}\n`;
}
