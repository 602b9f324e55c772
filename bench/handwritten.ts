/**
 * The server to beat: what a good engineer writes by hand for these requests with Fastify and `pg`: a pool,
 * prepared statements, joins where they help, one query per to-many relation for the whole page, no abstraction in between.
 * Run as a process of its own; prints its address as one line of JSON.
 */
import fastify from 'fastify';
import pg from 'pg';
import { addFilters } from './handwritten-filters.ts';
import { addWrites } from './handwritten-writes.ts';

interface Page {
  Querystring: { status: string; limit: string; offset: string };
}

interface ArticleRow {
  id: string;
  title: string;
  published_at: Date | null;
  author_id: number | null;
  author_name: string | null;
}

interface CommentRow {
  article_id: string;
  id: string;
  author_name: string;
  body: string;
  created_at: Date;
}

interface TagRow {
  article_id: string;
  id: number;
  name: string;
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const server = fastify({ ajv: { customOptions: { removeAdditional: false, coerceTypes: false } } });

server.get<{ Params: { id: string } }>('/articles/:id', async (request, reply) => {
  const { rows } = await pool.query({
    name: 'article',
    text: `SELECT id, title, slug, body, status, published_at, views, author_id, category_id, created_at
      FROM articles WHERE id = $1`,
    values: [request.params.id],
  });
  if (rows.length === 0) return reply.code(404).send({ error: 'There is no such article.' });
  return { data: rows[0] };
});

server.get<{ Params: { id: string } }>('/articles-whole/:id', async ({ params: { id } }, reply) => {
  const [article, comments, tags] = await Promise.all([
    pool.query({
      name: 'whole_article',
      text: `SELECT id, title, slug, body, status, published_at, views, rating, author_id, category_id, metadata,
        keywords, reading_minutes, created_by, created_at FROM articles WHERE id = $1`,
      values: [id],
    }),
    pool.query<{ id: string }>({
      name: 'whole_comments',
      text: 'SELECT id FROM comments WHERE article_id = $1 ORDER BY id LIMIT 100',
      values: [id],
    }),
    pool.query<{ tag_id: number }>({
      name: 'whole_tags',
      text: 'SELECT tag_id FROM articles_tags WHERE article_id = $1 ORDER BY tag_id LIMIT 100',
      values: [id],
    }),
  ]);
  if (article.rows.length === 0) return reply.code(404).send({ error: 'There is no such article.' });
  const lists = {
    articles_tags: tags.rows.map(({ tag_id }) => `${id},${tag_id}`),
    comments: comments.rows.map((comment) => comment.id),
    tags: tags.rows.map(({ tag_id }) => tag_id),
  };
  return { data: { ...article.rows[0], ...lists } };
});

server.get<Page>('/articles', async ({ query: { status, limit, offset } }) => {
  const { rows } = await pool.query({
    name: 'articles',
    text: `SELECT id, title, slug, status, published_at, views, author_id, created_at
      FROM articles WHERE status = $1 ORDER BY published_at DESC, id DESC LIMIT $2 OFFSET $3`,
    values: [status, limit, offset],
  });
  return { data: rows };
});

server.get<Page>('/articles-nested', async ({ query: { status, limit, offset } }) => {
  const { rows: articles } = await pool.query<ArticleRow>({
    name: 'nested_articles',
    text: `SELECT a.id, a.title, a.published_at, a.author_id, u.name AS author_name
      FROM articles a LEFT JOIN authors u ON u.id = a.author_id
      WHERE a.status = $1 ORDER BY a.published_at DESC, a.id DESC LIMIT $2 OFFSET $3`,
    values: [status, limit, offset],
  });
  const ids = articles.map(({ id }) => id);
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
  const { rows } = await pool.query<{ count: string; views: number | null }>({
    name: 'summary',
    text: 'SELECT count(*), avg(views)::float8 AS views FROM articles WHERE author_id = $1 AND status = $2',
    values: [query.author, query.status],
  });
  return { data: rows.map(({ count, views }) => ({ count: Number(count), avg: { views } })) };
});

addFilters(server, pool);
addWrites(server, pool);

/** The five latest comments of each article. */
async function readComments(articles: readonly string[]): Promise<ReadonlyMap<string, object[]>> {
  const { rows } = await pool.query<CommentRow>({
    name: 'nested_comments',
    text: `SELECT c.article_id, c.id, c.author_name, c.body, c.created_at
      FROM unnest($1::bigint[]) AS page (id) CROSS JOIN LATERAL (
        SELECT * FROM comments WHERE article_id = page.id ORDER BY created_at DESC, id DESC LIMIT 5
      ) c`,
    values: [articles],
  });
  const found = new Map<string, object[]>();
  for (const { article_id, ...comment } of rows) listOf(found, article_id).push(comment);
  return found;
}

async function readTags(articles: readonly string[]): Promise<ReadonlyMap<string, object[]>> {
  const { rows } = await pool.query<TagRow>({
    name: 'nested_tags',
    text: `SELECT link.article_id, t.id, t.name FROM articles_tags link JOIN tags t ON t.id = link.tag_id
      WHERE link.article_id = ANY ($1::bigint[]) ORDER BY link.article_id, t.id`,
    values: [articles],
  });
  const found = new Map<string, object[]>();
  for (const { article_id, id, name } of rows) listOf(found, article_id).push({ id, name });
  return found;
}

function listOf(lists: Map<string, object[]>, key: string): object[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

process.once('SIGTERM', () => void server.close().then(() => pool.end()));
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
