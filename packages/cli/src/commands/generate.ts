import { generateProject } from '../compile-project.ts';
import { exitCodes } from '../exit-codes.ts';
import { judging } from '../judging.ts';
import { workOnce } from '../one-run.ts';
import { processProgress } from '../progress.ts';
import { loadProject } from '../project.ts';
import { printSummary } from '../steps.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform generate`. */
export interface GenerateCommandOptions extends GlobalOptions {
  readonly offline?: boolean;
  /** Write nothing; tell what would be written. */
  readonly check?: boolean;
}

/** `platform generate`: compiles the database, or platform.schema.json, into the output folder. */
export async function generate(options: GenerateCommandOptions): Promise<void> {
  workOnce();
  const progress = processProgress(options);
  const offline = options.offline === true;
  if (options.check === true) {
    const upToDate = await judging(async () => {
      const { checkOutput } = await import('../check/check-output.ts');
      return checkOutput(await loadProject(options.project), progress, { offline });
    });
    if (!upToDate) process.exitCode = exitCodes.invalid;
    return;
  }
  const project = await loadProject(options.project);
  const generation = await generateProject(project, progress, { offline });
  printSummary(project, generation, progress);
}
