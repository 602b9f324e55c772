import { generateProject } from '../compile/compile-project.ts';
import { printSummary } from '../compile/steps.ts';
import { CommandError, checking, exitCodes } from '../errors/failures.ts';
import { workOnce } from '../process/engine.ts';
import { loadProject } from '../project/project.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface GenerateCommandOptions extends GlobalOptions {
  readonly offline?: boolean;
  /** Write nothing; print the files that would be written. */
  readonly check?: boolean;
  /** Write client packages and no other file. */
  readonly clientsOnly?: boolean;
  /** Access classes whose clients are written, by commas. Default: all. */
  readonly classes?: string;
  /** Overwrite generated files that were edited. */
  readonly force?: boolean;
}

/** `platform generate`: compiles the database, or platform.schema.json, into the output folder. */
export async function generate(options: GenerateCommandOptions): Promise<void> {
  refuseCombinations(options);
  workOnce();
  const progress = processProgress(options);
  const offline = options.offline === true;
  const force = options.force === true;
  if (options.check === true) {
    await checkFiles(options, progress, offline);
    return;
  }
  const project = await loadProject(options.project);
  if (options.clientsOnly === true) {
    const { generateClients } = await import('../compile/generate-clients.ts');
    await generateClients(project, progress, { offline, force, classes: classesOf(options) });
    return;
  }
  const result = await generateProject(project, progress, { offline, force });
  printSummary(project, result, progress);
}

function refuseCombinations({ check, clientsOnly, classes, force }: GenerateCommandOptions): void {
  const refuse = (message: string): never => {
    throw new CommandError(exitCodes.usage, message);
  };
  if (classes !== undefined && clientsOnly !== true) refuse('--classes needs --clients-only.');
  if (check === true && force === true) refuse('--check writes nothing: leave --force out.');
  if (check === true && clientsOnly === true) refuse('--check judges all files: leave --clients-only out.');
}

async function checkFiles(options: GenerateCommandOptions, progress: Progress, offline: boolean): Promise<void> {
  const upToDate = await checking(async () => {
    const { checkOutput } = await import('../check/check-output.ts');
    return checkOutput(await loadProject(options.project), progress, { offline });
  });
  if (!upToDate) process.exitCode = exitCodes.invalid;
}

function classesOf({ classes }: GenerateCommandOptions): readonly string[] | 'all' {
  if (classes === undefined) return 'all';
  const names = classes.split(',').map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new CommandError(exitCodes.usage, '--classes takes names with commas between them, such as public,editor.');
}
