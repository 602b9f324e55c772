import { existsSync } from 'node:fs';
import { visible } from '@platform/introspect';
import type { Schema } from '@platform/introspect/schema';
import { checkProject } from '../check/check-project.ts';
import { examineDatabase } from '../doctor/examine-database.ts';
import { examineProject } from '../doctor/examine-project.ts';
import { examineTables } from '../doctor/examine-tables.ts';
import type { Finding } from '../doctor/finding.ts';
import { CommandError, exitCodes, judging } from '../exit-codes.ts';
import { currentSchema } from '../explain/current-schema.ts';
import { type Progress, processProgress } from '../progress.ts';
import { loadProject, type Project } from '../project.ts';
import { connectPresent, type Source } from '../source.ts';
import { count } from '../steps.ts';
import type { GlobalOptions } from './options.ts';

/** `platform doctor`: what is wrong with machine, project and database, and what to do about it. */
export async function doctor(options: GlobalOptions): Promise<void> {
  const progress = processProgress(options);
  const findings = await judging(() => examine(options, progress));
  const shown = findings.filter(({ severity }) => progress.notes || severity !== 'note');
  for (const finding of findings) progress.event('finding', { ...finding });
  for (const { check, severity, message, advice } of shown) {
    progress.say(`${severity.padEnd(7)}  ${check}: ${visible(message)}\n           ${visible(advice)}`);
  }
  const of = (severity: Finding['severity']): number => findings.filter((one) => one.severity === severity).length;
  progress.event('summary', { problems: of('problem'), warnings: of('warning'), notes: of('note') });
  progress.say(
    `${count(of('problem'), 'problem')}, ${count(of('warning'), 'warning')}, ${count(of('note'), 'note')}` +
      `${of('note') > 0 && !progress.notes ? ' (--notes shows them)' : ''}.`,
  );
  if (of('problem') > 0) process.exitCode = exitCodes.invalid;
}

async function examine(options: GlobalOptions, progress: Progress): Promise<readonly Finding[]> {
  const project = await loadProject(options.project);
  const own = await examineProject(project);
  return [...own, ...(await examineRest(project, progress))];
}

/** A database that is out of reach is a finding like others, and ends nothing: what the files tell is told all the same. */
async function examineRest(project: Project, progress: Progress): Promise<readonly Finding[]> {
  let source: Source;
  try {
    source = await connectPresent(project, progress);
  } catch (error) {
    return [refused(error), ...(await examineFiles(project, progress).catch((other) => [refused(other)]))];
  }
  return examineLive(project, source, progress).catch((error) => [refused(error)]);
}

async function examineLive(project: Project, source: Source, progress: Progress): Promise<readonly Finding[]> {
  let schema: Schema;
  let live: readonly Finding[];
  try {
    schema = await currentSchema(project, progress, source);
    live = await examineDatabase(source, schema);
  } finally {
    await source.close();
  }
  return [...live, ...examineTables(schema), ...(await drift(project, progress, { offline: false }))];
}

async function examineFiles(project: Project, progress: Progress): Promise<readonly Finding[]> {
  if (!existsSync(project.schemaFile)) return [];
  const schema = await currentSchema(project, progress);
  return [...examineTables(schema), ...(await drift(project, progress, { offline: true }))];
}

function refused(error: unknown): Finding {
  if (!(error instanceof CommandError)) throw error;
  const { message, hint } = error;
  return { check: 'database', severity: 'problem', message, advice: hint ?? 'Correct what is said above.' };
}

async function drift(
  project: Project,
  progress: Progress,
  parties: { readonly offline: boolean },
): Promise<readonly Finding[]> {
  const verdicts = await checkProject(project, progress, parties);
  return verdicts
    .filter(({ verdict }) => verdict === 'differs')
    .map(({ pair, findings }) => ({
      check: 'drift',
      severity: 'warning' as const,
      message: `${pair.join(' and ')} differ: ${findings[0]?.object ?? ''}${findings.length > 1 ? ` and ${findings.length - 1} more` : ''}.`,
      advice: 'See `platform check`; `platform generate` brings the files up to date.',
    }));
}
