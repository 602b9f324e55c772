/** Prints the result of a change, on one screen. */
import { type Change, countChanges, type Diff } from '@tablewright/compiler';
import { visible } from '@tablewright/introspect';
import { CommandError } from '../errors/failures.ts';
import type { WriteResult } from '../output/write-files.ts';
import { count } from '../terminal/format.ts';
import type { Progress } from '../terminal/progress.ts';
import type { TypeVerdict } from './type-checks.ts';

/** Facts that are printed about a served change. */
interface Rebuilt {
  /** Files from the project's folder on, and `database`. */
  readonly reasons: readonly string[];
  readonly diff: Diff;
  readonly written: WriteResult;
  /** Sentences that the change before did not have. */
  readonly warnings: readonly string[];
  /** From the change to the first request that it answers, as far as this process knows: milliseconds. */
  readonly ms: number;
}

/** Lines of each kind; the rest is counted. */
const shown = 10;

/** Prints the changes; clears a terminal first. */
export function printRebuilt(rebuilt: Rebuilt, progress: Progress): void {
  const { reasons, diff, written, warnings, ms } = rebuilt;
  const counts = countChanges(diff);
  progress.event('rebuilt', { reasons, ...counts, written: written.written, removed: written.removed, ms });
  for (const change of diff.changes) progress.event('change', { ...change });
  const total = diff.changes.length;
  const verdict =
    total === 0
      ? 'no client sees a difference'
      : `${counts.breaking} breaking, ${counts.dangerous} dangerous, ${counts.safe} safe`;
  progress.print(
    [
      `${progress.color ? clear : '\n'}${titleOf(reasons)}`,
      ...some(diff.changes.map(changeLine)),
      ...some(warnings.map((text) => `  warning    ${visible(text)}`)),
      ...some(written.paths.map((path) => `  written    ${path}`)),
      `  Served after ${ms} ms: ${verdict}; ${count(written.written, 'file')} written, ${written.removed} removed.`,
    ].join('\n'),
  );
}

/** Prints why a change is not served, and by `outlook` how it goes on. */
export function printFailure(reasons: readonly string[], error: unknown, outlook: string, progress: Progress): void {
  const { message, hint } = textOf(error);
  progress.event('failed', { reasons, message, hint });
  const lines = [titleOf(reasons), message, ...(hint === null ? [] : [`  ${hint}`])];
  progress.print(`${progress.color ? clear : '\n'}${lines.join('\n')}\n  ${outlook}`);
}

export function printTypes(verdict: TypeVerdict, progress: Progress): void {
  progress.event('types', { ...verdict });
  progress.print(typeLines(verdict).join('\n'));
}

function typeLines(verdict: TypeVerdict): readonly string[] {
  if (verdict.kind === 'unchecked') return [`  Types are not checked: ${verdict.reason}.`];
  const { errors, ms } = verdict;
  if (errors.length === 0) return [`  Types fit (${ms} ms).`];
  return [...some(errors.map((error) => `  types      ${visible(error)}`)), `  Types do not fit (${ms} ms).`];
}

const clear = '\u001b[2J\u001b[H';

function titleOf(reasons: readonly string[]): string {
  const time = new Date().toTimeString().slice(0, 8);
  const more = reasons.length > 5 ? ` and ${reasons.length - 5} more` : '';
  return `${time}  ${reasons.slice(0, 5).map(visible).join(', ')}${more}`.trimEnd();
}

function changeLine({ severity, subject, message, roles }: Change): string {
  return `  ${severity.padEnd(9)}  ${visible(subject)}  ${visible(message)} (${visible(roles.join(', '))})`;
}

function some(lines: readonly string[]): readonly string[] {
  return lines.length <= shown ? lines : [...lines.slice(0, shown - 1), `  … and ${lines.length - shown + 1} more`];
}

function textOf(error: unknown): { readonly message: string; readonly hint: string | null } {
  if (error instanceof CommandError) return { message: error.message, hint: error.hint };
  return { message: error instanceof Error ? error.message : String(error), hint: null };
}
