/**
 * The bench of row security: what passing callers on to policies adds to a request, through the server. Requests of several
 * clients share statements as chance has it, so that those of one client tell more.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, type TestDatabase, withClient } from '../test/support/postgres.ts';
import { driveOwn, type Effort } from './load.ts';
import { takeOneCore } from './one-core.ts';
import { parentOf, readConsumption, readProcessorMicros } from './processes.ts';
import { median, ratio } from './statistics.ts';

/** Options of the command line. */
export interface RowSecurityOptions {
  readonly rounds: number;
  readonly effort: Effort;
}

const claims = `claims: 'request.jwt.claims'`;
const role = `roles: { public: 'bench_anon', admin: 'bench_anon' }`;
const table = `CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, words integer);
INSERT INTO docs SELECT i, 'Title ' || i, repeat('text ', 20), i % 7 FROM generate_series(1, 100000) AS i;
GRANT SELECT ON docs TO bench_server, bench_anon;`;
const policy = `ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_role ON docs TO bench_anon
  USING ((current_setting('request.jwt.claims', true)::jsonb ->> 'role') = 'bench_anon');`;

/** Ways to read, the plain one first, with shares of processor time that they may add: by key and lists, of database and server. */
const variants = [
  { name: 'plain', config: '{}', sql: table },
  {
    name: 'claims, same pipeline',
    config: `{ database: { rowSecurity: { ${claims} } } }`,
    sql: table,
    most: { 'by key': [0.15, 0.05], 'list of 100': [0.03, 0.03] },
  },
  {
    name: 'claims, role and a policy',
    config: `{ database: { rowSecurity: { ${claims}, ${role} } } }`,
    sql: table + policy,
  },
] as const;

const scenarios = [
  { name: 'by key', paths: Array.from({ length: 1_000 }, (_, index) => `/items/docs/${index * 97 + 1}`) },
  { name: 'list of 100', paths: Array.from({ length: 10 }, (_, index) => `/items/docs?limit=100&page=${index + 1}`) },
] as const;

/** Microseconds of processor time per request: of one client, whose requests share nothing, and of four. */
interface Measured {
  readonly databaseAlone: number;
  readonly serverAlone: number;
  readonly database: number;
  readonly server: number;
  readonly perSecond: number;
  /** Milliseconds of a request of one client, median. */
  readonly alone: number;
}

interface Running {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<unknown>;
}

interface Project {
  start(): Promise<Running>;
  remove(): Promise<unknown>;
}

/** Seconds until V8 has compiled what it will. */
const warmUpSeconds = 4;

/** Rounds with the same processes. Those of the same code differ by some percent from start to start. */
const roundsOfStart = 4;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchRowSecurity({ rounds, effort }: RowSecurityOptions): Promise<void> {
  if (!takeOneCore()) say('all processors are used, because taskset or chrt is missing: figures will differ more');
  say('starting PostgreSQL and the servers');
  const postgres = await startPostgres();
  const ends: (() => Promise<unknown>)[] = [postgres.stop];
  try {
    await withClient(postgres.url, (client) =>
      client.query(
        `CREATE ROLE bench_anon; CREATE ROLE bench_server LOGIN PASSWORD 'bench'; GRANT bench_anon TO bench_server`,
      ),
    );
    const projects: Project[] = [];
    for (const variant of variants) {
      const project = await createVariant(await createDatabaseOn(postgres.url, variant.sql), variant.config);
      projects.push(project);
      ends.push(project.remove);
    }
    const databasePid = await serverPid(postgres.url);
    const measured = scenarios.map(() => variants.map((): Measured[] => []));
    for (let round = 0; round < rounds; round += roundsOfStart) {
      say(`rounds from ${round + 1} of ${rounds}`);
      const servers = await Promise.all(projects.map(({ start }) => start()));
      try {
        const count = Math.min(roundsOfStart, rounds - round);
        for (const [index, { paths }] of scenarios.entries())
          await measure(servers, databasePid, paths, count, effort, measured[index] ?? []);
      } finally {
        for (const { stop } of servers) await stop();
      }
    }
    for (const [index, { name }] of scenarios.entries()) report(name, measured[index] ?? []);
  } finally {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  }
}

