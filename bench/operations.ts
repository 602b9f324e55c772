/** The bench of operation: what metrics, lines of the log and traces add to the processor time of a request. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject, runPlatform, variablesOf } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { driveOwn, type Effort } from './load.ts';
import { readProcessorMicros } from './processes.ts';
import { median, ratio } from './statistics.ts';

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

/** Settings that are measured, and shares of processor time that they may add: by key, and to a list. The first is the base. */
const kinds = [
  { name: 'nothing', variables: off, most: [0, 0] },
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

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchOperations({ rounds, effort }: OperationsOptions): Promise<void> {
  say('starting PostgreSQL and the servers');
  const postgres = await startPostgres();
  const { url } = await createDatabaseOn(postgres.url);
  await withClient(url, async (client) => {
    await client.query(sql);
    await client.query('VACUUM ANALYZE');
  });
  const project = await createProject();
  const servers: Server[] = [];
  try {
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: { public: { docs: { read: true } } }\n');
    const { code, stderr } = await runPlatform(['generate', '--project', project.folder], { DATABASE_URL: url });
    if (code !== 0) throw new Error(stderr);
    for (const { variables } of kinds) {
      const environment = { NODE_ENV: 'production', ADMIN_TOKEN: '', DATABASE_POOL_TIMEOUT: '30s', ...variables };
      servers.push(await startServer(project.folder, variablesOf(url, environment)));
    }
    for (const [index, { name, paths }] of scenarios.entries()) {
      report(name, index, await measure(servers, paths, rounds, effort));
    }
  } finally {
    for (const server of servers) await server.stop();
    await project.remove();
    await postgres.stop();
  }
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

/** Microseconds of processor time per request: by server, then by round. Every round begins with another server. */
async function measure(
  servers: readonly Server[],
  paths: readonly string[],
  rounds: number,
  effort: Effort,
): Promise<readonly (readonly number[])[]> {
  const micros = servers.map((): number[] => []);
  const order = [...servers.entries()];
  for (const [, { url }] of order) await driveOwn(url, paths, { ...effort, seconds: 2 });
  for (let round = 0; round < rounds; round++) {
    say(`round ${round + 1} of ${rounds}`);
    const turned = [...order.slice(round % order.length), ...order.slice(0, round % order.length)];
    for (const [index, { url, pid }] of round % 2 === 0 ? turned : turned.toReversed()) {
      const before = readProcessorMicros(pid);
      const { requests, errors } = await driveOwn(url, paths, effort);
      if (errors > 0) throw new Error(`${errors} requests failed.`);
      micros[index]?.push((readProcessorMicros(pid) - before) / requests);
    }
  }
  return micros;
}

function report(scenario: string, index: number, micros: readonly (readonly number[])[]): void {
  const [base = []] = micros;
  process.stdout.write(`${scenario}, processor time per request, medians of ${base.length} rounds\n`);
  for (const [number, { name, most }] of kinds.entries()) {
    const own = micros[number] ?? [];
    const added = ratio(own, base) - 1;
    const target = most[index] ?? 0;
    const sign = added < 0 ? '' : '+';
    const verdict = `${sign}${(100 * added).toFixed(1)} % (target ${100 * target} %: ${added <= target ? 'reached' : 'missed'})`;
    const line = `  ${name.padEnd(58)} ${median(own).toFixed(1).padStart(7)} µs`;
    process.stdout.write(`${line}${number === 0 ? '' : `  ${verdict}`}\n`);
  }
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
