/**
 * What the compiled `/graphql` is measured against: mercurius as a good engineer uses it. Documents are kept and compiled
 * (jit), statements are prepared, and a relation is read by one query for all the items of a page. Nobody is asked who they
 * are. The loaders keep nothing within a request, which would cost more than it saves: every key is asked for once.
 *
 * Run as a process of its own; prints its address as one line of JSON.
 */
import fastify from 'fastify';
import { GraphQLScalarType } from 'graphql';
import mercurius from 'mercurius';
import pg from 'pg';

const schema = `
  scalar DateTime

  type Query {
    article(id: ID!): Article
    articles(status: String!, limit: Int!, offset: Int!): [Article!]!
  }

  type Article {
    id: ID!
    title: String!
    slug: String!
    body: String
    status: String!
    published_at: DateTime
    views: Int!
    rating: String
    reading_minutes: Int
    created_at: DateTime!
    author: Author
    comments(limit: Int!): [Comment!]!
    tags: [Tag!]!
  }

  type Author {
    id: Int!
    name: String!
  }

  type Comment {
    id: ID!
    author_name: String!
    body: String!
    created_at: DateTime!
  }

  type Tag {
    id: Int!
    name: String!
  }
`;

interface Article {
  readonly id: string;
  readonly author_id: number | null;
}

interface Page {
  readonly status: string;
  readonly limit: number;
  readonly offset: number;
}

/** One item of which a relation is asked for. */
interface Asked<Parameters = unknown> {
  readonly obj: Article;
  readonly params: Parameters;
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

const dateTime = new GraphQLScalarType({
  name: 'DateTime',
  serialize: (value) => (value instanceof Date ? value.toISOString() : value),
});

const resolvers = {
  DateTime: dateTime,
  Query: {
    async article(_: unknown, { id }: { readonly id: string }) {
      const { rows } = await pool.query<Article>({
        name: 'article',
        text: `SELECT id, title, slug, body, status, published_at, views, rating, reading_minutes, created_at, author_id
          FROM articles WHERE id = $1`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    async articles(_: unknown, { status, limit, offset }: Page) {
      const { rows } = await pool.query<Article>({
        name: 'articles',
        text: `SELECT id, title, published_at, author_id FROM articles
          WHERE status = $1 ORDER BY published_at DESC, id DESC LIMIT $2 OFFSET $3`,
        values: [status, limit, offset],
      });
      return rows;
    },
  },
};

const uncached = { cache: false };

const loaders = {
  Article: {
    author: {
      async loader(asked: readonly Asked[]) {
        const ids = new Set(asked.flatMap(({ obj }) => obj.author_id ?? []));
        const { rows } = await pool.query<{ id: number; name: string }>({
          name: 'authors',
          text: 'SELECT id, name FROM authors WHERE id = ANY ($1::integer[])',
          values: [[...ids]],
        });
        const found = new Map(rows.map((author) => [author.id, author]));
        return asked.map(({ obj }) => (obj.author_id === null ? null : (found.get(obj.author_id) ?? null)));
      },
      opts: uncached,
    },
    comments: {
      async loader(asked: readonly Asked<{ readonly limit: number }>[]) {
        const { rows } = await pool.query<{ article_id: string }>({
          name: 'comments',
          text: `SELECT c.article_id, c.id, c.author_name, c.body, c.created_at
            FROM unnest($1::bigint[]) AS page (id) CROSS JOIN LATERAL (
              SELECT * FROM comments WHERE article_id = page.id ORDER BY created_at DESC, id DESC LIMIT $2
            ) c`,
          values: [asked.map(({ obj }) => obj.id), asked[0]?.params.limit ?? 0],
        });
        return listsOf(asked, rows);
      },
      opts: uncached,
    },
    tags: {
      async loader(asked: readonly Asked[]) {
        const { rows } = await pool.query<{ article_id: string }>({
          name: 'tags',
          text: `SELECT link.article_id, t.id, t.name FROM articles_tags link JOIN tags t ON t.id = link.tag_id
            WHERE link.article_id = ANY ($1::bigint[]) ORDER BY link.article_id, t.id`,
          values: [asked.map(({ obj }) => obj.id)],
        });
        return listsOf(asked, rows);
      },
      opts: uncached,
    },
  },
};

/** The rows of each article, in the order in which the articles were asked for. */
function listsOf<Row extends { readonly article_id: string }>(
  asked: readonly Asked[],
  rows: readonly Row[],
): readonly (readonly Row[])[] {
  const lists = new Map<string, Row[]>(asked.map(({ obj }) => [obj.id, []]));
  for (const row of rows) lists.get(row.article_id)?.push(row);
  return asked.map(({ obj }) => lists.get(obj.id) ?? []);
}

const server = fastify();
await server.register(mercurius, { schema, resolvers, loaders, jit: 1 });

process.once('SIGTERM', () => void server.close().then(() => pool.end()));
const url = await server.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`${JSON.stringify({ url })}\n`);
