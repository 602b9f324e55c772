import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import {
  type Change,
  changeName,
  countChanges,
  type DiffFormat,
  diffFormats,
  diffSchemas,
  findRenames,
  printDiff,
  type Rename,
  type Severity,
  visible,
} from '@tablewright/compiler';
import type { Diagnostic } from '@tablewright/introspect';
import { printDiagnostics } from '@tablewright/introspect/resolve';
import type { Schema } from '@tablewright/introspect/schema';
import type { Resolution } from '../compile/steps.ts';
import { folderInRepository, outputAt, schemaAt, workingTree } from '../diff/sides.ts';
import { CommandError, checking, exitCodes } from '../errors/failures.ts';
import { writeOutput } from '../output/staged-files.ts';
import { loadProject } from '../project/project.ts';
import { count } from '../terminal/format.ts';
import { commandVersion } from '../terminal/own-command.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface DiffOptions extends GlobalOptions {
  readonly format?: string;
  /** File to write instead of stdout. */
  readonly output?: string;
  /** The least severity that ends with 1; `breaking` when absent. */
  readonly failOn: string;
  /** File with names of accepted changes, one a line. */
  readonly acknowledged?: string;
  /** False: a collection or field that only looks renamed counts as removed and new. */
  readonly guess: boolean;
}

/** `platform diff [FROM] [TO]`: effects of a change on every client of every role. */
export async function diff(from: string | undefined, to: string | undefined, options: DiffOptions): Promise<void> {
  const progress = processProgress(options);
  const isFine = await checking(() => compare(from ?? 'HEAD', to ?? workingTree, options, progress));
  if (!isFine) process.exitCode = exitCodes.invalid;
}

async function compare(from: string, to: string, options: DiffOptions, progress: Progress): Promise<boolean> {
  const format = oneOf<DiffFormat>(diffFormats, options.format ?? 'text', 'format');
  const limit = oneOf(limits, options.failOn, 'severity');
  const project = await loadProject(options.project);
  const old = await schemaAt(from, project, progress);
  const next = await schemaAt(to, project, progress);
  const [before, after] = [old.schema, next.schema];
  const renames = await chooseRenames(before, after, options);
  const [earlier, now] = [await outputAt(from, project), await outputAt(to, project)];
  const operations = both(earlier.operations, now.operations);
  const extensions = both(earlier.extensions, now.extensions);
  const found = await progress.phase('compare', () =>
    diffSchemas(before, after, { renames, ...(operations && { operations }), ...(extensions && { extensions }) }),
  );
  const names = new Set(found.changes.map(changeName));
  const { acknowledged, stale } = await readAcknowledged(options.acknowledged, names);
  const file = `${await folderInRepository(project)}platform.schema.json`;
  const text = printDiff(found, format, { from, to, acknowledged, file, version: commandVersion() });
  if (options.output !== undefined) await writeOutput(resolve(options.output), text);
  else if (options.json !== true) process.stdout.write(text);
  for (const change of found.changes) progress.event('change', { ...change, acknowledged: isIn(change, acknowledged) });
  progress.event('summary', { from, to, ...countChanges(found), renames: found.renames });
  report(stale, progress);
  const compiles = [reportErrors(from, old, progress), reportErrors(to, next, progress)].every((isFine) => isFine);
  const isAgreed = (change: Change): boolean => ranks[change.severity] < ranks[limit] || isIn(change, acknowledged);
  const open = found.changes.filter((change) => !isAgreed(change));
  if (open.length > 0 && options.acknowledged !== undefined)
    progress.print(acknowledgement(options.acknowledged, open));
  return compiles && open.length === 0;
}

/** Tells how to acknowledge changes that are meant. */
function acknowledgement(path: string, changes: readonly Change[]): string {
  const lines = [...new Set(changes.map(changeName))].map((name) => `  ${name}`);
  return `If that is meant, add to ${path}:\n${lines.join('\n')}`;
}

/** Reports after the comparison the errors that keep one of its sides from being compiled. */
function reportErrors(name: string, { diagnostics }: Resolution, progress: Progress): boolean {
  if (diagnostics.length === 0) return true;
  report(diagnostics, progress);
  progress.print(`${count(diagnostics.length, 'error')}: "${name}" cannot be compiled.`);
  return false;
}

function report(diagnostics: readonly Diagnostic[], progress: Progress): void {
  for (const diagnostic of diagnostics) progress.event('diagnostic', { ...diagnostic });
  if (diagnostics.length > 0) progress.print(printDiagnostics(diagnostics, { color: progress.color }));
}

