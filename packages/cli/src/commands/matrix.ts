import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type MatrixFormat, matrixFormats, printMatrix } from '@tablewright/compiler';
import { CommandError, exitCodes } from '../errors/exit-codes.ts';
import { checking } from '../errors/known-failure.ts';
import { currentSchema } from '../explain/current-schema.ts';
import { writeOutput } from '../output/replace-file.ts';
import { loadProject } from '../project/project.ts';
import { lineDifference } from '../terminal/format.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform permissions matrix`. */
export interface MatrixOptions extends GlobalOptions {
  readonly format?: string;
  /** File to write instead of stdout, from the project's folder on; written only when its bytes change. */
  readonly output?: string;
  /** Write nothing; exit 1 when the file is out of date. */
  readonly check?: boolean;
}

/** `platform permissions matrix`: role × collection × action × field as a table. */
export async function permissionsMatrix(options: MatrixOptions): Promise<void> {
  const progress = processProgress(options);
  if (options.check !== true) {
    await printOrWrite(options, progress);
    return;
  }
  if (!(await checking(() => checkFile(options, progress)))) process.exitCode = exitCodes.invalid;
}

async function matrixText(options: MatrixOptions, progress: Progress): Promise<string> {
  const format = formatOf(options);
  const project = await loadProject(options.project);
  return printMatrix(await currentSchema(project, progress), format);
}

/** The ending of the file says it where no option does. */
function formatOf({ format, output = '' }: MatrixOptions): MatrixFormat {
  const endings: Readonly<Record<string, MatrixFormat>> = { md: 'markdown', csv: 'csv', html: 'html' };
  const formatName = format ?? endings[output.split('.').at(-1) ?? ''] ?? 'text';
  const found = matrixFormats.find((candidate) => candidate === formatName);
  if (found !== undefined) return found;
  throw new CommandError(exitCodes.usage, `"${formatName}" is no format.`, `Formats are ${matrixFormats.join(', ')}.`);
}

async function printOrWrite(options: MatrixOptions, progress: Progress): Promise<void> {
  const text = await matrixText(options, progress);
  const { output } = options;
  if (output === undefined) {
    progress.event('matrix', { format: formatOf(options), text });
    if (options.json !== true) process.stdout.write(text);
    return;
  }
  const path = resolve(options.project, output);
  const changed = (await readFile(path, 'utf8').catch(() => null)) !== text;
  if (changed) await writeOutput(path, text);
  progress.event('file', { path: output, change: changed ? 'changed' : 'none' });
  progress.print(`${output} ${changed ? 'was written' : 'is up to date'}.`);
}

async function checkFile(options: MatrixOptions, progress: Progress): Promise<boolean> {
  const { output } = options;
  if (output === undefined)
    throw new CommandError(exitCodes.usage, '--check needs --output, the file to compare with.');
  const text = await matrixText(options, progress);
  const present = (await readFile(resolve(options.project, output), 'utf8').catch(() => null)) ?? '';
  const isSame = present === text;
  progress.event('summary', { upToDate: isSame, file: output });
  if (!isSame) for (const line of lineDifference(present, text, 40)) progress.print(`  ${line}`);
  progress.print(isSame ? `${output} is up to date.` : `${output} would change: run the command without --check.`);
  return isSame;
}
