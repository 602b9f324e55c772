/** The same statements without a server of ours in between: what PostgreSQL itself can do, measured with pgbench. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledApi, Parameter } from '@tablewright/runtime';
import { createPlanner, type PlannedRead } from '../packages/runtime/src/query/planner.ts';
import type { Effort, Load } from './load.ts';
import type { Question } from './scenarios.ts';
import { percentile } from './statistics.ts';

/** The statement of a scenario, and the parameters of each of its questions. */
export interface PlannedScenario {
  readonly text: string;
  readonly parameters: readonly (readonly Parameter[])[];
}

/** Plans the questions of a scenario with a compiled project, as its server does for the public. */
export async function planScenario(folder: string, questions: readonly Question[]): Promise<PlannedScenario> {
  const module: { readonly api: CompiledApi } = await import(pathToFileURL(join(folder, 'generated/server.js')).href);
  const planner = createPlanner(module.api);
  const planned = questions.map(({ compiled }) => {
    const [, name = '', key, query = ''] = /^\/items\/(\w+)(?:\/(\w+))?(?:\?(.*))?$/.exec(compiled) ?? [];
    return plan(name, key, query);
  });
  return { text: planned[0]?.plan.statement.text ?? '', parameters: planned.map(({ parameters }) => parameters) };

  function plan(name: string, key: string | undefined, query: string): PlannedRead {
    const caller = { accessClass: 'public', user: null, role: null };
    return key === undefined ? planner.list(caller, { name }, query) : planner.read(caller, { name }, key, query);
  }
}

/** Finds the binary; undefined where there is none. */
export function findPgbench(): string | undefined {
  if (spawnSync('pgbench', ['--version']).status === 0) return 'pgbench';
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  return versions.map((version) => join(root, version, 'bin', 'pgbench')).find((path) => existsSync(path));
}

/** Runs the statement on as many connections of its own, prepared, its parameters drawn as the questions have them. */
export async function runPgbench(
  binary: string,
  databaseUrl: string,
  planned: PlannedScenario,
  effort: Effort,
): Promise<Load> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-pgbench-'));
  try {
    const scripts = printScripts(planned);
    const files = scripts.map((_, index) => join(folder, `${index}.sql`));
    for (const [index, { text }] of scripts.entries()) await writeFile(files[index] ?? '', text);
    const sizes = [`--client=${effort.connections}`, '--jobs=1', `--time=${effort.seconds}`];
    const defines = scripts.flatMap(({ texts }) => texts.map(([name, value]) => `--define=${name}=${value}`));
    const logs = ['--log', `--log-prefix=${join(folder, 'log')}`, '--sampling-rate=0.05'];
    const options = ['--no-vacuum', '--protocol=prepared', ...sizes, ...defines, ...logs];
    const report = await run(binary, [...options, ...files.map((file) => `--file=${file}`)], databaseUrl);
    return readReport(report, await readLatencies(folder), effort.seconds);
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Script {
  readonly text: string;
  /** Variables whose value is text, which only the command line can give. */
  readonly texts: readonly (readonly [name: string, value: string])[];
}

/** Scripts that pgbench takes at most. */
const maxScripts = 128;

/** One script that draws its numbers, or one for each question where texts differ: pgbench draws numbers and scripts. */
function printScripts({ text, parameters }: PlannedScenario): readonly Script[] {
  const differ = (parameters[0] ?? []).map((first, index) => parameters.some((each) => each[index] !== first));
  const areNumbers = parameters.every((each) => each.every((value, index) => !differ[index] || isNumber(value)));
  const questions = areNumbers ? parameters.slice(0, 1) : parameters.slice(0, maxScripts);
  return questions.map((values, question) => {
    const texts: [string, string][] = [];
    const draws: string[] = [];
    for (const [index, value] of values.entries()) {
      const name = `q${question}_${index + 1}`;
      const numbers = parameters.map((each) => Number(each[index]));
      if (areNumbers && differ[index]) draws.push(`\\set ${name} ${random(numbers)}\n`);
      else texts.push([name, value ?? '']);
    }
    return { text: `${draws.join('')}${text.replace(/\$(\d+)/g, `:q${question}_$1`)};\n`, texts };
  });
}

function isNumber(value: Parameter | undefined): boolean {
  return value != null && value !== '' && Number.isInteger(Number(value));
}

/** Draws between the smallest and the largest number. */
function random(numbers: readonly number[]): string {
  return `random(${Math.min(...numbers)}, ${Math.max(...numbers)})`;
}

async function run(binary: string, args: readonly string[], databaseUrl: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const child = spawn(binary, args, {
    env: {
      ...process.env,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: pathname.slice(1),
      // As in a session of the compiled server.
      PGOPTIONS: '-c plan_cache_mode=force_generic_plan -c jit=off -c random_page_cost=1.04',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`pgbench ended with exit code ${code}:\n${complaints}`);
  return output;
}

/** The rate leaves out the time it took to connect; where that took all of it, there is none. */
function readReport(report: string, latencies: readonly number[], seconds: number): Load {
  const number = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? 0);
  const requests = number(/transactions actually processed: (\d+)/);
  const rate = number(/tps = ([\d.]+)/);
  return {
    requests,
    errors: number(/failed transactions: (\d+)/),
    seconds: rate > 0 ? requests / rate : seconds,
    p50: percentile(latencies, 50),
    p99: percentile(latencies, 99),
  };
}

/** The third column of the log of transactions, in milliseconds. */
async function readLatencies(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder);
  const logs = names.filter((name) => name.startsWith('log.'));
  const texts = await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8')));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  return lines.map((line) => Number(line.split(' ')[2]) / 1000);
}
