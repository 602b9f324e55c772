import { checkProject } from '../check/check-project.ts';
import type { Verdict } from '../check/verdict.ts';
import { checking, exitCodes } from '../errors/failures.ts';
import { loadProject } from '../project/project.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface CheckOptions extends GlobalOptions {
  /** Leave the database out. */
  readonly offline?: boolean;
}

/** `platform check`: one verdict for each two of database, platform.schema.json, generated files and permissions. */
export async function check(options: CheckOptions): Promise<void> {
  const progress = processProgress(options);
  const verdicts = await checking(async () =>
    checkProject(await loadProject(options.project), progress, { offline: options.offline === true }),
  );
  for (const verdict of verdicts) printVerdict(verdict, progress);
  const bad = verdicts.filter(({ verdict }) => verdict !== 'fits').length;
  progress.event('summary', { pairs: verdicts.length, fitting: verdicts.length - bad });
  if (bad === 0) return;
  progress.print('`platform generate` makes the files anew; a database that is behind needs `platform migrate`.');
  process.exitCode = exitCodes.invalid;
}

/** Findings of one pair that are worth reading at once; `--json` has them all. */
const maxFindings = 20;

function printVerdict({ pair, verdict, findings }: Verdict, progress: Progress): void {
  progress.event('verdict', { pair, verdict, findings });
  progress.print(`${verdict.padEnd(7)}  ${pair.join(' and ')}`);
  for (const { object, message } of findings.slice(0, maxFindings)) progress.print(`           ${object}: ${message}`);
  if (findings.length > maxFindings) progress.print(`           … ${findings.length - maxFindings} more`);
}
