/** Rows of the table that a topology prints. */
import { setTimeout as sleep } from 'node:timers/promises';

/** One case: what it has to come to, and what it came to. */
export interface CaseRow {
  readonly name: string;
  readonly expected: string;
  readonly measured: string;
  readonly isMet: boolean;
  /** Set where only times can miss the figure: those of a machine that runs other tests beside are not judged. */
  readonly isLate?: boolean;
}

/** A topology: its parts run in a throwaway folder. */
export interface Topology {
  /** Why it cannot run here; null where it can. */
  readonly missing: string | null;
  /** Runs the cases; in short once each. */
  run(folder: string, isShort: boolean): Promise<readonly CaseRow[]>;
}

/** Prints rows as Markdown. */
export function printRows(rows: readonly CaseRow[]): string {
  const cells = [
    ['Case', 'Figure', 'Measured', ''],
    ...rows.map(({ name, expected, measured, isMet }) => [name, expected, measured, isMet ? 'met' : 'NOT MET']),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}

/** The value below which so many of a hundred lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((share / 100) * sorted.length))] ?? 0;
}

/** Waits for something that servers do by themselves; gives the milliseconds that it took. */
export async function untilTrue(test: () => Promise<boolean>, ms = 60_000): Promise<number> {
  const start = performance.now();
  while (!(await test())) {
    if (performance.now() - start > ms) throw new Error('The servers do not come to what they should.');
    await sleep(50);
  }
  return performance.now() - start;
}
