/** Filters through relations as written by hand: joins to one row, and subqueries of keys through many. */
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';

const articles = 'a.id, a.title, a.slug, a.status, a.published_at, a.views, a.author_id, a.created_at';
const newest = "a.status = 'published' ORDER BY a.published_at DESC, a.id DESC LIMIT 20";
const tagged = 'SELECT link.article_id FROM articles_tags link JOIN tags t ON t.id = link.tag_id WHERE t.name = $1';

const statements = {
  'to-one': `SELECT ${articles} FROM articles a JOIN authors u ON u.id = a.author_id WHERE u.country = $1 AND ${newest}`,
  'two-to-one': `SELECT ${articles} FROM articles a JOIN authors u ON u.id = a.author_id JOIN countries c ON c.code = u.country
    WHERE c.name = $1 AND ${newest}`,
  'to-many': `SELECT ${articles} FROM articles a WHERE a.id IN (SELECT article_id FROM comments WHERE author_name = $1) AND ${newest}`,
  links: `SELECT ${articles} FROM articles a WHERE a.id IN (${tagged}) AND ${newest}`,
  'two-relations': `SELECT c.id, c.author_name, c.body, c.created_at FROM comments c WHERE c.article_id IN (${tagged})
    ORDER BY c.created_at DESC, c.id DESC LIMIT 20`,
};

/** Adds their routes. */
export function addFilters(server: FastifyInstance, pool: pg.Pool): void {
  for (const [name, text] of Object.entries(statements)) {
    server.get<{ Querystring: { value: string } }>(`/filter-${name}`, async ({ query: { value } }) => {
      const { rows } = await pool.query({ name: `filter ${name}`, text, values: [value] });
      return { data: rows };
    });
  }
}
