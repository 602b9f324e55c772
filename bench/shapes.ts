/** The bench of shapes: nested reads over small and large targets with few and many rows, before and after ANALYZE. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { compareAnswers } from './compare.ts';
import { drive } from './drive.ts';
import { type Driver, encodeBrackets } from './load.ts';
import { addRounds, type Measured, type MeasuredStage, measureScenario } from './measure.ts';
import type { ReadsOptions } from './reads.ts';
import type { Scenario } from './scenarios.ts';
import { fillShapes, type Sizes, shapesConfig, shapesPermissions } from './shapes-data.ts';
import { isDecided, moments, printShapes, type ShapeResult, shapeResult, takesMore } from './shapes-report.ts';
import { listShapes } from './shapes-scenarios.ts';
import { compileAndStart, serverPid, startHandwritten } from './stage.ts';

/** Options of the command line. */
export interface ShapesOptions extends Omit<ReadsOptions, 'database'> {
  /** Makes the large tables smaller, to see whether the bench works. */
  readonly quick: boolean;
}

/** Questions of each scenario that are compared before it is measured. */
const compared = 2;

/** Seconds that both servers are asked for before the first round: each connection plans anew for its first five requests. */
const warmSeconds = 0.5;

/** Seconds where rows have a thousand links: a server tries its ways in the first runs of such a list, which are long. */
const longWarmSeconds = 2;

/** Where a list is new to the servers, or the first with rows below: code for it is not optimised yet. */
const newList = { warmSeconds: 3, warmAnswers: 8_000 };
/** Before the very first: V8 has optimised what both servers run after some 12,000 answers. */
const firstList = { warmSeconds: 6, warmAnswers: 20_000 };

/** Turns in a round: times of a machine differ more from half second to half second than the servers do. */
const turns = 5;

/** Measurements at most where ours takes more so far, each on new connections. */
const maxMeasurements = 3;

/** Asks from this process, since there are so many rounds that the start of others would take minutes. */
const driveHere: Driver = (url, paths, { connections, seconds }) =>
  drive({ url, lines: paths.map(encodeBrackets), connections, seconds });

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchShapes(options: ShapesOptions): Promise<void> {
  const sizes: Sizes = { '200': 200, '100k': 100_000, '5m': options.quick ? 500_000 : 5_000_000 };
  wantedShapes(sizes, options.only);
  const { stage, close } = await setShapes(sizes);
  try {
    const results: ShapeResult[] = [];
    for (const moment of moments) {
      if (moment === 'after') await withClient(stage.databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
      for await (const result of measureShapes(stage, sizes, moment, options)) {
        results.push(result);
        if (options.json !== undefined) await writeFile(options.json, JSON.stringify({ options, results }, null, 2));
      }
    }
    process.stdout.write(printShapes(results));
  } finally {
    await close();
  }
}

/** Measures the scenarios at one moment: in as many rounds as tell which server takes less. */
export async function* measureShapes(
  stage: MeasuredStage,
  sizes: Sizes,
  moment: ShapeResult['moment'],
  { only, rounds, effort }: Pick<ShapesOptions, 'only' | 'rounds' | 'effort'>,
): AsyncGenerator<ShapeResult> {
  for (const [index, scenario] of wantedShapes(sizes, only).entries()) {
    await compareAnswers(stage.open.url, stage.handwritten.url, scenario.questions.slice(0, compared));
    const isNew = moment === 'before' && /-[03]$/.test(scenario.name);
    const usual = { warmSeconds: scenario.name.endsWith('-1000') ? longWarmSeconds : warmSeconds };
    const warm = index === 0 ? firstList : isNew ? newList : usual;
    const method = {
      drive: driveHere,
      rounds,
      effort,
      turns,
      pgbench: undefined,
      ...warm,
      say: () => {},
    };
    const measure = (earlier?: Measured): Promise<Measured> => {
      const allOf = (rounds: Measured): Measured => (earlier === undefined ? rounds : addRounds(earlier, rounds));
      const enough = (rounds: Measured): boolean => isDecided(shapeResult(moment, allOf(rounds)));
      return measureScenario(stage, scenario, { ...method, enough }).then(allOf);
    };
    let measured = await measure();
    for (let count = 1; takesMore(shapeResult(moment, measured)) && count < maxMeasurements; count++) {
      await closeConnections(stage.databaseUrl);
      measured = await measure(measured);
    }
    const result = shapeResult(moment, measured);
    say(
      `${moment} ANALYZE, ${scenario.name}: ${result.work.toFixed(2)} (${result.works.map((work) => work.toFixed(2)).join(', ')})`,
    );
    yield result;
  }
}

/**
 * Ends the connections of both servers. A process of the database takes some hundredths more or less for its whole life: where
 * its memory ends at a large table of hashes, it gives that back after each statement.
 */
async function closeConnections(url: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    ),
  );
}

/** Scenarios whose names begin as the command line asks. Throws where it names none. */
function wantedShapes(sizes: Sizes, only: readonly string[]): readonly Scenario[] {
  const shapes = listShapes(sizes);
  const wanted = shapes.filter(({ name }) => only.length === 0 || only.some((start) => name.startsWith(start)));
  if (wanted.length === 0)
    throw new RangeError(`No shape begins with ${only.join(' or ')}, but ${shapes[0]?.name} is one.`);
  return wanted;
}

/** Both servers over a database. */
interface ShapesStage {
  readonly stage: MeasuredStage;
  close(): Promise<void>;
}

/** Starts the database, fills it, and starts both servers. */
async function setShapes(sizes: Sizes): Promise<ShapesStage> {
  say('starting PostgreSQL');
  const server = await startPostgres();
  try {
    const { url } = await createDatabaseOn(server.url);
    await fillShapes(url, sizes, say);
    const { stage, close } = await serveShapes(url, sizes);
    return { stage, close: () => close().finally(server.stop) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Starts both servers over a database that is filled. */
export async function serveShapes(url: string, sizes: Sizes): Promise<ShapesStage> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    say('compiling and starting the servers');
    const { folder, remove } = await createProject();
    ends.push(remove);
    await writeFile(join(folder, 'platform.config.ts'), shapesConfig);
    await writeFile(join(folder, 'permissions.yaml'), shapesPermissions(sizes));
    const open = await compileAndStart(folder, url);
    ends.push(open.stop);
    const handwritten = await startHandwritten('handwritten-shapes.ts', url);
    ends.push(handwritten.stop);
    return { stage: { databaseUrl: url, databasePid: await serverPid(url), folder, open, handwritten }, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function say(text: string): void {
  process.stderr.write(`… ${text}\n`);
}
