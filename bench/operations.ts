/** The bench of operation: what metrics, lines of the log and traces add to the processor time of a request. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, runPlatform, variablesOf } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { drive } from './drive.ts';
import type { Effort } from './load.ts';
import { takeOneCore } from './one-core.ts';
import { readProcessorMicros } from './processes.ts';
import { median, percentile, ratio } from './statistics.ts';

/** Options of the command line. */
export interface OperationsOptions {
  readonly rounds: number;
  readonly effort: Effort;
}

const off = { ACCESS_LOG: 'off', SLOW_QUERY: '0', LOG_LEVEL: 'info' };
const metrics = { METRICS_PORT: '0', METRICS_HOST: '127.0.0.1' };
/** Loads the package into the server, and registers no provider. */
const openTelemetry = { NODE_OPTIONS: '--import=@opentelemetry/api' };
const hasOpenTelemetry = existsSync(join(import.meta.dirname, '..', 'node_modules', '@opentelemetry', 'api'));

/**
 * Settings that are measured, each beside a server with everything off, and shares of processor time that they may add: by
 * key, and to a list. The first is the same as that server, and shows how far chance reaches.
 */
const kinds = [
  { name: 'nothing', variables: off, most: null },
  {
    name: 'metrics, request ids, ACCESS_LOG=errors, SLOW_QUERY=500ms',
    variables: { ...off, ...metrics, ACCESS_LOG: 'errors', SLOW_QUERY: '500ms' },
    most: [0.03, 0.01],
  },
  ...(hasOpenTelemetry
    ? [{ name: '@opentelemetry/api without a provider', variables: { ...off, ...openTelemetry }, most: [0.005, 0.005] }]
    : []),
  { name: 'ACCESS_LOG=all', variables: { ...off, ACCESS_LOG: 'all' }, most: [0.12, 0.03] },
];

/** Rounds with the same two processes. Those of the same code differ by some percent from start to start. */
const roundsOfStart = 10;
/** Seconds until V8 has compiled what it will. */
const warmUpSeconds = 4;

const scenarios = [
  { name: 'by key', paths: Array.from({ length: 1_000 }, (_, index) => `/items/docs/${index + 1}`) },
  { name: 'list of 100', paths: Array.from({ length: 10 }, (_, index) => `/items/docs?limit=100&page=${index + 1}`) },
] as const;

const sql = `CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, words integer);
INSERT INTO docs SELECT i, 'Title ' || i, repeat('text ', 20), i % 7 FROM generate_series(1, 1000) AS i`;

const command = join(import.meta.dirname, '..', 'packages', 'cli', 'bin', 'platform.cjs');

/** A server whose log is read and thrown away. */
interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Processor time per request of a server, and of another one with everything off beside it, in microseconds by round. */
interface Compared {
  readonly own: number[];
  readonly base: number[];
}

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchOperations({ rounds, effort }: OperationsOptions): Promise<void> {
  if (!takeOneCore()) say('all processors are used, because taskset or chrt is missing: figures will differ more');
  say('starting PostgreSQL');
  const postgres = await startPostgres();
  const { url } = await createDatabaseOn(postgres.url);
  await withClient(url, async (client) => {
    await client.query(sql);
    await client.query('VACUUM ANALYZE');
  });
  const project = await createProject();
  const compared = kinds.map(() => scenarios.map((): Compared => ({ own: [], base: [] })));
  try {
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
    const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
    if (code !== 0) throw new Error(stderr);
    for (let round = 0; round < rounds; round += roundsOfStart) {
      const count = Math.min(roundsOfStart, rounds - round);
      for (const [index, { name, variables }] of kinds.entries()) {
        say(`${name}: rounds ${round + 1} to ${round + count} of ${rounds}`);
        const start = (own: Variables) => startServer(project.folder, variablesOf(url, { ...always, ...own }));
        await compare([() => start(variables), () => start(off)], compared[index] ?? [], count, effort);
        const last = (compared[index] ?? []).map(({ own, base }) => ratio(own.slice(-count), base.slice(-count)) - 1);
        say(`  ${last.map(percent).join(', ')}`);
      }
    }
  } finally {
    await project.remove();
    await postgres.stop();
  }
  for (const [index, { name }] of scenarios.entries()) {
    report(
      name,
      compared.map((each) => each[index] ?? { own: [], base: [] }),
      index,
    );
  }
}

type Variables = Readonly<Record<string, string>>;

const always = { NODE_ENV: 'production', ADMIN_TOKEN: '', DATABASE_POOL_TIMEOUT: '30s' };

/**
 * Starts a server and the one beside it, and asks them in turns. There are two at a time, because one that rests for some
 * seconds collects its memory, and begins to compile again.
 */
async function compare(
  start: readonly [() => Promise<Server>, () => Promise<Server>],
  compared: readonly Compared[],
  rounds: number,
  effort: Effort,
): Promise<void> {
  const [startOwn, startBase] = start;
  const own = await startOwn();
  const base = await startBase();
  try {
    for (const [index, { paths }] of scenarios.entries()) {
      for (const server of [own, base, own, base])
        await microsOf(server, paths, { ...effort, seconds: warmUpSeconds / 2 });
      for (let round = 0; round < rounds; round++) {
        const pair = [
          [compared[index]?.own, own],
          [compared[index]?.base, base],
        ] as const;
        for (const [micros, server] of round % 2 === 0 ? pair : pair.toReversed()) {
          micros?.push(await microsOf(server, paths, effort));
        }
      }
    }
  } finally {
    await own.stop();
    await base.stop();
  }
}

async function microsOf({ url, pid }: Server, lines: readonly string[], effort: Effort): Promise<number> {
  const before = readProcessorMicros(pid);
  const { requests, errors } = await drive({ url, lines, ...effort });
  if (errors > 0) throw new Error(`${errors} requests failed.`);
  return (readProcessorMicros(pid) - before) / requests;
}

async function startServer(folder: string, env: NodeJS.ProcessEnv): Promise<Server> {
  const child = spawn(process.execPath, [command, 'start', '--json', '--project', folder], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let printed = '';
  const listening = new Promise<string>((resolve) => {
    child.stdout.on('data', function look(chunk: Buffer) {
      printed += chunk.toString();
      const url = /"event":"listening","url":"([^"]*)"/.exec(printed)?.[1];
      if (url === undefined) return;
      child.stdout.off('data', look).resume();
      resolve(url);
    });
  });
  const url = await Promise.race([listening, ended.then(() => null)]);
  if (url === null) throw new Error('The server did not start; its messages are above.');
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

function report(scenario: string, compared: readonly Compared[], index: number): void {
  process.stdout.write(`${scenario}, processor time per request, ${compared[0]?.own.length} rounds\n`);
  for (const [number, { name, most }] of kinds.entries()) {
    const { own = [], base = [] } = compared[number] ?? {};
    const added = ratio(own, base) - 1;
    const times = `${median(base).toFixed(1)} → ${median(own).toFixed(1)} µs`;
    const quiet = `, of the quietest tenth ${percent(percentile(own, 10) / percentile(base, 10) - 1)}`;
    process.stdout.write(
      `  ${name.padEnd(58)} ${times.padStart(18)}  ${percent(added)}${verdict(added, most?.[index])}${quiet}\n`,
    );
  }
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(100 * share).toFixed(1)} %`;
}

function verdict(added: number, target: number | undefined): string {
  if (target === undefined) return ' (noise)';
  return ` (target ${100 * target} %: ${added <= target ? 'reached' : 'missed'})`;
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
