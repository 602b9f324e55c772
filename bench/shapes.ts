/** The bench of shapes: nested reads over small and large targets with few and many rows, before and after ANALYZE. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createProject } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres, withClient } from '../test/support/postgres.ts';
import { compareAnswers } from './compare.ts';
import { chooseDriver } from './load.ts';
import { type Measured, type MeasuredStage, measureScenario } from './measure.ts';
import type { ReadsOptions } from './reads.ts';
import { fillShapes, type Sizes, shapesConfig, shapesPermissions } from './shapes-data.ts';
import { printShapes, type ShapeResult, shapeResult } from './shapes-report.ts';
import { listShapes } from './shapes-scenarios.ts';
import { compileAndStart, serverPid, startHandwritten } from './stage.ts';

/** What the command line says. */
export interface ShapesOptions extends Omit<ReadsOptions, 'database'> {
  /** Makes the large tables smaller, to see whether the bench works. */
  readonly quick: boolean;
}

const moments = ['before', 'after'] as const;

/** Questions of each scenario that are compared before it is measured. */
const compared = 2;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchShapes(options: ShapesOptions): Promise<void> {
  const sizes: Sizes = { '200': 200, '100k': 100_000, '5m': options.quick ? 500_000 : 5_000_000 };
  const scenarios = listShapes(sizes).filter(
    ({ name }) => options.only.length === 0 || options.only.some((start) => name.startsWith(start)),
  );
  const { stage, close } = await setShapes(sizes);
  try {
    const results: ShapeResult[] = [];
    for (const moment of moments) {
      if (moment === 'after') await withClient(stage.databaseUrl, (client) => client.query('VACUUM (ANALYZE)'));
      for (const scenario of scenarios) {
        await compareAnswers(stage.open.url, stage.handwritten.url, scenario.questions.slice(0, compared));
        const method = { drive: chooseDriver().drive, ...options, pgbench: undefined, warmSeconds: 1, say: () => {} };
        const measured: Measured = await measureScenario(stage, scenario, method);
        const result = shapeResult(moment, measured);
        results.push(result);
        say(`${moment} ANALYZE, ${scenario.name}: ${result.ratio.toFixed(2)}`);
        if (options.json !== undefined) await writeFile(options.json, JSON.stringify({ options, results }, null, 2));
      }
    }
    process.stdout.write(printShapes(results));
  } finally {
    await close();
  }
}

/** Starts the database, fills it, and starts both servers. */
async function setShapes(sizes: Sizes): Promise<{ readonly stage: MeasuredStage; close(): Promise<void> }> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    say('starting PostgreSQL');
    const server = await startPostgres();
    ends.push(server.stop);
    const { url } = await createDatabaseOn(server.url);
    await fillShapes(url, sizes, say);
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
