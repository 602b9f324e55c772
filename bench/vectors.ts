/** The bench of vectors: neighbours found under a rule that hides nine of ten rows, through the server, over PGlite. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, type Platform, startUnchecked } from '../test/support/platform.ts';
import { median } from './statistics.ts';

const rows = 100_000;
const dimensions = 16;
const questions = 50;
const limits = [10, 100];

const permissions =
  'permissions: { public: { points: { read: { fields: [id, embedding], filter: { tenant: { _eq: 3 } } } } } }\n';

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchVectors(): Promise<void> {
  const points = Array.from({ length: rows }, () => randomVector());
  const { folder, remove } = await createProject();
  await mkdir(join(folder, 'migrations'));
  await writeFile(join(folder, 'migrations', '0001-points.sql'), tableOf(points));
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  process.stderr.write(`… making ${rows} rows and their index\n`);
  let platform: Platform | undefined;
  try {
    platform = await startUnchecked(folder, '', { NODE_ENV: 'production' });
    process.stdout.write('| limit | recall | median, ms |\n| --: | --: | --: |\n');
    for (const limit of limits) process.stdout.write(await lineOf(platform, points, limit));
  } finally {
    await platform?.stop();
    await remove();
  }
}

async function lineOf(platform: Platform, points: readonly (readonly number[])[], limit: number): Promise<string> {
  let hits = 0;
  const times: number[] = [];
  for (let question = 0; question < questions; question++) {
    const to = randomVector();
    const query = { fields: ['id'], filter: { embedding: { _near: { to } } }, limit };
    const begun = performance.now();
    const answer = await platform.ask('/items/points', { method: 'SEARCH', body: { query } });
    times.push(performance.now() - begun);
    if (answer.status !== 200) throw new Error(answer.text);
    const ids = new Set(answer.json.data.map(({ id }: { id: number }) => id));
    hits += nearest(points, to, limit).filter((id) => ids.has(id)).length;
  }
  return `| ${limit} | ${(hits / (limit * questions)).toFixed(3)} | ${median(times).toFixed(1)} |\n`;
}

/** Positions of the nearest visible points, by looking at all of them. */
function nearest(points: readonly (readonly number[])[], to: readonly number[], limit: number): readonly number[] {
  const visible = points.flatMap((point, id) => (id % 10 === 3 ? [{ id, distance: -cosine(point, to) }] : []));
  visible.sort((left, right) => left.distance - right.distance);
  return visible.slice(0, limit).map(({ id }) => id);
}

function cosine(left: readonly number[], right: readonly number[]): number {
  let [product, own, other] = [0, 0, 0];
  for (const [index, number] of left.entries()) {
    const against = right[index] ?? 0;
    product += number * against;
    own += number * number;
    other += against * against;
  }
  return product / Math.sqrt(own * other);
}

function randomVector(): readonly number[] {
  return Array.from({ length: dimensions }, () => Math.round((Math.random() * 2 - 1) * 1e4) / 1e4);
}

function tableOf(points: readonly (readonly number[])[]): string {
  const values = points.map((point, id) => `(${id}, ${id % 10}, '[${point}]')`);
  const inserts = Array.from(
    { length: rows / 5_000 },
    (_, part) => `INSERT INTO points VALUES ${values.slice(part * 5_000, (part + 1) * 5_000).join(', ')};`,
  );
  return `CREATE EXTENSION vector;
CREATE TABLE points (id integer PRIMARY KEY, tenant integer NOT NULL, embedding vector(${dimensions}));
${inserts.join('\n')}
SET maintenance_work_mem = '256MB';
CREATE INDEX ON points USING hnsw (embedding vector_cosine_ops);
ANALYZE points;`;
}
