/** The bench of GraphQL: documents against a server written by hand with mercurius, and against the same over REST. */
import { writeFile } from 'node:fs/promises';
import { compareDocuments } from './compare.ts';
import { listGraphql } from './graphql-scenarios.ts';
import { chooseDriver } from './load.ts';
import { type Measured, measureScenario } from './measure.ts';
import type { ReadsOptions } from './reads.ts';
import { judge, printScenario, printVerdicts, summarise } from './report.ts';
import { setStage } from './stage.ts';

/** Questions of each scenario whose answers are compared before it is measured. */
const compared = 20;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchGraphql({ rounds, effort, only, json }: ReadsOptions): Promise<void> {
  const say = (note: string): void => void process.stderr.write(`… ${note}\n`);
  const stage = await setStage(say, 'mercurius/handwritten-graphql.ts');
  try {
    const scenarios = listGraphql(stage.keys).filter(({ name }) => only.length === 0 || only.includes(name));
    for (const { questions } of scenarios) {
      await compareDocuments(stage.open.url, stage.handwritten.url, questions.slice(0, compared));
    }
    say('both servers give the same answers, and REST the same data');
    const measured: Measured[] = [];
    for (const scenario of scenarios) {
      const method = { drive: chooseDriver().drive, rounds, effort, pgbench: undefined, say };
      const result = await measureScenario(stage, scenario, method);
      measured.push(result);
      process.stdout.write(`${printScenario(result)}\n`);
    }
    const verdicts = measured.flatMap(judge);
    process.stdout.write(printVerdicts(verdicts));
    if (json !== undefined) {
      const summary = measured.map((one) => ({ ...one, lines: summarise(one) }));
      await writeFile(json, JSON.stringify({ scenarios: summary, verdicts }, null, 2));
    }
  } finally {
    await stage.close();
  }
}
