/** The bench of writes: the same rounds as those of reads, with bodies. Nothing is logged: the sample has no tables of ours. */
import { writeFile } from 'node:fs/promises';
import { compareWrites } from './compare.ts';
import { chooseDriver } from './load.ts';
import { type Measured, measureScenario } from './measure.ts';
import type { ReadsOptions } from './reads.ts';
import { judge, printScenario, printVerdicts, summarise } from './report.ts';
import { setStage } from './stage.ts';
import { listWrites } from './write-scenarios.ts';

/** Questions of each scenario whose answers are compared before it is measured. */
const compared = 3;

/** Measures and prints; the notes on the way go to the standard error. */
export async function benchWrites({ rounds, effort, only, json }: ReadsOptions): Promise<void> {
  const say = (note: string): void => void process.stderr.write(`… ${note}\n`);
  const stage = await setStage(say);
  try {
    const scenarios = listWrites(stage.keys).filter(({ name }) => only.length === 0 || only.includes(name));
    for (const { questions } of scenarios) {
      await compareWrites(stage.open.url, stage.handwritten.url, questions.slice(0, compared));
    }
    say('both servers give the same answers');
    const measured: Measured[] = [];
    for (const scenario of scenarios) {
      const result = await measureScenario(stage, scenario, {
        drive: chooseDriver().drive,
        rounds,
        effort,
        pgbench: undefined,
        say,
      });
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
