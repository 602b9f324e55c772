/**
 * The server to beat on shapes: what a good engineer writes by hand with Fastify and `pg`: a pool, prepared statements, one
 * query per to-many relation for the whole page. Run as a process of its own; prints its address as one line of JSON.
 */
import fastify from 'fastify';
import pg from 'pg';

interface Page {
  Querystring: { fan_out: string; offset: string };
}

interface TagPage {
  Querystring: Page['Querystring'] & { table: string; name?: string; lighter?: string };
}

interface Post {
  readonly id: string;
  readonly title: string;
}

/** A row below a post, whose other columns are answered. */
interface Below extends Record<string, unknown> {
  readonly post_id: string;
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
// The bench ends connections between its measurements.
pool.on('error', () => {});
const server = fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });

async function query<T extends object>(name: string, text: string, values: readonly unknown[]): Promise<readonly T[]> {
  const { rows } = await pool.query<T & pg.QueryResultRow>({ name, text, values: [...values] });
  return rows;
}

function readPosts({ fan_out, offset }: Page['Querystring']): Promise<readonly Post[]> {
  const text = 'SELECT id, title FROM posts WHERE fan_out = $1 ORDER BY id LIMIT 20 OFFSET $2';
  return query<Post>('posts', text, [fan_out, offset]);
}

/** A page of posts, each with a list that `read` gives by the posts' keys. */
async function withLists(
  page: Page['Querystring'],
  name: string,
  read: (ids: readonly string[]) => Promise<readonly Below[]>,
) {
  const posts = await readPosts(page);
  const found = new Map<string, object[]>(posts.map(({ id }) => [id, []]));
  for (const { post_id, ...row } of await read(posts.map(({ id }) => id))) found.get(post_id)?.push(row);
  return { data: posts.map(({ id, title }) => ({ id, title, [name]: found.get(id) })) };
}

/** Columns of a table of tags: those of its key, and those of its junction. Names come from this list only. */
function columnsOf(table: string): { readonly key: string; readonly join: string } {
  const composite = table.startsWith('tags_composite_');
  if (!/^(?:tags_(?:bigint|uuid|composite)_(?:200|100k|5m)|ruled_tags)$/.test(table))
    throw new Error(`No table ${table}.`);
  return composite
    ? { key: 't.shop_id, t.number', join: 't.shop_id = link.tag_shop_id AND t.number = link.tag_number' }
    : { key: 't.id', join: 't.id = link.tag_id' };
}

server.get<TagPage>('/tags', ({ query: { table, name, lighter, ...page } }) => {
  const { key, join } = columnsOf(table);
  const [filter, values] =
    name !== undefined
      ? ['AND t.name = $2', [name]]
      : lighter !== undefined
        ? ['AND t.weight < $2', [lighter]]
        : ['', []];
  const text = `SELECT link.post_id, ${key}, t.name FROM posts_${table} link JOIN ${table} t ON ${join}
    WHERE link.post_id = ANY ($1::bigint[]) ${filter} ORDER BY link.post_id, ${key}`;
  return withLists(page, table, (ids) => query(`${table} ${filter}`, text, [ids, ...values]));
});

server.get<TagPage>('/top-tags', ({ query: { table, ...page } }) => {
  const { key, join } = columnsOf(table);
  const text = `SELECT post_id, id, name FROM (
      SELECT link.post_id, ${key}, t.name, row_number() OVER (PARTITION BY link.post_id ORDER BY t.name, ${key}) AS place
      FROM posts_${table} link JOIN ${table} t ON ${join} WHERE link.post_id = ANY ($1::bigint[])
    ) t WHERE place <= 5 ORDER BY post_id, place`;
  return withLists(page, table, (ids) => query(`top ${table}`, text, [ids]));
});

server.get<TagPage>('/tag-counts', async ({ query: { table, ...page } }) => {
  columnsOf(table);
  const posts = await readPosts(page);
  const text = `SELECT post_id, count(*) FROM posts_${table} WHERE post_id = ANY ($1::bigint[]) GROUP BY post_id`;
  const rows = await query<{ post_id: string; count: string }>(`count ${table}`, text, [posts.map(({ id }) => id)]);
  const counts = new Map(rows.map(({ post_id, count }) => [post_id, Number(count)]));
  return { data: posts.map(({ id, title }) => ({ id, title, [`${table}_count`]: counts.get(id) ?? 0 })) };
});

