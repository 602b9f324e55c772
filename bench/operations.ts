/**
 * The bench of operation: what metrics, lines of the log and traces add to the processor time of a request. Each setting is
 * measured in a server beside one with everything off.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, type Platform, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import type { Effort } from './load.ts';
import { takeOneCore } from './one-core.ts';
import { readProcessorMicros } from './processes.ts';
import { median, ratio } from './statistics.ts';
import { Turns } from './turns.ts';

/** Options of the command line. */
export interface OperationsOptions {
  /** Starts of both servers for each setting. */
  readonly starts: number;
  readonly effort: Effort;
}

const off = { ACCESS_LOG: 'off', SLOW_QUERY: '0', LOG_LEVEL: 'info' };
const metrics = { METRICS_PORT: '0', METRICS_HOST: '127.0.0.1' };
/** Loaded before the start, and registers no provider. */
const openTelemetry = '@opentelemetry/api';
const openTelemetryLoaded = { NODE_OPTIONS: `--import ${openTelemetry}` };
const hasOpenTelemetry = existsSync(join(import.meta.dirname, '..', 'node_modules', openTelemetry));

interface Kind {
  readonly name: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Shares of processor time that it may add: by key, and to a list. */
  readonly most: readonly number[] | null;
}

/** Settings that are measured. The first is the same as everything off, and shows how far chance reaches. */
const kinds: readonly Kind[] = [
  { name: 'nothing', variables: off, most: null },
  {
    name: 'metrics, request ids, ACCESS_LOG=errors, SLOW_QUERY=500ms',
    variables: { ...off, ...metrics, ACCESS_LOG: 'errors', SLOW_QUERY: '500ms' },
    most: [0.03, 0.01],
  },
  ...(hasOpenTelemetry
    ? [
        {
          name: `${openTelemetry} without a provider`,
          variables: { ...off, ...openTelemetryLoaded },
          most: [0.005, 0.005],
        },
      ]
    : []),
  { name: 'ACCESS_LOG=all', variables: { ...off, ACCESS_LOG: 'all' }, most: [0.12, 0.03] },
];

/** Pairs of turns by start. Servers of the same code differ by some percent from start to start. */
const pairsOfStart = 120;
/** Turns of each server until V8 has compiled what it will: half a minute of load. */
const warmUpTurns = 1_200;

const scenarios = [
  { name: 'by key', paths: Array.from({ length: 1_000 }, (_, index) => `/items/docs/${index + 1}`) },
  { name: 'list of 100', paths: Array.from({ length: 10 }, (_, index) => `/items/docs?limit=100&page=${index + 1}`) },
] as const;

const sql = `CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, words integer);
INSERT INTO docs SELECT i, 'Title ' || i, repeat('text ', 20), i % 7 FROM generate_series(1, 1000) AS i`;

/** Result of one start of a setting. */
interface Compared {
  /** Share of processor time that was added. */
  readonly added: number;
  /** Microseconds of the processor for a request. */
  readonly micros: number;
  readonly baseMicros: number;
}

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchOperations({ starts, effort }: OperationsOptions): Promise<void> {
  if (!takeOneCore()) say('all processors are used, because taskset or chrt is missing: figures will differ more');
  say('starting PostgreSQL');
  const postgres = await startPostgres();
  const { url } = await createDatabaseOn(postgres.url);
  await withClient(url, async (client) => {
    await client.query(sql);
    await client.query('VACUUM ANALYZE');
  });
  const project = await createProject();
  const compared = new Map<string, Compared[]>();
  try {
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
    const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
    if (code !== 0) throw new Error(stderr);
    for (let start = 1; start <= starts; start++) {
      for (const kind of kinds) {
        const base = await startServer(project.folder, url, off);
        const server = await startServer(project.folder, url, kind.variables);
        for (const { name, paths } of scenarios) {
          const result = await compare(server, base, paths, effort);
          compared.set(`${kind.name}, ${name}`, [...(compared.get(`${kind.name}, ${name}`) ?? []), result]);
          say(`${kind.name}, ${name}, start ${start} of ${starts}: ${percent(result.added)}`);
        }
        await Promise.all([base.stop(), server.stop()]);
      }
    }
  } finally {
    await project.remove();
    await postgres.stop();
  }
  for (const [index, { name }] of scenarios.entries()) {
    process.stdout.write(`${name}, processor time per request, ${starts} starts\n`);
    for (const kind of kinds) report(kind, compared.get(`${kind.name}, ${name}`) ?? [], kind.most?.[index]);
  }
}

/** Asks both servers in turns. */
async function compare(server: Platform, base: Platform, paths: readonly string[], effort: Effort): Promise<Compared> {
  const ms = effort.seconds * 1_000;
  const entrants = [server, base].map(({ pid, url }) => {
    const turns = new Turns(url, paths, effort.connections);
    const micros: number[] = [];
    const measure = async (): Promise<void> => {
      const before = readProcessorMicros(pid);
      const answers = await turns.take(ms);
      micros.push((readProcessorMicros(pid) - before) / answers);
    };
    return { turns, micros, measure };
  });
  for (let turn = 0; turn < warmUpTurns; turn++) for (const { turns } of entrants) await turns.take(ms);
  for (let pair = 0; pair < pairsOfStart; pair++) {
    for (const { measure } of pair % 2 === 0 ? entrants : entrants.toReversed()) await measure();
  }
  for (const { turns } of entrants) turns.close();
  const [micros = [], baseMicros = []] = entrants.map((entrant) => entrant.micros);
  return { added: ratio(micros, baseMicros) - 1, micros: median(micros), baseMicros: median(baseMicros) };
}

/** Starts a server by the command, because lines go another way where a process leads others. */
function startServer(folder: string, url: string, variables: Kind['variables']): Promise<Platform> {
  const always = { NODE_ENV: 'production', ADMIN_TOKEN: '', DATABASE_POOL_TIMEOUT: '30s' };
  return startUnchecked(folder, url, { ...always, ...variables }, []);
}

function report({ name }: Kind, compared: readonly Compared[], target: number | undefined): void {
  const added = mean(compared.map((each) => each.added));
  const from = median(compared.map(({ baseMicros }) => baseMicros)).toFixed(1);
  const to = median(compared.map(({ micros }) => micros)).toFixed(1);
  const verdict =
    target === undefined ? 'chance' : `target ${100 * target} %: ${added <= target ? 'reached' : 'missed'}`;
  const byStart = compared.map((each) => (100 * each.added).toFixed(1)).join(', ');
  process.stdout.write(
    `  ${name.padEnd(58)} ${from} → ${to} µs  ${percent(added)} (${verdict}; by start ${byStart})\n`,
  );
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(100 * share).toFixed(1)} %`;
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
