import { existsSync } from 'node:fs';
import { type Diagnostic, visible } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import { checkProject } from '../check/check-project.ts';
import type { Facts } from '../compile/facts.ts';
import { readFacts } from '../compile/read-facts.ts';
import { loadFacts, loadSchema, report, resolveFacts } from '../compile/steps.ts';
import { examineDatabase, examineTables } from '../doctor/examine-database.ts';
import { examineProject } from '../doctor/examine-project.ts';
import { examineProduction } from '../doctor/production/checks.ts';
import { type ExaminedFacts, readDatabase } from '../doctor/production/facts.ts';
import { CommandError, checking, DiagnosticsError, exitCodes, knownFailure } from '../errors/failures.ts';
import { loadProject, type Project } from '../project/project.ts';
import { connectPresent } from '../sources/connect.ts';
import type { Finding } from '../sources/finding.ts';
import type { Source } from '../sources/source.ts';
import { count } from '../terminal/format.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import { type DoctorOptions, workerCount } from './options.ts';

/** `platform doctor`: finds problems of machine, project and database, each with advice. */
export async function doctor(options: DoctorOptions): Promise<void> {
  const progress = processProgress(options);
  const findings = await checking(() => examine(options, progress));
  const shown = findings.filter(({ severity }) => progress.notes || severity !== 'note');
  for (const finding of findings) progress.event('finding', { ...finding });
  for (const { check, severity, message, advice } of shown) {
    progress.print(`${severity.padEnd(7)}  ${check}: ${visible(message)}\n           ${visible(advice)}`);
  }
  const countOf = (severity: Finding['severity']): number =>
    findings.filter((finding) => finding.severity === severity).length;
  progress.event('summary', { problems: countOf('problem'), warnings: countOf('warning'), notes: countOf('note') });
  progress.print(
    `${count(countOf('problem'), 'problem')}, ${count(countOf('warning'), 'warning')}, ${count(countOf('note'), 'note')}` +
      `${countOf('note') > 0 && !progress.notes ? ' (--notes shows them)' : ''}.`,
  );
  if (countOf('problem') > 0) process.exitCode = exitCodes.invalid;
}

async function examine(options: DoctorOptions, progress: Progress): Promise<readonly Finding[]> {
  const workers = workerCount(options.workers ?? '1');
  const project = await loadProject(options.project);
  const ofProject = await examineProject(project);
  const { findings, ...facts } = await examineRest(project, progress);
  const all = [...ofProject, ...findings];
  return options.production === true ? examineProduction(project, all, { ...facts, workers }) : all;
}

/** Findings, and facts from which more may be found. */
interface Examination extends Omit<ExaminedFacts, 'workers'> {
  readonly findings: readonly Finding[];
}

const withoutFacts = (error: unknown): Examination => ({ findings: refused(error), schema: null, database: null });

/** A database that is out of reach is a finding like others: findings from the files are reported all the same. */
async function examineRest(project: Project, progress: Progress): Promise<Examination> {
  let source: Source;
  try {
    source = await connectPresent(project, progress);
  } catch (error) {
    const ofFiles = await examineFiles(project, progress).catch(withoutFacts);
    return { ...ofFiles, findings: [...refused(error), ...ofFiles.findings] };
  }
  return examineLive(project, source, progress).catch(withoutFacts);
}

async function examineLive(project: Project, source: Source, progress: Progress): Promise<Examination> {
  let examined: Examined;
  let live: readonly Finding[];
  let database: Examination['database'];
  try {
    examined = await resolve(project, await readFacts(project, progress, source), progress);
    live = await examineDatabase(source, examined.schema);
    database = await readDatabase(source, project);
  } finally {
    await source.close();
  }
  const findings = [...live, ...(await examineResolved(project, examined, progress, false))];
  return { findings, schema: examined.schema, database };
}

async function examineFiles(project: Project, progress: Progress): Promise<Examination> {
  if (!existsSync(project.schemaFile)) return { findings: [], schema: null, database: null };
  const examined = await resolve(project, await loadFacts(project), progress);
  const findings = await examineResolved(project, examined, progress, true);
  return { findings, schema: examined.schema, database: null };
}

interface Examined {
  readonly schema: Schema;
  /** Problems that keep it from being compiled. */
  readonly wrong: readonly Finding[];
  /** True if `platform.schema.json` was read, so that it can be compared. */
  readonly isFileRead: boolean;
}

/** Problems in the files of the project are findings like the rest, and hide no other. */
async function resolve(project: Project, facts: Facts, progress: Progress): Promise<Examined> {
  let previous: Schema | null = null;
  let unread: readonly Finding[] = [];
  try {
    previous = facts.previous ?? (await loadSchema(project));
  } catch (error) {
    unread = refused(error);
  }
  const { schema, diagnostics } = await progress.phase('resolve', async () => resolveFacts(project, facts, previous));
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) report(diagnostics, progress);
  return { schema, wrong: [...unread, ...errors.map(wrongWith)], isFileRead: unread.length === 0 };
}

async function examineResolved(
  project: Project,
  { schema, wrong, isFileRead }: Examined,
  progress: Progress,
  offline: boolean,
): Promise<readonly Finding[]> {
  const drifts = isFileRead ? await drift(project, progress, offline, wrong.length === 0).catch(uncompared) : [];
  return [...wrong, ...examineTables(schema), ...drifts];
}

function refused(error: unknown): readonly Finding[] {
  if (error instanceof DiagnosticsError) return error.diagnostics.map(wrongWith);
  const failure = knownFailure(error);
  if (!(failure instanceof CommandError)) throw failure;
  const { message, hint } = failure;
  return [{ check: 'database', severity: 'problem', message, advice: hint ?? 'Correct what is said above.' }];
}

/** Output that cannot be compared, such as edited generated code, is a problem itself. */
function uncompared(error: unknown): readonly Finding[] {
  return refused(error).map((finding) => ({
    ...finding,
    check: finding.check === 'database' ? 'drift' : finding.check,
  }));
}

function wrongWith({ code, place: location, message, hint }: Diagnostic): Finding {
  return { check: code, severity: 'problem', message: `${location}: ${message}`, advice: hint ?? 'Correct it.' };
}

/** Finds nothing where rules are wrong: that is found already, and nothing else can be said of them. */
async function drift(
  project: Project,
  progress: Progress,
  offline: boolean,
  areRulesRead: boolean,
): Promise<readonly Finding[]> {
  const verdicts = await checkProject(project, progress, { offline });
  return verdicts
    .filter(({ pair }) => areRulesRead || !pair.includes('permissions.yaml'))
    .filter(({ verdict }) => verdict === 'differs')
    .map(({ pair, findings }) => ({
      check: 'drift',
      severity: 'warning' as const,
      message: `${pair.join(' and ')} differ: ${findings[0]?.object ?? ''}${findings.length > 1 ? ` and ${findings.length - 1} more` : ''}.`,
      advice: 'See `platform check`; `platform generate` brings the files up to date.',
    }));
}