server.get<TagPage>('/heaviest-tags', async ({ query: { table, ...page } }) => {
  const { join } = columnsOf(table);
  const posts = await readPosts(page);
  const text = `SELECT link.post_id, max(t.weight) AS weight FROM posts_${table} link JOIN ${table} t ON ${join}
    WHERE link.post_id = ANY ($1::bigint[]) GROUP BY link.post_id`;
  const rows = await query<{ post_id: string; weight: number }>(`max ${table}`, text, [posts.map(({ id }) => id)]);
  const most = new Map(rows.map(({ post_id, weight }) => [post_id, weight]));
  return { data: posts.map(({ id, title }) => ({ id, title, [table]: [{ max: { weight: most.get(id) ?? null } }] })) };
});

server.get<Page>('/comments', ({ query: page }) => {
  const text = `SELECT post_id, id, body, created_at FROM comments WHERE post_id = ANY ($1::bigint[]) ORDER BY post_id, id`;
  return withLists(page, 'comments', (ids) => query('comments', text, [ids]));
});

server.get<Page>('/first-comments', ({ query: page }) => {
  const text = `SELECT post_id, id, body, created_at FROM (
      SELECT *, row_number() OVER (PARTITION BY post_id ORDER BY id) AS place FROM comments WHERE post_id = ANY ($1::bigint[])
    ) c WHERE place <= 100 ORDER BY post_id, place`;
  return withLists(page, 'comments', (ids) => query('first comments', text, [ids]));
});

server.get<{ Querystring: Page['Querystring'] & { since?: string } }>(
  '/latest-comments',
  ({ query: { since, ...page } }) => {
    const rows = (filter: string): string => `unnest($1::bigint[]) AS page (id) CROSS JOIN LATERAL (
      SELECT * FROM comments WHERE post_id = page.id ${filter} ORDER BY created_at DESC, id DESC LIMIT 5
    ) c`;
    if (since === undefined) {
      const text = `SELECT c.post_id, c.id, c.body, c.created_at FROM ${rows('')}`;
      return withLists(page, 'comments', (ids) => query('latest', text, [ids]));
    }
    const text = `SELECT c.post_id, c.id, c.body, c.created_at, json_build_object('name', a.name) AS author_id
    FROM ${rows('AND created_at >= $2')} JOIN authors a ON a.id = c.author_id ORDER BY c.post_id, c.created_at DESC, c.id DESC`;
    return withLists(page, 'comments', (ids) => query('since', text, [ids, since]));
  },
);

server.get<Page>('/children', ({ query: page }) => {
  const text = `SELECT post_id, id, title FROM (
      SELECT parent_id AS post_id, id, title, row_number() OVER (PARTITION BY parent_id ORDER BY id) AS place
      FROM posts WHERE parent_id = ANY ($1::bigint[])
    ) c WHERE place <= 100 ORDER BY post_id, place`;
  return withLists(page, 'posts', (ids) => query('children', text, [ids]));
});

server.get<Page>('/pieces', ({ query: page }) => {
  const text = `SELECT post_id, json_build_object('name', coalesce(small.name, large.name)) AS item FROM (
      SELECT *, row_number() OVER (PARTITION BY post_id ORDER BY sort, id) AS place FROM parts WHERE post_id = ANY ($1::bigint[])
    ) part
    LEFT JOIN tags_bigint_200 small ON part.kind = 'tags_bigint_200' AND small.id = part.item::bigint
    LEFT JOIN tags_bigint_100k large ON part.kind = 'tags_bigint_100k' AND large.id = part.item::bigint
    WHERE place <= 100 ORDER BY post_id, place`;
  return withLists(page, 'pieces', (ids) => query('pieces', text, [ids]));
});

process.once('SIGTERM', () => void server.close().then(() => pool.end()));
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
