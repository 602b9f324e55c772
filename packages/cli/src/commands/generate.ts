import { processProgress } from '../progress.ts';
import { loadProject } from '../project.ts';
import { generateProject, printSummary } from '../steps.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform generate`. */
export interface GenerateOptions extends GlobalOptions {
  readonly offline?: boolean;
}

/** `platform generate`: compiles the database, or platform.schema.json, into the output folder. */
export async function generate(options: GenerateOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const generation = await generateProject(project, progress, { offline: options.offline === true });
  printSummary(project, generation, progress);
}
