/**
 * What planning costs: run as a process of its own, `node --expose-gc planning.ts PROJECT_FOLDER`, over a compiled
 * magazine. Prints a `Planning` as one line of JSON.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { CompiledApi } from '@tablewright/runtime';
import { keepPlans } from '../packages/runtime/src/optimize/plan-cache/template.ts';
import { createPlanner, type Planner } from '../packages/runtime/src/query/planner.ts';
import { differentQueryStrings, queryString } from './query-strings.ts';
import { median, percentile } from './statistics.ts';

/** Planning in numbers. */
export interface Planning {
  /** Shapes planned for the times below. */
  readonly shapes: number;
  /** Microseconds from a query string nobody sent before to its statement and parameters. */
  readonly newMicros: { readonly median: number; readonly p99: number };
  /** The same for a known shape with other values. */
  readonly knownShapeMicros: number;
  /** The same for the very same text. */
  readonly knownTextMicros: number;
  /** Heap in megabytes after so many distinct shapes on one planner. */
  readonly heap: readonly { readonly shapes: number; readonly mb: number }[];
}

const shapes = 1_000;
const heapMarks = [0, 1_000, 2_000, 4_000, 8_000, 16_000];
const anonymous = { accessClass: 'public', user: null, role: null };
const articles = { name: 'articles' };

const [folder = ''] = process.argv.slice(2);
const module: { readonly api: CompiledApi } = await import(pathToFileURL(join(folder, 'generated/server.js')).href);
const { api } = module;

// What is measured is planning in a server that has run for a while: the optimising compiler needs some thousand shapes.
const warm = createPlanner(api, keepPlans());
for (let number = 0; number < differentQueryStrings; number++) plan(warm, number, 0);

const planner = createPlanner(api, keepPlans());
plan(planner, differentQueryStrings - 1, 0);
const fresh = measure((number) => plan(planner, number, 0));
const known = measure((number) => plan(planner, number, 1));
const text = measure((number) => plan(planner, number, 1));
const planning: Planning = {
  shapes,
  newMicros: { median: median(fresh), p99: percentile(fresh, 99) },
  knownShapeMicros: median(known),
  knownTextMicros: median(text),
  heap: measureHeap(),
};
process.stdout.write(`${JSON.stringify(planning)}\n`);

function plan(on: Planner, number: number, value: number): void {
  on.list(anonymous, articles, queryString(number, value));
}

/** Microseconds of each of the shapes. */
function measure(one: (number: number) => void): readonly number[] {
  return Array.from({ length: shapes }, (_, number) => {
    const start = performance.now();
    one(number);
    return (performance.now() - start) * 1000;
  });
}

function measureHeap(): Planning['heap'] {
  const filled = createPlanner(api, keepPlans());
  let number = 0;
  return heapMarks.map((mark) => {
    for (; number < mark; number++) plan(filled, number, 0);
    globalThis.gc?.();
    return { shapes: mark, mb: process.memoryUsage().heapUsed / 1e6 };
  });
}
