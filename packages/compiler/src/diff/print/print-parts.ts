/** Shared parts of the printed formats. */

import type { Change } from '../change.ts';
import type { Diff } from '../diff-schemas.ts';
import type { Severity } from '../severity.ts';

/** Context to print beside the changes. */
export interface DiffLabels {
  /** Sides of the comparison: `HEAD`, `database`, a file. */
  readonly from: string;
  readonly to: string;
  /** Names of acknowledged changes, as `changeName` prints them. */
  readonly acknowledged: ReadonlySet<string>;
  /** Path of the schema from the root of the repository, which is where code hosts look. Default: it lies there. */
  readonly file?: string;
  /** Version of the command, which SARIF names. Default: nothing is said. */
  readonly version?: string;
}

/** By what a change is acknowledged: `field-removed articles.title`, as the text form prints it. */
export function changeName({ rule, subject }: Pick<Change, 'rule' | 'subject'>): string {
  return `${rule} ${visible(subject)}`;
}

/** How many changes there are of each severity. */
export function countChanges({ changes }: Diff): Readonly<Record<Severity, number>> {
  const count = (severity: Severity): number => changes.filter((change) => change.severity === severity).length;
  return { breaking: count('breaking'), dangerous: count('dangerous'), safe: count('safe') };
}

/** Operations that are listed; the rest is counted. */
export const maxOperations = 6;

/** One line that counts. */
export function summary(diff: Diff, { from, to, acknowledged }: DiffLabels): string {
  const { breaking, dangerous, safe } = countChanges(diff);
  const agreed = diff.changes.filter((change) => isAcknowledged(change, { acknowledged })).length;
  return (
    `From ${visible(from)} to ${visible(to)}: ${breaking} breaking, ${dangerous} dangerous, ${safe} safe` +
    `${agreed > 0 ? `; ${agreed} acknowledged` : ''}.`
  );
}

/** True if the change is acknowledged. */
export function isAcknowledged(change: Change, { acknowledged }: Pick<DiffLabels, 'acknowledged'>): boolean {
  return acknowledged.has(changeName(change));
}

/** Names come from outside: control characters and what changes the direction of text must not reach a reader. */
export function visible(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
