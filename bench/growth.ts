/**
 * `npm run bench -- growth`: how cost grows with rows, depth, roles, collections and connections. It writes a plot of each
 * into docs/growth, in multiples of the first value, so that a figure says nothing of the machine.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { adminToken, createProject, type Platform, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { permissionsOf, schemaOf } from './compile-schema.ts';
import { type Plot, type PlotLine, printPlot } from './growth-plot.ts';
import { driveOwn } from './load.ts';
import { readConsumption } from './processes.ts';
import { serverPid } from './stage.ts';
import { median } from './statistics.ts';

/** Options of the command line. */
export interface GrowthOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Names of subjects; empty for all. */
  readonly only: readonly string[];
}

const rowCounts = [10, 100, 1_000, 10_000, 100_000];
const depths = [1, 2, 3, 4, 5, 6, 7, 8];
const roleCounts = [1, 10, 100, 1_000];
const collectionCounts = [10, 100, 500, 2_000];
const connectionCounts = [1, 4, 16, 64, 256, 512];

const environment = { NODE_ENV: 'production', DATABASE_POOL_TIMEOUT: '30s' };

const folder = join(import.meta.dirname, '..', 'docs', 'growth');

/** Values of one subject at one size, by the name of the line that they stand on. */
type Sample = Readonly<Record<string, number>>;

/** What is measured: how a sample is taken at each size. */
interface Subject {
  readonly name: string;
  readonly title: string;
  readonly across: string;
  readonly sizes: readonly number[];
  sample(size: number): Promise<Sample>;
}

