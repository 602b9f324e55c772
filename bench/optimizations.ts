/** The bench of optimisations: what each saves, as the processor time that requests take without it. */
import { optimizations } from '../packages/runtime/src/environment/optimizations.ts';
import { startUnchecked } from '../test/support/platform.ts';
import { listGraphql } from './graphql-scenarios.ts';
import { driveOwn, type Effort } from './load.ts';
import { readConsumption } from './processes.ts';
import { listScenarios, type Scenario } from './scenarios.ts';
import { type Served, type Stage, setStage } from './stage.ts';
import { ratio } from './statistics.ts';
import { listWrites } from './write-scenarios.ts';

/** Options of the command line. */
export interface OptimizationsOptions {
  readonly rounds: number;
  readonly effort: Effort;
  /** Names of scenarios; empty for all. */
  readonly only: readonly string[];
}

/** `direct-rows` is for MySQL and MariaDB. */
const measured = optimizations.filter((name) => name !== 'direct-rows');
const variants: readonly (readonly [name: string, setting: string])[] = [
  ['all', 'all'],
  ...measured.map((name) => [name, measured.filter((other) => other !== name).join()] as const),
  ['none', 'none'],
];

/** All servers are connected at the same time, and PostgreSQL takes a hundred connections. */
const poolMax = '6';

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchOptimizations({ rounds, effort, only }: OptimizationsOptions): Promise<void> {
  const stage = await setStage(say);
  const servers: (Served & { stop(): Promise<unknown> })[] = [];
  try {
    for (const [, setting] of variants) {
      const environment = { NODE_ENV: 'production', DATABASE_POOL_MAX: poolMax, PLATFORM_OPTIMIZE: setting };
      servers.push(await startUnchecked(stage.folder, stage.databaseUrl, environment, []));
    }
    const all = [...listScenarios(stage.keys, 'postgres'), ...listWrites(stage.keys), ...listGraphql(stage.keys)];
    const scenarios = all.filter(({ name }) => only.length === 0 || only.includes(name));
    process.stdout.write('Processor time of server and database without an optimisation, against all of them\n\n');
    process.stdout.write(row(['scenario', ...variants.slice(1).map(([name]) => name)]));
    process.stdout.write(row(['---', ...variants.slice(1).map(() => '--:')]));
    for (const scenario of scenarios) {
      const [base = [], ...others] = await measure(stage, servers, scenario, rounds, effort);
      process.stdout.write(row([scenario.name, ...others.map((micros) => percent(ratio(micros, base) - 1))]));
    }
  } finally {
    for (const server of servers) await server.stop();
    await stage.close();
  }
}

/** Microseconds per request: by server, then by round. Every round begins with another server. */
async function measure(
  { databasePid = 0 }: Stage,
  servers: readonly Served[],
  { name, questions }: Scenario,
  rounds: number,
  effort: Effort,
): Promise<readonly (readonly number[])[]> {
  const lines = questions.map(({ compiled }) => compiled);
  const micros = servers.map((): number[] => []);
  const order = [...servers.entries()];
  const timeOf = (pid: number): number =>
    (readConsumption(pid)?.cpuMicros ?? 0) + (readConsumption(databasePid)?.cpuMicros ?? 0);
  for (let round = -1; round < rounds; round++) {
    say(`${name}, ${round < 0 ? 'warming up' : `round ${round + 1} of ${rounds}`}`);
    const first = Math.max(round, 0) % order.length;
    for (const [index, { url, pid }] of [...order.slice(first), ...order.slice(0, first)]) {
      const before = timeOf(pid);
      const { requests, errors } = await driveOwn(url, lines, effort);
      if (errors > 0) throw new Error(`${errors} requests of ${name} failed.`);
      if (round >= 0) micros[index]?.push((timeOf(pid) - before) / requests);
    }
  }
  return micros;
}

function percent(share: number): string {
  return `${share < 0 ? '' : '+'}${(100 * share).toFixed(0)} %`;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
