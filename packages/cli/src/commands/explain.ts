import { conditionText } from '@platform/compiler';
import type { Schema } from '@platform/introspect/schema';
import type { AccessClass, ExplainedRead, ReadableApi, RefusedRead } from '@platform/runtime';
import { explainRead, type PlannedRead, PlatformError, planRead } from '@platform/runtime';
import { CommandError, exitCodes, judging } from '../exit-codes.ts';
import { currentSchema } from '../explain/current-schema.ts';
import type { MissingIndex } from '../explain/missing-index.ts';
import { explainMysql, missingInMysql } from '../explain/mysql-plan.ts';
import { explainPostgres, missingInPostgres } from '../explain/postgres-plan.ts';
import { accessOf, callerOf, readableApi } from '../explain/role.ts';
import { type Progress, processProgress } from '../progress.ts';
import { loadProject } from '../project.ts';
import { connect, type Source } from '../source.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform explain`. */
export interface ExplainOptions extends GlobalOptions {
  readonly as: string;
  /** Key of the user that `$CURRENT_USER` stands for; nobody when absent. */
  readonly user?: string;
  /** Plan without a database. */
  readonly offline?: boolean;
  /** Let the database run the statement and measure it. */
  readonly analyze?: boolean;
}

/** `platform explain "GET /items/…" --as ROLE`: rules, statement and parameters, and what the database makes of them. */
export async function explain(request: string, options: ExplainOptions): Promise<void> {
  const progress = processProgress(options);
  const answered = await judging(() => explainRequest(request, options, progress));
  if (!answered) process.exitCode = exitCodes.invalid;
}

async function explainRequest(request: string, options: ExplainOptions, progress: Progress): Promise<boolean> {
  const target = targetOf(request);
  const project = await loadProject(options.project);
  const source = options.offline === true ? null : await connect(project, progress);
  try {
    const schema = await currentSchema(project, progress, source ?? undefined);
    const api = readableApi(schema);
    const access = accessOf(api, options.as);
    const caller = await callerOf(schema, access, { role: options.as, user: options.user ?? null }, source);
    const explained = explainTarget(api, target, caller);
    if (explained.kind === 'refused') {
      tellRefusal(explained, progress);
      return false;
    }
    tellRead(explained, access, progress);
    const planned = planRead(api, target, caller);
    if (source !== null) await tellPlan(planned, schema, source, options.analyze === true, progress);
    return true;
  } finally {
    await source?.close();
  }
}

/** `GET /items/articles?fields=id`, also without the method. */
function targetOf(request: string): string {
  const [, method = 'GET', target = ''] = /^(?:([A-Za-z]+)\s+)?(\S.*)$/.exec(request.trim()) ?? [];
  if (method.toUpperCase() === 'GET' && target.startsWith('/')) return target;
  throw new CommandError(
    exitCodes.usage,
    'Only reads can be explained: "GET /items/articles?fields=id".',
    'For writes `platform can ROLE ACTION COLLECTION [KEY]` tells which rule decides.',
  );
}

function explainTarget(
  api: ReadableApi,
  target: string,
  caller: Parameters<typeof explainRead>[2],
): ReturnType<typeof explainRead> {
  try {
    return explainRead(api, target, caller);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new CommandError(
      exitCodes.usage,
      `"${target}" is no path of items.`,
      'Write /items/<collection> or /items/<collection>/<key>.',
    );
  }
}

function tellRefusal({ code, message, reasons }: RefusedRead, progress: Progress): void {
  progress.event('refused', { code, message, reasons });
  progress.say(`refused  ${code}: ${message}`);
  for (const reason of reasons) progress.say(`  ${reason}`);
}

function tellRead(read: ExplainedRead, access: AccessClass, progress: Progress): void {
  const rules = access.collections.find(({ collection }) => collection === read.collection)?.read ?? [];
  progress.event('read', { ...read, accessClass: access.name, rules });
  progress.say(`rules    of ${access.roles.join(', ')} for reading ${read.collection}`);
  for (const { where, fields } of rules) {
    progress.say(`           ${conditionText(where)}`);
    progress.say(`             ${access.admin ? 'every field' : fields.join(', ')}`);
  }
  progress.say(`answer   ${read.many ? 'a list' : 'one item'}`);
  for (const line of read.answer) progress.say(`           ${line}`);
  progress.say('SQL');
  for (const line of read.statement.split('\n')) progress.say(`           ${line}`);
  for (const [index, value] of read.parameters.entries()) {
    progress.say(`           $${index + 1} = ${value === null ? 'NULL' : JSON.stringify(value)}`);
  }
}

async function tellPlan(
  { plan: { statement }, parameters }: PlannedRead,
  schema: Schema,
  source: Source,
  analyze: boolean,
  progress: Progress,
): Promise<void> {
  const tables = new Map(schema.tables.map((table) => [`${table.schema}.${table.name}`, table]));
  const isPostgres = source.family === 'postgres';
  const lines = await (isPostgres ? explainPostgres : explainMysql)(source, statement, parameters, analyze);
  const missing = await (isPostgres ? missingInPostgres : missingInMysql)(source, statement, parameters, tables);
  progress.event('plan', { lines, missingIndexes: missing });
  progress.say(`plan     of ${source.label}`);
  for (const line of lines) progress.say(`           ${line}`);
  progress.say(`indexes  ${missing.length === 0 ? 'every condition can use one' : 'none fits'}`);
  for (const one of missing) progress.say(`           ${missingText(one)}`);
}

function missingText({ table, condition, columns }: MissingIndex): string {
  const advice = columns.length === 0 ? '' : `; consider one on (${columns.join(', ')})`;
  return `${table}: ${condition}${advice}`;
}