/** Measures all subjects, writes the plots, and prints the figures. */
export async function benchGrowth({ rounds, seconds, only }: GrowthOptions): Promise<void> {
  const postgres = await startPostgres();
  try {
    const served = await serveTree(postgres.url);
    try {
      const effort = { rounds, seconds };
      const subjects = [...servedSubjects(served, effort), ...compiledSubjects(postgres.url, effort)];
      await mkdir(folder, { recursive: true });
      for (const subject of subjects.filter(({ name }) => only.length === 0 || only.includes(name))) {
        const plot = await measure(subject);
        await writeFile(join(folder, `${subject.name}.svg`), printPlot(plot));
        process.stdout.write(`${printFigures(plot)}\n`);
      }
    } finally {
      await served.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function measure({ title, across, sizes, sample }: Subject): Promise<Plot> {
  const samples: { readonly size: number; readonly values: Sample }[] = [];
  for (const size of sizes) {
    say(`${across}: ${size}`);
    samples.push({ size, values: await sample(size) });
  }
  const labels = Object.keys(samples[0]?.values ?? {});
  const lines = labels.map((label): PlotLine => {
    const base = samples[0]?.values[label] ?? Number.NaN;
    return { label, points: samples.map(({ size, values }) => ({ x: size, y: (values[label] ?? Number.NaN) / base })) };
  });
  return { title, across, lines };
}

/** The figures as a table of Markdown. */
function printFigures({ title, across, lines }: Plot): string {
  const sizes = lines[0]?.points.map(({ x }) => x.toLocaleString('en')) ?? [];
  const rows = lines.map(({ label, points }) => [label, ...points.map(({ y }) => y.toPrecision(3))]);
  const table = [[across, ...sizes], ['---', ...sizes.map(() => '--:')], ...rows];
  return `${title}\n\n${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}

interface Effort {
  readonly rounds: number;
  readonly seconds: number;
}

/** A server, and the first process of its database. */
interface Served {
  readonly server: Platform;
  readonly databasePid: number | undefined;
  close(): Promise<void>;
}

/** Nodes that have two children each, eight levels deep, and a table of as many rows as are read at most. */
const treeSql = `
  CREATE TABLE nodes (id integer PRIMARY KEY, parent_id integer REFERENCES nodes, title text NOT NULL);
  INSERT INTO nodes SELECT n, CASE WHEN n > 1 THEN n / 2 END, 'Node ' || n FROM generate_series(1, 1023) n;
  CREATE INDEX ON nodes (parent_id, id);
  CREATE TABLE items (id integer PRIMARY KEY, title text NOT NULL, amount numeric(12,2), happened_at timestamptz NOT NULL);
  INSERT INTO items SELECT n, 'Item ' || n, n / 100.0, '2026-01-01'::timestamptz + n * interval '1 minute'
    FROM generate_series(1, 100000) n;`;

async function serveTree(serverUrl: string): Promise<Served> {
  const { url } = await createDatabaseOn(serverUrl, treeSql);
  await withClient(url, (client) => client.query('VACUUM (ANALYZE)'));
  const project = await createProject();
  const permissions = 'permissions: { public: { nodes: { read: true }, items: { read: true } } }\n';
  await writeFile(join(project.folder, 'permissions.yaml'), permissions);
  const server = await startUnchecked(project.folder, url, environment);
  const close = async (): Promise<void> => {
    await server.stop();
    await project.remove();
  };
  return { server, databasePid: await serverPid(url), close };
}

function servedSubjects(served: Served, effort: Effort): readonly Subject[] {
  const chain = (relation: string, depth: number): string => `${`${relation}.`.repeat(depth)}id`;
  return [
    {
      name: 'rows',
      title: 'One list of so many rows',
      across: 'rows',
      sizes: rowCounts,
      async sample(size) {
        const { micros, megabytes } = await ask(served, [`/items/items?sort=id&limit=${size}`], effort, 1);
        return { 'processor time': micros, 'memory of the server': megabytes };
      },
    },
    {
      name: 'depth',
      title: 'Items within items',
      across: 'levels of relations',
      sizes: depths,
      async sample(size) {
        const toOne = [`/items/nodes/1023?fields=${chain('parent_id', size)}`];
        const toMany = [`/items/nodes/1?fields=${chain('nodes', size)}&deep=${JSON.stringify(childrenBelow(size))}`];
        const items = 2 ** (size + 1) - 1;
        return {
          'to-one: processor time': (await ask(served, toOne, effort)).micros,
          'to-many: time of an item': (await ask(served, toMany, effort)).micros / items,
        };
      },
    },
    {
      name: 'connections',
      title: 'Clients that ask for an item at once',
      across: 'connections',
      sizes: connectionCounts,
      async sample(size) {
        const paths = Array.from({ length: 1_000 }, (_, index) => `/items/items/${index + 1}`);
        const { micros, perSecond, megabytes } = await ask(served, paths, effort, size);
        return { 'requests per second': perSecond, 'processor time': micros, 'memory of the server': megabytes };
      },
    },
  ];
}

/** Limits of so many levels: a node has two children, which the cost of a query cannot know. */
function childrenBelow(depth: number): object {
  return { nodes: { _limit: 2, ...(depth > 1 ? childrenBelow(depth - 1) : {}) } };
}

function compiledSubjects(serverUrl: string, effort: Effort): readonly Subject[] {
  return [
    {
      name: 'roles',
      title: 'Roles, of at most 20 classes of access to 100 tables',
      across: 'roles',
      sizes: roleCounts,
      sample: (size) => compile(serverUrl, 100, permissionsOf(size, Math.min(size, 20), 100), effort),
    },
    {
      name: 'collections',
      title: 'Tables of twelve columns',
      across: 'collections',
      sizes: collectionCounts,
      sample: (size) => compile(serverUrl, size, 'permissions: {}\n', effort),
    },
  ];
}

/** Compiles and starts a server of so many tables, and asks it for an item. */
async function compile(serverUrl: string, tables: number, permissions: string, effort: Effort): Promise<Sample> {
  const database = await createDatabaseOn(serverUrl);
  const project = await createProject();
  try {
    await withClient(database.url, async (client) => {
      for (const statement of schemaOf(tables).split(/(?=CREATE TABLE)/)) await client.query(statement);
      await client.query('INSERT INTO table_000 (title) SELECT n::text FROM generate_series(1, 100) n');
    });
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    const generated = await timed(async () => {
      const { code, stderr } = await runPlatform(['generate', '--project', project.folder], {
        DATABASE_URL: database.url,
      });
      if (code !== 0) throw new Error(stderr);
    });
    const started = await timed(() => startUnchecked(project.folder, database.url, environment, []));
    const server = started.value;
    try {
      const served = { server, databasePid: await serverPid(database.url) };
      const paths = Array.from({ length: 100 }, (_, index) => `/items/table_000/${index + 1}`);
      const { micros, megabytes } = await ask(served, paths, effort);
      return {
        'platform generate': generated.ms,
        'platform start': started.ms,
        'memory of the server': megabytes,
        'processor time of a request': micros,
      };
    } finally {
      await server.stop();
    }
  } finally {
    await project.remove();
    await database.drop();
  }
}

interface Answered {
  /** Processor time of server and database for each request. */
  readonly micros: number;
  readonly perSecond: number;
  /** Resident memory of the server afterwards. */
  readonly megabytes: number;
}

/** Asks for paths as an administrator, in rounds of which the middle one counts. */
async function ask(
  { server, databasePid }: Pick<Served, 'server' | 'databasePid'>,
  paths: readonly string[],
  { rounds, seconds }: Effort,
  connections = 2,
): Promise<Answered> {
  const effort = { connections, seconds, header: `Authorization: Bearer ${adminToken}` };
  const spent = (): number =>
    [server.pid, databasePid].reduce<number>(
      (sum, pid) => sum + (pid === undefined ? 0 : (readConsumption(pid)?.cpuMicros ?? 0)),
      0,
    );
  await driveOwn(server.url, paths, effort);
  const taken: { readonly micros: number; readonly perSecond: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = spent();
    const load = await driveOwn(server.url, paths, effort);
    if (load.errors > 0) throw new Error(`${load.errors} requests failed, such as ${paths[0]}.`);
    taken.push({ micros: (spent() - before) / load.requests, perSecond: load.requests / load.seconds });
  }
  return {
    micros: median(taken.map(({ micros }) => micros)),
    perSecond: median(taken.map(({ perSecond }) => perSecond)),
    megabytes: readConsumption(server.pid)?.residentMb ?? Number.NaN,
  };
}

async function timed<Value>(work: () => Promise<Value>): Promise<{ readonly value: Value; readonly ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
