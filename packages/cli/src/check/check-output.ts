/** `platform generate --check`: compares the files with the output that the inputs give, without writing any. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AccessClass, Fingerprint } from '@tablewright/runtime';
import { compileProject, type GenerateOptions } from '../compile/compile-project.ts';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { isAccess } from '../output/finish-files.ts';
import { withLineFeeds } from '../output/output-file.ts';
import { compareFiles, type FileDifference } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';
import { refuseNewDatabase } from '../project/settings.ts';
import { count, lineDifference } from '../terminal/format.ts';
import type { Progress } from '../terminal/progress.ts';

/** Compares and prints; resolves to whether everything is as it should be. */
export async function checkOutput(project: Project, progress: Progress, options: GenerateOptions): Promise<boolean> {
  if (options.offline !== true && options.source === undefined) refuseNewDatabase(project, offlineAdvice);
  const { schemaText, files } = await compileProject(project, progress, options);
  const differences = await progress.phase('compare', () => compareFiles(project.output, files));
  const present = await readFile(project.schemaFile, 'utf8').then(withLineFeeds, () => null);
  const expected = schemaText().join('');
  const folder = relative(project.folder, project.output);
  const all = [
    ...(present === expected ? [] : [{ path: 'platform.schema.json', before: present, after: expected }]),
    ...differences.map((difference) => ({ ...difference, path: `${folder}/${difference.path}` })),
  ];
  for (const difference of all) printDifference(difference, progress);
  progress.event('summary', { upToDate: all.length === 0, files: files.length, different: all.length });
  progress.print(
    all.length === 0
      ? `${count(files.length, 'file')} in ${folder}/ and platform.schema.json are up to date.`
      : `${count(all.length, 'file')} of ${files.length + 1} would change: run \`platform generate\`.`,
  );
  return all.length === 0;
}

/** Advice where the database is not needed. */
export const offlineAdvice = 'Set DATABASE_URL, or add --offline to compare with platform.schema.json.';

/** Lines of a difference that are worth reading in a log. */
const maxLines = 6;

function printDifference({ path, before, after }: FileDifference, progress: Progress): void {
  const change = before === null ? 'added' : after === null ? 'removed' : 'changed';
  progress.event('file', { path, change });
  progress.print(`  ${change.padEnd(7)}  ${path}`);
  if (before === null || after === null) return;
  for (const line of lineDifference(before, after, maxLines)) progress.print(`    ${line}`);
}

/** Parts of the generated files that can be compared by name. */
export interface ReadOutput {
  readonly fingerprint: Fingerprint;
  readonly access: readonly AccessClass[];
}

/** Imports fingerprint and access classes; null where nothing is generated. Rejects with advice when they cannot be loaded. */
export async function readOutput(folder: string): Promise<ReadOutput | null> {
  const path = join(folder, 'fingerprint.js');
  if (!existsSync(path)) return null;
  try {
    const module: { readonly fingerprint: Fingerprint } = await import(pathToFileURL(path).href);
    const names = (await readdir(join(folder, 'access'))).filter((name) => name.endsWith('.js')).sort();
    const modules = await Promise.all(
      names.map(async (name): Promise<Readonly<Record<string, unknown>>> => {
        return import(pathToFileURL(join(folder, 'access', name)).href);
      }),
    );
    const access = modules.flatMap((value) => Object.values(value)).filter(isAccess);
    return { fingerprint: module.fingerprint, access };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      exitCodes.invalid,
      `The generated code cannot be loaded: ${reason}`,
      'Run `platform generate` again.',
    );
  }
}
