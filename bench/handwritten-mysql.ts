/**
 * The server to beat on MariaDB and MySQL: Fastify and mysql2 as a good engineer uses them, with a pool and prepared statements, one
 * query per to-many relation for the whole page. Run as a process of its own; prints its address as one line of JSON.
 */
import fastify from 'fastify';
import mysql, { type RowDataPacket } from 'mysql2/promise';

interface Page {
  Querystring: { status: string; limit: string; offset: string };
}

const pool = mysql.createPool({
  uri: process.env.DATABASE_URL ?? '',
  connectionLimit: 10,
  timezone: 'Z',
  supportBigNumbers: true,
  bigNumberStrings: true,
});
pool.on('connection', (connection) => void connection.query("SET time_zone = '+00:00'"));
const server = fastify();

server.get<{ Params: { id: string } }>('/articles/:id', async (request, reply) => {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT id, title, slug, body, status, published_at, views, author_id, category_id, created_at
     FROM articles WHERE id = ?`,
    [request.params.id],
  );
  if (rows.length === 0) return reply.code(404).send({ error: 'There is no such article.' });
  return { data: rows[0] };
});

server.get<{ Params: { id: string } }>('/articles-whole/:id', async ({ params: { id } }, reply) => {
  const read = (text: string) => pool.execute<RowDataPacket[]>(text, [id]);
  const [[articles], [comments], [tags]] = await Promise.all([
    read(`SELECT id, title, slug, body, status, published_at, views, author_id, category_id, created_at
      FROM articles WHERE id = ?`),
    read('SELECT id FROM comments WHERE article_id = ? ORDER BY id LIMIT 100'),
    read('SELECT tag_id FROM articles_tags WHERE article_id = ? ORDER BY tag_id LIMIT 100'),
  ]);
  if (articles.length === 0) return reply.code(404).send({ error: 'There is no such article.' });
  const lists = {
    articles_tags: tags.map(({ tag_id }) => `${id},${tag_id}`),
    comments: comments.map((comment) => comment.id),
    tags: tags.map(({ tag_id }) => tag_id),
  };
  return { data: { ...articles[0], ...lists } };
});

server.get<Page>('/articles', async ({ query: { status, limit, offset } }) => {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT id, title, slug, status, published_at, views, author_id, created_at
     FROM articles WHERE status = ? ORDER BY published_at DESC, id DESC LIMIT ? OFFSET ?`,
    [status, limit, offset],
  );
  return { data: rows };
});

server.get<Page>('/articles-nested', async ({ query: { status, limit, offset } }) => {
  const [articles] = await pool.execute<RowDataPacket[]>(
    `SELECT a.id, a.title, a.published_at, a.author_id, u.name AS author_name
     FROM articles a LEFT JOIN authors u ON u.id = a.author_id
     WHERE a.status = ? ORDER BY a.published_at DESC, a.id DESC LIMIT ? OFFSET ?`,
    [status, limit, offset],
  );
  const ids = articles.map(({ id }) => String(id));
  const [comments, tags] = await Promise.all([readComments(ids), readTags(ids)]);
  const data = articles.map(({ id, title, published_at, author_id, author_name }) => ({
    id,
    title,
    published_at,
    author_id: author_id === null ? null : { id: author_id, name: author_name },
    comments: comments.get(id) ?? [],
    tags: tags.get(id) ?? [],
  }));
  return { data };
});

server.get<{ Querystring: { author: string; status: string } }>('/articles-summary', async ({ query }) => {
  const [rows] = await pool.execute<RowDataPacket[]>(
    'SELECT count(*) AS count, avg(CAST(views AS double)) AS views FROM articles WHERE author_id = ? AND status = ?',
    [query.author, query.status],
  );
  const data = rows.map(({ count, views }) => ({
    count: Number(count),
    avg: { views },
  }));
  return { data };
});

/** The five latest comments of each article. */
async function readComments(articles: readonly string[]): Promise<ReadonlyMap<string, object[]>> {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT article_id, id, author_name, body, created_at FROM (
       SELECT c.*, row_number() OVER (PARTITION BY article_id ORDER BY created_at DESC, id DESC) AS place
       FROM comments c WHERE article_id IN (${marksFor(articles)})
     ) latest WHERE place <= 5 ORDER BY article_id, place`,
    [...articles],
  );
  const found = new Map<string, object[]>();
  for (const { article_id, ...comment } of rows) listOf(found, article_id).push(comment);
  return found;
}

async function readTags(articles: readonly string[]): Promise<ReadonlyMap<string, object[]>> {
  const [rows] = await pool.execute<RowDataPacket[]>(
    `SELECT link.article_id, t.id, t.name FROM articles_tags link JOIN tags t ON t.id = link.tag_id
     WHERE link.article_id IN (${marksFor(articles)}) ORDER BY link.article_id, t.id`,
    [...articles],
  );
  const found = new Map<string, object[]>();
  for (const { article_id, id, name } of rows) listOf(found, article_id).push({ id, name });
  return found;
}

function marksFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

function listOf(lists: Map<string, object[]>, key: string): object[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

process.once('SIGTERM', () => void server.close().then(() => pool.end()));
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
