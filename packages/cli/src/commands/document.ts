/** `platform openapi` and `platform graphql`: the document of one access class, for other tools. */
import { join, resolve } from 'node:path';
import { type CommentSign, classesOf, classFiles, jsonOfClass, sdlOfClass } from '@tablewright/runtime/language';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { readText } from '../output/output-file.ts';
import { writeOutput } from '../output/staged-files.ts';
import { loadProject } from '../project/project.ts';
import { processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface DocumentOptions extends GlobalOptions {
  /** File to write instead of stdout. */
  readonly output?: string;
}

export function openapi(accessClass: string, options: DocumentOptions): Promise<void> {
  return printDocument(accessClass, options, classFiles.openapi, '//', jsonOfClass);
}

export function graphql(accessClass: string, options: DocumentOptions): Promise<void> {
  return printDocument(accessClass, options, classFiles.graphql, '#', sdlOfClass);
}

async function printDocument(
  accessClass: string,
  options: DocumentOptions,
  path: string,
  sign: CommentSign,
  textOf: typeof jsonOfClass,
): Promise<void> {
  const progress = processProgress(options);
  const { output } = await loadProject(options.project);
  const file = await readText(join(output, path));
  if (file === null)
    throw new CommandError(exitCodes.usage, `There is no ${join(output, path)}.`, 'Run `platform generate`.');
  const classes = classesOf(file, sign);
  if (!classes.includes(accessClass))
    throw new CommandError(
      exitCodes.usage,
      `"${accessClass}" is not the name of an access class.`,
      `Access classes are ${classes.join(', ')}.`,
    );
  const text = textOf(file, accessClass);
  if (options.output !== undefined) await writeOutput(resolve(options.project, options.output), text);
  else if (options.json === true) progress.event('document', { class: accessClass, text });
  else process.stdout.write(text);
}