async function createVariant({ url }: TestDatabase, config: string): Promise<Project> {
  await withClient(url, (client) => client.query('VACUUM ANALYZE'));
  const own = Object.assign(new URL(url), { username: 'bench_server', password: 'bench' }).href;
  const { folder, remove } = await createProject();
  const text = `import { defineConfig } from 'tablewright/config';\n\nexport default defineConfig(${config});\n`;
  await writeFile(join(folder, 'platform.config.ts'), text);
  await writeFile(join(folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
  const { code, stderr } = await runPlatform(['generate', '--project', folder], { DATABASE_URL: own });
  if (code !== 0) throw new Error(stderr);
  return { remove, start: () => startUnchecked(folder, own, { NODE_ENV: 'production', ADMIN_TOKEN: '' }, []) };
}

/** The parent of a backend, which has to be there while it is asked for. */
async function serverPid(url: string): Promise<number> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const parent = parentOf(rows[0]?.pid ?? 0);
    if (parent === undefined) throw new Error('The process of the database is not known.');
    return parent;
  });
}

/** Adds figures per request: by server, then by round. Every round begins with another server. */
async function measure(
  servers: readonly Running[],
  databasePid: number,
  paths: readonly string[],
  rounds: number,
  effort: Effort,
  measured: readonly Measured[][],
): Promise<void> {
  const order = [...servers.entries()];
  const consumed = (pid: number): readonly [database: number, server: number] => [
    readConsumption(databasePid)?.cpuMicros ?? 0,
    readProcessorMicros(pid),
  ];
  for (const { url } of servers) await driveOwn(url, paths, { ...effort, seconds: warmUpSeconds });
  for (let round = 0; round < rounds; round++) {
    const first = round % order.length;
    for (const [index, { url, pid }] of [...order.slice(first), ...order.slice(0, first)]) {
      const start = consumed(pid);
      const four = await driveOwn(url, paths, { ...effort, connections: 4 });
      const between = consumed(pid);
      const one = await driveOwn(url, paths, { ...effort, connections: 1 });
      const end = consumed(pid);
      if (four.errors + one.errors > 0) throw new Error(`${four.errors + one.errors} requests failed.`);
      measured[index]?.push({
        databaseAlone: (end[0] - between[0]) / one.requests,
        serverAlone: (end[1] - between[1]) / one.requests,
        database: (between[0] - start[0]) / four.requests,
        server: (between[1] - start[1]) / four.requests,
        perSecond: four.requests / four.seconds,
        alone: one.p50,
      });
    }
  }
}

function report(scenario: (typeof scenarios)[number]['name'], measured: readonly (readonly Measured[])[]): void {
  const [base = []] = measured;
  process.stdout.write(`${scenario}, medians of ${base.length} rounds\n\n`);
  process.stdout.write(
    '| | one client, ms | database, µs | server, µs | four clients, per second | database, µs | server, µs |\n| --- | --: | --: | --: | --: | --: | --: |\n',
  );
  for (const [index, { name, ...variant }] of variants.entries()) {
    const own = measured[index] ?? [];
    const of = (key: keyof Measured): string => {
      const figures = own.map((figure) => figure[key]);
      const change =
        ratio(
          figures,
          base.map((figure) => figure[key]),
        ) - 1;
      const shown = median(figures).toFixed(key === 'alone' ? 2 : 0);
      return index === 0 ? shown : `${shown} (${change < 0 ? '' : '+'}${(100 * change).toFixed(1)} %)`;
    };
    process.stdout.write(
      `| ${[name, of('alone'), of('databaseAlone'), of('serverAlone'), of('perSecond'), of('database'), of('server')].join(' | ')} |\n`,
    );
    if ('most' in variant) verdict(scenario, variant.most[scenario], own, base);
  }
  process.stdout.write('\n');
}

function verdict(
  scenario: string,
  [ofDatabase, ofServer]: readonly [number, number],
  own: readonly Measured[],
  base: readonly Measured[],
): void {
  const added = (key: Exclude<keyof Measured, 'perSecond' | 'alone'>): number =>
    ratio(
      own.map((figure) => figure[key]),
      base.map((figure) => figure[key]),
    ) - 1;
  const told = (name: string, share: number, most: number): string =>
    `${name} ${(100 * share).toFixed(1)} % of at most ${100 * most} %: ${share <= most ? 'reached' : 'missed'}`;
  const line = `claims ${scenario}, one client: ${told('database', added('databaseAlone'), ofDatabase)}; ${told('server', added('serverAlone'), ofServer)}`;
  say(line);
  say(`four clients: ${told('database', added('database'), ofDatabase)}; ${told('server', added('server'), ofServer)}`);
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
