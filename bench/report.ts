/** From rounds to the table that people read. */
import type { Contestant, Measured, Round } from './measure.ts';
import type { Planning } from './planning.ts';
import { mostGraphqlCost, mostRuleCost } from './scenarios.ts';
import { median, ratio, spread } from './statistics.ts';

/** One contestant's line: medians over the rounds. */
export interface Line {
  readonly contestant: Contestant;
  readonly perSecond: number;
  /** Requests per second against the hand-written server, round by round. */
  readonly ratio: number;
  readonly p50: number;
  readonly p99: number;
  readonly serverMicros: number | undefined;
  readonly databaseMicros: number | undefined;
  readonly residentMb: number | undefined;
  readonly errors: number;
  /** Distance between the slowest and the fastest round, as a share of the median. */
  readonly spread: number;
}

/** Whether something the project sets out to reach was reached. */
export interface Verdict {
  readonly what: string;
  readonly reached: boolean;
}

/** The most microseconds that planning a new shape may take. */
const mostPlanningMicros = 200;

/** The lines of a scenario, in the order of its contestants. */
export function summarise({ contestants }: Measured): readonly Line[] {
  const base = contestants.find(({ name }) => name === 'handwritten')?.rounds ?? [];
  return contestants.map(({ name, rounds }) => ({
    contestant: name,
    perSecond: medianOf(rounds, ({ perSecond }) => perSecond),
    ratio: ratio(speeds(rounds), speeds(base)),
    p50: medianOf(rounds, ({ p50 }) => p50),
    p99: medianOf(rounds, ({ p99 }) => p99),
    serverMicros: knownMedian(rounds, ({ serverMicros }) => serverMicros),
    databaseMicros: knownMedian(rounds, ({ databaseMicros }) => databaseMicros),
    residentMb: knownMedian(rounds, ({ residentMb }) => residentMb),
    errors: rounds.reduce((sum, { errors }) => sum + errors, 0),
    spread: spread(speeds(rounds)),
  }));
}

/** What a scenario says about the targets. */
export function judge(measured: Measured): readonly Verdict[] {
  const { scenario, contestants } = measured;
  const speedsOf = (wanted: Contestant): readonly number[] =>
    speeds(contestants.find(({ name }) => name === wanted)?.rounds ?? []);
  const reached = ratio(speedsOf('compiled'), speedsOf('handwritten'));
  const verdicts: Verdict[] = [
    {
      what: `${scenario.name}: ${times(reached)} hand-written, target ${times(scenario.target)}`,
      reached: reached >= scenario.target,
    },
  ];
  if (speedsOf('compiled, row rule').length > 0) {
    const cost = 1 - ratio(speedsOf('compiled, row rule'), speedsOf('compiled'));
    const what = `${scenario.name}: a row rule costs ${percent(cost)}, target at most ${percent(mostRuleCost)}`;
    verdicts.push({ what, reached: cost <= mostRuleCost });
  }
  if (speedsOf('compiled, REST').length > 0) {
    const cost = 1 - ratio(speedsOf('compiled'), speedsOf('compiled, REST'));
    const what = `${scenario.name}: GraphQL costs ${percent(cost)} of REST, target at most ${percent(mostGraphqlCost)}`;
    verdicts.push({ what, reached: cost <= mostGraphqlCost });
  }
  return verdicts;
}

/** What planning says about its target. */
export function judgePlanning({ newMicros }: Planning): Verdict {
  const what = `planning a new shape: ${newMicros.median.toFixed(0)} µs, target below ${mostPlanningMicros} µs`;
  return { what, reached: newMicros.median < mostPlanningMicros };
}

/** The table of a scenario as text. */
export function printScenario(measured: Measured): string {
  const head = ['', 'req/s', 'ratio', 'p50 ms', 'p99 ms', 'server µs', 'database µs', 'server MB', 'spread', 'errors'];
  const rows = summarise(measured).map((line) => [
    line.contestant,
    Math.round(line.perSecond).toLocaleString('en'),
    line.ratio.toFixed(2),
    line.p50.toFixed(2),
    line.p99.toFixed(2),
    rounded(line.serverMicros),
    rounded(line.databaseMicros),
    rounded(line.residentMb),
    percent(line.spread),
    String(line.errors),
  ]);
  return `${measured.scenario.name}: ${measured.scenario.title}\n${printTable([head, ...rows])}\n`;
}

/** The times and the memory of planning as text. */
export function printPlanning({ shapes, newMicros, knownShapeMicros, knownTextMicros, heap }: Planning): string {
  const lines = [
    `planning, median of ${shapes.toLocaleString('en')} distinct shapes in one process`,
    `  a new shape                     ${newMicros.median.toFixed(1)} µs (p99 ${newMicros.p99.toFixed(0)} µs)`,
    `  a known shape with other values ${knownShapeMicros.toFixed(1)} µs`,
    `  the same text again             ${knownTextMicros.toFixed(1)} µs`,
    `  heap after so many shapes       ${heap.map((mark) => `${mark.shapes}: ${mark.mb.toFixed(0)} MB`).join(', ')}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Verdicts as lines of text. */
export function printVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ what, reached }) => `${reached ? '✓' : '✗'} ${what}\n`).join('');
}

/** Right-aligned columns, the first one left-aligned. */
export function printTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return rows.map((row) => `  ${line(row)}`).join('\n');
}

function speeds(rounds: readonly Round[]): readonly number[] {
  return rounds.map(({ perSecond }) => perSecond);
}

function medianOf(rounds: readonly Round[], of: (round: Round) => number): number {
  return median(rounds.map(of));
}

function knownMedian(rounds: readonly Round[], of: (round: Round) => number | undefined): number | undefined {
  const known = rounds.flatMap((round) => of(round) ?? []);
  return known.length === 0 ? undefined : median(known);
}

function rounded(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(0);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function times(factor: number): string {
  return `${factor.toFixed(2)} ×`;
}