/** Null where one of them is not known: then there is nothing to compare. */
function both<T>(before: T | null, after: T | null): { readonly before: T; readonly after: T } | null {
  return before === null || after === null ? null : { before, after };
}

const limits = ['breaking', 'dangerous', 'never'] as const;

const ranks: Readonly<Record<Severity | 'never', number>> = { safe: 0, dangerous: 1, breaking: 2, never: 3 };

function oneOf<T extends string>(choices: readonly T[], text: string, what: string): T {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new CommandError(exitCodes.usage, `"${text}" is no ${what}.`, `Write ${choices.join(', ')}.`);
}

/** Chooses certain renames and those that the user confirms; if the user cannot be asked, all likely ones. */
async function chooseRenames(before: Schema, after: Schema, options: DiffOptions): Promise<readonly Rename[]> {
  const found = findRenames(before, after);
  const guesses = found.filter(({ certain }) => !certain);
  if (!options.guess) return found.filter(({ certain }) => certain);
  const canPrompt = process.stdin.isTTY === true && process.stderr.isTTY === true && options.json !== true;
  if (guesses.length === 0 || !canPrompt) return found;
  const agreed = new Set(await promptRenames(guesses));
  return found.flatMap((difference) =>
    difference.certain ? [difference] : agreed.has(difference) ? [{ ...difference, certain: true }] : [],
  );
}

function isIn(change: Change, acknowledged: ReadonlySet<string>): boolean {
  return acknowledged.has(changeName(change));
}

/** Names in a file of acknowledged changes. */
interface Acknowledged {
  readonly acknowledged: ReadonlySet<string>;
  /** Lines that name no change: of a comparison before, or misspelt. */
  readonly stale: readonly Diagnostic[];
}

/**
 * The names in a file, one a line; text after a `#` is for people. Names can contain such a sign themselves: among the
 * possible readings of a line, the one that is the name of a change is taken. A missing file names nothing.
 */
export async function readAcknowledged(path: string | undefined, changes: ReadonlySet<string>): Promise<Acknowledged> {
  if (path === undefined) return { acknowledged: new Set(), stale: [] };
  const text = await readFile(resolve(path), 'utf8').catch(() => '');
  const names = text.split('\n').map((line) => nameIn(line, changes));
  const stale = names.flatMap((name, index): readonly Diagnostic[] =>
    name === '' || changes.has(name)
      ? []
      : [
          {
            code: 'stale-acknowledgement',
            severity: 'warning',
            place: `${path}:${index + 1}`,
            message: `The comparison has no change "${name}".`,
            hint: 'Remove the line, or write rule and subject as the comparison prints them.',
          },
        ],
  );
  return { acknowledged: new Set(names.filter((name) => changes.has(name))), stale };
}

function nameIn(line: string, changes: ReadonlySet<string>): string {
  const whole = line.replace(/^\ufeff?\s*[-*] /, '').trim();
  const signs = [...whole.matchAll(/(?:^|\s)#/g)].map(({ index }) => index);
  const readings = [whole.length, ...signs.reverse()].map((end) => whole.slice(0, end).trim());
  return readings.find((reading) => changes.has(reading)) ?? readings.at(-1) ?? '';
}

/** Asks on the terminal which guesses are right, and resolves to those. Rejects if a question is not answered. */
export async function promptRenames(
  guesses: readonly Rename[],
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
): Promise<readonly Rename[]> {
  const terminal = createInterface({ input, output });
  // Lines that are typed ahead are kept.
  const lines = terminal[Symbol.asyncIterator]();
  let isOpen = true;
  terminal.once('close', () => {
    isOpen = false;
  });
  const agreed: Rename[] = [];
  try {
    for (const guess of guesses) {
      terminal.setPrompt(`Was ${visible(guess.from)} renamed to ${visible(guess.to)}? [Y/n] `);
      // The last line can be here when the input has ended already.
      if (isOpen) terminal.prompt();
      const { value, done } = await lines.next();
      if (done === true) throw unanswered();
      if (!/^\s*n/i.test(value)) agreed.push(guess);
    }
  } finally {
    terminal.close();
  }
  return agreed;
}

function unanswered(): CommandError {
  return new CommandError(
    exitCodes.usage,
    'The question was not answered.',
    'Add --no-guess where nothing was renamed.',
  );
}
