import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { type MatrixFormat, matrixFormats, printMatrix } from '@tablewright/compiler';
import {
  comparePermissions,
  type PermissionDifference,
  printDiagnostics,
  printPermissions,
} from '@tablewright/introspect';
import { checkPermissions } from '../compile/steps.ts';
import { CommandError, checking, exitCodes } from '../errors/failures.ts';
import { currentSchema } from '../explain/role.ts';
import { withLineFeeds } from '../output/output-file.ts';
import { replaceFile, writeOutput } from '../output/staged-files.ts';
import { decodeText } from '../project/environment-file.ts';
import { loadProject, type Project } from '../project/project.ts';
import { connectPresent } from '../sources/connect.ts';
import {
  notInstalled,
  type PermissionTables,
  printDifferences,
  readPermissionTables,
  writePermissionTables,
} from '../sources/permission-tables.ts';
import type { Source } from '../sources/source.ts';
import { count, lineDifference } from '../terminal/format.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface PushOptions extends GlobalOptions {
  /** Write the differences; without it they are only shown. */
  readonly yes?: boolean;
}

/** `platform permissions diff`: changes that `push` would make to the tables. The exit code shows if there are any. */
export async function diffPermissions(options: GlobalOptions): Promise<void> {
  await withTables(options, false, async (project, _source, tables, progress) => {
    const differences = comparePermissions(tables.document, project.permissions);
    const errors = tables.diagnostics.filter(({ severity }) => severity === 'error');
    for (const error of errors) progress.event('diagnostic', { ...error });
    if (errors.length > 0) progress.print(printDiagnostics(errors, { color: progress.color }));
    // A row that cannot be read is a difference that no comparison shows.
    if (errors.length === 0 || differences.length > 0) show(differences, progress);
    if (errors.length > 0 || differences.length > 0) process.exitCode = exitCodes.invalid;
  });
}

/** `platform permissions pull`: makes the file equal to the tables. A file that is equal already is left alone. */
export async function pullPermissions(options: GlobalOptions): Promise<void> {
  await withTables(options, false, async (project, _source, tables, progress) => {
    const errors = tables.diagnostics.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) throw new CommandError(exitCodes.invalid, printDiagnostics(errors, { color: false }));
    // Tables without a rule were never filled: the file would lose all of its own.
    if (tables.document.rules.length === 0 && project.permissions.rules.length > 0) {
      const hint = 'Fill the tables by `platform permissions push --yes`, or take the rules out of the file yourself.';
      throw new CommandError(exitCodes.invalid, 'The tables have no rules, and the file has some.', hint);
    }
    const differences = comparePermissions(project.permissions, tables.document);
    show(differences, progress);
    if (differences.length === 0) return;
    const bytes = await readFile(project.permissionsFile).catch(() => Buffer.of());
    const before = decodeText(project.permissionsFile, bytes);
    // The tables have no rights to call functions: those of the file stay.
    const { functions } = project.permissions;
    const document = { ...tables.document, ...(functions && { functions }) };
    replaceFile(project.permissionsFile, printPermissions(document, before));
    progress.print(`Wrote ${relative(process.cwd(), project.permissionsFile)}.`);
  });
}

/** `platform permissions push`: makes the tables equal to the file in one transaction, after showing the changes. */
export async function pushPermissions(options: PushOptions): Promise<void> {
  await withTables(options, options.yes === true, async (project, source, tables, progress) => {
    // No file means no rule, which would take all rights away where the command runs in another folder.
    if (!existsSync(project.permissionsFile)) {
      const hint = 'Name the folder of the project with --project, or run `platform permissions pull` first.';
      throw new CommandError(exitCodes.usage, `There is no file "${project.permissionsFile}".`, hint);
    }
    await checkPermissions(project, source, progress);
    const compare = ({ document }: PermissionTables): readonly PermissionDifference[] =>
      comparePermissions(document, project.permissions);
    const differences = compare(tables);
    show(differences, progress);
    if (differences.length === 0) return;
    if (options.yes !== true) {
      throw new CommandError(exitCodes.invalid, 'Nothing was written.', 'Say that you mean it: add --yes.');
    }
    const written = await writePermissionTables(source, project, compare);
    progress.print(`Wrote ${count(written.length, 'change')} to ${source.label}.`);
  });
}

async function withTables(
  options: GlobalOptions,
  writable: boolean,
  work: (project: Project, source: Source, tables: PermissionTables, progress: Progress) => Promise<void>,
): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const errors = project.diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new CommandError(exitCodes.invalid, printDiagnostics(errors, { color: false }));
  const source = await connectPresent(project, progress, { writable });
  try {
    const tables = await readPermissionTables(source, project);
    if (tables === null) throw notInstalled();
    await work(project, source, tables, progress);
  } finally {
    await source.close();
  }
}

function show(differences: readonly PermissionDifference[], progress: Progress): void {
  for (const difference of differences) progress.event('difference', { ...difference });
  progress.event('summary', { differences: differences.length });
  progress.print(differences.length === 0 ? 'The tables and the file say the same.' : printDifferences(differences));
}

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
  const present = await readFile(resolve(options.project, output), 'utf8').then(withLineFeeds, () => '');
  const isSame = present === text;
  progress.event('summary', { upToDate: isSame, file: output });
  if (!isSame) for (const line of lineDifference(present, text, 40)) progress.print(`  ${line}`);
  progress.print(isSame ? `${output} is up to date.` : `${output} would change: run the command without --check.`);
  return isSame;
}
