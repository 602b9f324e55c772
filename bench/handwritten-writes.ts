/**
 * Writing, by hand: bodies judged by schemas that Fastify compiles, one statement where one is enough, else a transaction of
 * as few statements as it takes, several rows by arrays, and answers made of what RETURNING gives.
 */
import type { FastifyInstance } from 'fastify';
import pg from 'pg';

interface NewComment {
  article_id: string;
  author_name: string;
  body: string;
}

interface NewArticle {
  title: string;
  slug: string;
  body?: string;
  comments: Omit<NewComment, 'article_id'>[];
}

interface ById {
  Params: { id: string };
}

const commentColumns = 'id, article_id, author_name, author_email, body, created_at';
const id = { type: 'string', pattern: '^[0-9]{1,18}$' };
const authorName = { type: 'string', maxLength: 200 };
const text = { type: 'string' };

/** A body with these properties, all of which it needs. */
function objectOf(properties: Readonly<Record<string, object>>, required = Object.keys(properties)): object {
  return { type: 'object', additionalProperties: false, required, properties };
}

const newComment = objectOf({ article_id: id, author_name: authorName, body: text });
const newArticle = objectOf(
  {
    title: { type: 'string', maxLength: 255 },
    slug: { type: 'string', maxLength: 255 },
    body: text,
    comments: { type: 'array', items: objectOf({ author_name: authorName, body: text }) },
  },
  ['title', 'slug', 'comments'],
);

/** What the database refuses is the client's fault. */
const refused: ReadonlySet<string> = new Set(['23502', '23503', '23505', '23514']);

/** Adds the routes that write. */
export function addWrites(server: FastifyInstance, pool: pg.Pool): void {
  server.setErrorHandler((error, _request, reply) => {
    const isRefused = error instanceof pg.DatabaseError && refused.has(error.code ?? '');
    const invalid = error instanceof Error && 'validation' in error;
    return reply.code(isRefused || invalid ? 400 : 500).send({ error: String(error) });
  });
  addComments(server, pool);
  addArticles(server, pool);
}

function addComments(server: FastifyInstance, pool: pg.Pool): void {
  server.post<{ Body: NewComment }>('/comments', { schema: { body: newComment } }, async ({ body: comment }) => {
    const { rows } = await pool.query({
      name: 'create_comment',
      text: `INSERT INTO comments (article_id, author_name, body) VALUES ($1, $2, $3) RETURNING ${commentColumns}`,
      values: [comment.article_id, comment.author_name, comment.body],
    });
    return { data: rows[0] };
  });

  const many = { schema: { body: { type: 'array', items: newComment } } };
  server.post<{ Body: NewComment[] }>('/comments-many', many, async ({ body: comments }) => {
    const { rows } = await pool.query({
      name: 'create_comments',
      text: `INSERT INTO comments (article_id, author_name, body)
        SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) RETURNING ${commentColumns}`,
      values: [
        comments.map(({ article_id }) => article_id),
        comments.map(({ author_name }) => author_name),
        comments.map(({ body }) => body),
      ],
    });
    return { data: rows };
  });

  const changed = { schema: { params: objectOf({ id }), body: objectOf({ author_name: authorName, body: text }, []) } };
  server.patch<ById & { Body: Partial<NewComment> }>('/comments/:id', changed, async (request, reply) => {
    const { author_name = null, body = null } = request.body;
    const { rows } = await pool.query({
      name: 'update_comment',
      text: `UPDATE comments SET author_name = coalesce($2, author_name), body = coalesce($3, body)
        WHERE id = $1 RETURNING ${commentColumns}`,
      values: [request.params.id, author_name, body],
    });
    if (rows.length === 0) return reply.code(403).send({ error: 'There is no such comment.' });
    return { data: rows[0] };
  });
}

function addArticles(server: FastifyInstance, pool: pg.Pool): void {
  server.post<{ Body: NewArticle }>('/articles', { schema: { body: newArticle } }, async ({ body: article }) => {
    const { title, slug, body = null, comments } = article;
    return inTransaction(pool, async (client) => {
      const made = await client.query<{ id: string }>({
        name: 'create_article',
        text: 'INSERT INTO articles (title, slug, body) VALUES ($1, $2, $3) RETURNING id, title, slug, status',
        values: [title, slug, body],
      });
      const below = await client.query({
        name: 'create_article_comments',
        text: `INSERT INTO comments (article_id, author_name, body)
          SELECT $1, * FROM unnest($2::text[], $3::text[]) RETURNING id, author_name, body`,
        values: [
          made.rows[0]?.id,
          comments.map(({ author_name }) => author_name),
          comments.map(({ body: words }) => words),
        ],
      });
      return { data: { ...made.rows[0], comments: below.rows } };
    });
  });

  const tagged = {
    schema: { params: objectOf({ id }), body: objectOf({ tags: { type: 'array', items: { type: 'integer' } } }) },
  };
  server.patch<ById & { Body: { tags: number[] } }>('/articles/:id', tagged, async (request, reply) => {
    const values = [request.params.id, request.body.tags];
    const data = await inTransaction(pool, async (client) => {
      const text = 'SELECT id FROM articles WHERE id = $1 FOR NO KEY UPDATE';
      const found = await client.query({ name: 'lock_article', text, values: [request.params.id] });
      if (found.rows.length === 0) return undefined;
      await client.query({
        name: 'unlink_tags',
        text: 'DELETE FROM articles_tags WHERE article_id = $1 AND NOT tag_id = ANY ($2::int[])',
        values,
      });
      await client.query({
        name: 'link_tags',
        text: `INSERT INTO articles_tags (article_id, tag_id) SELECT $1, unnest($2::int[]) ON CONFLICT DO NOTHING`,
        values,
      });
      const { rows } = await client.query({
        name: 'article_tags',
        text: `SELECT t.id, t.name FROM articles_tags link JOIN tags t ON t.id = link.tag_id
          WHERE link.article_id = $1 ORDER BY t.id`,
        values: [request.params.id],
      });
      return { ...found.rows[0], tags: rows };
    });
    if (data === undefined) return reply.code(403).send({ error: 'There is no such article.' });
    return { data };
  });
}

async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}
