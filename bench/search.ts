/** The bench of search: words of many rows and of few, best first and in order of the key, through the server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withClient } from '../test/support/database.ts';
import { createProject, type Platform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres } from '../test/support/postgres.ts';
import { median } from './statistics.ts';

const rows = 1_000_000;
const rounds = 20;
/** Milliseconds in which a search is measured at most. */
const longest = 5_000;

/** Words by how rare they are: `w1` stands in most rows. */
const words = ['w12000', 'w5000', 'w500', 'w250', 'w150', 'w50', 'w5'];

/** Two tables of the same texts: one with a column of words, and one with an index on an expression. */
const sql = `CREATE FUNCTION word() RETURNS text LANGUAGE sql VOLATILE AS
  $$ SELECT 'w' || (1 + floor(20000 * random() ^ 3))::int $$;
CREATE TABLE stored (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL,
  search tsvector GENERATED ALWAYS AS (to_tsvector('english', title || ' ' || body)) STORED);
INSERT INTO stored (id, title, body) SELECT i, word(), concat_ws(' ', ${Array.from({ length: 30 }, () => 'word()').join(', ')})
  FROM generate_series(1, ${rows}) i;
CREATE TABLE expressed (id integer PRIMARY KEY, title text NOT NULL, body text NOT NULL);
INSERT INTO expressed SELECT id, title, body FROM stored;
SET maintenance_work_mem = '512MB';
CREATE INDEX ON stored USING gin (search);
CREATE INDEX ON expressed USING gin (to_tsvector('english'::regconfig, COALESCE(title, '') || ' ' || COALESCE(body, '')));`;

const config = `export default { collections: {
  stored: { search: { mode: 'text', column: 'search', language: 'english' } },
  expressed: { search: { mode: 'text', fields: ['title', 'body'], language: 'english' } },
} };\n`;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchSearch(): Promise<void> {
  const server = await startPostgres();
  const { folder, remove } = await createProject();
  let platform: Platform | undefined;
  try {
    process.stderr.write(`… making ${rows} rows and their indexes\n`);
    const { url } = await createDatabaseOn(server.url, sql);
    await withClient(url, (client) => client.query('VACUUM ANALYZE'));
    await writeFile(join(folder, 'platform.config.ts'), config);
    await writeFile(
      join(folder, 'permissions.yaml'),
      'permissions: { public: { stored: { read: true }, expressed: { read: true } } }\n',
    );
    platform = await startUnchecked(folder, url, { NODE_ENV: 'production' });
    process.stdout.write(
      '| word | rows | stored: median, p95 | expression: median, p95 | by key: median, p95 |\n| --- | --: | --: | --: | --: |\n',
    );
    for (const word of words) process.stdout.write(await lineOf(platform, word));
  } finally {
    await platform?.stop();
    await remove();
    await server.stop();
  }
}

async function lineOf(platform: Platform, word: string): Promise<string> {
  const { json } = await platform.ask(`/items/stored?aggregate[count]=*&search=${word}`);
  const cells = [`${word}`, String(json.data[0].count)];
  for (const path of ['stored?', 'expressed?', 'stored?sort=id&'])
    cells.push(await timesOf(platform, `${path}search=${word}`));
  return `| ${cells.join(' | ')} |\n`;
}

async function timesOf(platform: Platform, path: string): Promise<string> {
  const times: number[] = [];
  for (const end = performance.now() + longest; times.length < rounds && performance.now() < end; ) {
    const begun = performance.now();
    const answer = await platform.ask(`/items/${path}&fields=id,title&limit=25`);
    times.push(performance.now() - begun);
    if (answer.status !== 200) throw new Error(answer.text);
  }
  const sorted = times.toSorted((left, right) => left - right);
  return `${median(times).toFixed(1)}, ${sorted[Math.ceil(times.length * 0.95) - 1]?.toFixed(1)}`;
}
