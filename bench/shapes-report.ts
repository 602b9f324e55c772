/** The table of the bench of shapes: a line for each scenario and moment. */
import type { Contestant, Measured } from './measure.ts';
import { printTable, summarise } from './report.ts';
import { fanOuts } from './shapes-data.ts';
import { median, ratios } from './statistics.ts';

/** Before and after ANALYZE. */
export const moments = ['before', 'after'] as const;

/** One scenario at one moment. Times are microseconds of processor time per request: of the server, and of the database. */
export interface ShapeResult {
  readonly moment: (typeof moments)[number];
  readonly name: string;
  /** Requests per second against the hand-written server. */
  readonly ratio: number;
  /** Processor time of the hand-written server and its database against ours: the median, and that of each round. */
  readonly work: number;
  readonly works: readonly number[];
  readonly perSecond: number;
  readonly ours: Times;
  readonly theirs: Times;
  readonly errors: number;
}

interface Times {
  readonly server: number;
  readonly database: number;
}

/** Makes a line of what was measured. */
export function shapeResult(moment: ShapeResult['moment'], measured: Measured): ShapeResult {
  const lines = summarise(measured);
  const times = (contestant: string): Times => {
    const line = lines.find((candidate) => candidate.contestant === contestant);
    return { server: line?.serverMicros ?? Number.NaN, database: line?.databaseMicros ?? Number.NaN };
  };
  const [compiled] = lines;
  const [ours, theirs] = [times('compiled'), times('handwritten')];
  const works = ratios(worksOf(measured, 'handwritten'), worksOf(measured, 'compiled'));
  return {
    moment,
    name: measured.scenario.name,
    ratio: compiled?.ratio ?? Number.NaN,
    work: median(works),
    works,
    perSecond: compiled?.perSecond ?? Number.NaN,
    ours,
    theirs,
    errors: lines.reduce((sum, { errors }) => sum + errors, 0),
  };
}

/** Processor time of a contestant for one request, round by round. */
function worksOf({ contestants }: Measured, contestant: Contestant): readonly number[] {
  const rounds = contestants.find(({ name }) => name === contestant)?.rounds ?? [];
  return rounds.map(
    ({ serverMicros, databaseMicros }) => (serverMicros ?? Number.NaN) + (databaseMicros ?? Number.NaN),
  );
}

/**
 * True if the rounds so far tell which server takes less: a clear difference needs fewer than a small one. From five on the
 * least and the greatest are left out, which other work on the machine may have made.
 */
function isClear({ works, work }: ShapeResult): boolean {
  if (works.length < 2) return false;
  const sorted = works.toSorted((left, right) => left - right);
  const kept = works.length < 5 ? sorted : sorted.slice(1, -1);
  const distance = (kept.at(-1) ?? 0) - (kept[0] ?? 0);
  return distance < Math.abs(work - 1) / 2 || (works.length > 2 && distance < 0.05);
}

/** True if the rounds so far will do: those of a clear gain. */
export function isDecided(result: ShapeResult): boolean {
  return !takesMore(result) && isClear(result);
}

/** True if ours takes more processor time; a half of a hundredth is nothing. */
export function takesMore({ work }: ShapeResult): boolean {
  return !(work >= 0.995);
}

/** The table for README.md: kinds of lists with so many rows below each parent, before and after ANALYZE. */
function printMatrix(results: readonly ShapeResult[]): string {
  const forms = [...new Set(results.map(({ name }) => name.replace(/-\d+$/, '')))];
  const columns = moments.flatMap((moment) => fanOuts.map((fanOut) => ({ moment, fanOut })));
  const head = columns.map(({ moment, fanOut }, index) => {
    const count = fanOut.toLocaleString('en');
    return index % fanOuts.length === 0 ? `${count}, ${moment}` : count;
  });
  const cell = (form: string, { moment, fanOut }: (typeof columns)[number]): string => {
    const result = results.find((candidate) => candidate.moment === moment && candidate.name === `${form}-${fanOut}`);
    if (result === undefined || Number.isNaN(result.work)) return '–';
    const digits = result.work >= 100 ? 0 : result.work >= 10 ? 1 : 2;
    return takesMore(result) ? `**${result.work.toFixed(digits)}**` : result.work.toFixed(digits);
  };
  const lines = forms.map((form) => [`\`${form}\``, ...columns.map((column) => cell(form, column))]);
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = ['---', ...columns.map(() => '--:')];
  return [['scenario', ...head], rule, ...lines].map(row).join('\n');
}

/** The table, and what it comes to. */
export function printShapes(results: readonly ShapeResult[]): string {
  const head = [
    '',
    'ANALYZE',
    'req/s',
    'ratio',
    'work',
    'server µs',
    'database µs',
    'by hand: server',
    'database',
    'errors',
  ];
  const rows = results.map(({ moment, name, ratio, work, perSecond, ours, theirs, errors }) => [
    name,
    moment,
    perSecond.toFixed(0),
    ratio.toFixed(2),
    work.toFixed(2),
    ...[ours.server, ours.database, theirs.server, theirs.database].map((micros) => micros.toFixed(0)),
    String(errors),
  ]);
  const slower = results.filter(takesMore);
  const verdict =
    slower.length === 0
      ? `✓ none of ${results.length} takes more processor time than hand-written`
      : `✗ ${slower.length} of ${results.length} take more processor time than hand-written: ${slower.map(({ name, moment, work }) => `${name} ${moment} ${work.toFixed(2)}`).join(', ')}`;
  return `${printTable([head, ...rows])}\n\n${printMatrix(results)}\n\n${verdict}\n`;
}
