/** The bench of reads, from an empty machine to the table. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compareAnswers } from './compare.ts';
import { listFilters } from './filter-scenarios.ts';
import { chooseDriver, type Effort } from './load.ts';
import { type Measured, measureScenario } from './measure.ts';
import { setMysqlStage } from './mysql-stage.ts';
import { findPgbench } from './pgbench.ts';
import type { Planning } from './planning.ts';
import { measurable } from './processes.ts';
import { judge, judgePlanning, printPlanning, printScenario, printVerdicts, summarise } from './report.ts';
import { listScenarios, type MeasuredDatabase, type Scenario } from './scenarios.ts';
import { factor, type Stage, setStage } from './stage.ts';

/** Options of the command line. */
export interface ReadsOptions {
  readonly rounds: number;
  readonly effort: Effort;
  /** Names of scenarios, or `planning`; empty for all. */
  readonly only: readonly string[];
  /** File that takes the results as JSON. */
  readonly json?: string;
  /** The server that is measured. */
  readonly database: MeasuredDatabase;
}

/** Questions of each scenario that are compared before it is measured. */
const compared = 20;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchReads(options: ReadsOptions): Promise<void> {
  const { database } = options;
  const onPostgres = database === 'postgres';
  const stage = await (onPostgres ? setStage(say) : setMysqlStage(database, say));
  try {
    const filters = stage.filterValues === undefined ? [] : listFilters(stage.filterValues);
    const scenarios = wanted([...listScenarios(stage.keys, options.database), ...filters], options.only);
    for (const { questions, ruled } of scenarios) {
      const some = questions.slice(0, compared);
      await compareAnswers(stage.open.url, stage.handwritten.url, some);
      if (ruled) await compareAnswers(stage.ruled.url, stage.handwritten.url, some);
    }
    say('both servers give the same answers');
    const { name, drive } = chooseDriver();
    const pgbench = onPostgres ? findPgbench() : undefined;
    const machine = describeMachine(stage, name);
    process.stdout.write(`${machine.join('\n')}\n\n`);
    if (pgbench === undefined && onPostgres)
      process.stdout.write('pgbench skipped: it is neither in PATH nor in /usr/lib/postgresql\n\n');
    const measured: Measured[] = [];
    for (const scenario of scenarios) {
      const result = await measureScenario(stage, scenario, { drive, ...options, pgbench, say });
      measured.push(result);
      process.stdout.write(`${printScenario(result)}\n`);
    }
    // Plans are made alike for every server.
    const planning = isWanted('planning', options.only) && onPostgres ? await measurePlanning(stage) : undefined;
    if (planning !== undefined) process.stdout.write(`${printPlanning(planning)}\n`);
    const verdicts = [...measured.flatMap(judge), ...(planning === undefined ? [] : [judgePlanning(planning)])];
    process.stdout.write(printVerdicts(verdicts));
    if (options.json !== undefined) {
      const summary = measured.map((one) => ({ ...one, lines: summarise(one) }));
      await writeFile(
        options.json,
        JSON.stringify({ machine, options, scenarios: summary, planning, verdicts }, null, 2),
      );
    }
  } finally {
    await stage.close();
  }
}

function isWanted(name: string, only: readonly string[]): boolean {
  return only.length === 0 || only.includes(name);
}

function wanted(scenarios: readonly Scenario[], only: readonly string[]): readonly Scenario[] {
  const names = [...scenarios.map(({ name }) => name), 'planning'];
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new RangeError(`There is no scenario "${unknown}", only ${names.join(', ')}.`);
  return scenarios.filter(({ name }) => isWanted(name, only));
}

function describeMachine({ server }: Stage, driver: string): readonly string[] {
  const processor = cpus()[0]?.model ?? 'an unknown processor';
  return [
    `Node ${process.versions.node}, ${server}, ${availableParallelism()} cores of ${processor}`,
    `magazine at factor ${factor}; load by ${driver}; every figure is a median over the rounds`,
    ...(measurable ? [] : ['processor time and memory are not shown: there is no /proc here']),
  ];
}

async function measurePlanning(stage: Stage): Promise<Planning> {
  say('planning');
  const script = join(import.meta.dirname, 'planning.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, stage.folder]);
  const planning: Planning = JSON.parse(stdout);
  return planning;
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
