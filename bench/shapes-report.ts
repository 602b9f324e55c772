/** The table of the bench of shapes: a line for each scenario and moment. */
import type { Measured } from './measure.ts';
import { printTable, summarise } from './report.ts';

/** One scenario at one moment. Times are microseconds of processor time per request: of the server, and of the database. */
export interface ShapeResult {
  readonly moment: 'before' | 'after';
  readonly name: string;
  /** Requests per second against the hand-written server, and processor time of that against ours. */
  readonly ratio: number;
  readonly work: number;
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
  return {
    moment,
    name: measured.scenario.name,
    ratio: compiled?.ratio ?? Number.NaN,
    work: (theirs.server + theirs.database) / (ours.server + ours.database),
    perSecond: compiled?.perSecond ?? Number.NaN,
    ours,
    theirs,
    errors: lines.reduce((sum, { errors }) => sum + errors, 0),
  };
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
  const slower = results.filter(({ ratio }) => !(ratio >= 1));
  const verdict =
    slower.length === 0
      ? `✓ none of ${results.length} is slower than hand-written`
      : `✗ ${slower.length} of ${results.length} are slower than hand-written: ${slower.map(({ name, moment }) => `${name} ${moment}`).join(', ')}`;
  return `${printTable([head, ...rows])}\n\n${verdict}\n`;
}
