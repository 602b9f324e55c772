/** Explains a write: its rules, its statements, and in a dry run the answer of the database. */
import { type ReadHook, readHooks } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import type { CompiledApi, Database, Extension } from '@tablewright/runtime';
import {
  type ExplainedWrite,
  explainWrite,
  openDatabase,
  PlatformError,
  type RefusedWrite,
  type RuleOfWrite,
  type WriteLimits,
  type WriteToExplain,
} from '@tablewright/runtime/explain';
import { readEnvironment, requestLimits, type Variables } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { loadExtensions } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';
import { databaseUrl } from '../project/settings.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';
import { type CheckedRule, checkNamedRules, itemIn } from './check-rules.ts';
import { printPlan, printPolicies, printStatement, ruleLines } from './print.ts';
import { type Asker, accessOf, callerOf, writableApi } from './role.ts';

/** Options of explaining a request, and its caller. */
export interface RoleRequest extends Asker {
  readonly project: Project;
  readonly schema: Schema;
  /** Null where no database is to be asked. */
  readonly source: Source | null;
}

/** Explains a write; resolves to true if it is not refused. */
export async function explainWriting(
  write: WriteToExplain,
  { project, schema, source, role, user }: RoleRequest,
  rehearse: boolean,
  progress: Progress,
): Promise<boolean> {
  const linked = writableApi(schema);
  const hooks = await hooksOfProject(project, linked);
  const api = { ...linked, extensions: [namedExtension(hooks)] };
  const access = accessOf(api, role);
  const caller = await callerOf(schema, access, { role, user }, source);
  const database = rehearse && source !== null ? await openFor(project, source) : null;
  const { explained, sent } = await onItems(
    write.target,
    explainWrite(api, write, caller, database, boundsOf(process.env)),
  ).finally(() => database?.close(1_000));
  const checkedRules = await checkNamedRules({ api, caller, target: write.target }, explained.rules, source);
  progress.event(explained.kind, { ...explained, accessClass: access.name });
  if (explained.kind === 'refused') printRefusal(explained, progress);
  progress.print(
    `rules    of ${access.roles.join(', ')} for ${verbs[explained.action]} ${itemIn(write.target).collection}`,
  );
  if (checkedRules.length === 0) progress.print('           none');
  for (const [index, rule] of checkedRules.entries()) {
    for (const line of linesOf(rule, index)) progress.print(`           ${line}`);
  }
  printPolicies(schema, explained, progress);
  printHooks(explained.hooks, hooks, progress);
  printStatements(explained, rehearse, progress);
  if (source !== null) for (const statement of sent) await printPlan(statement, schema, source, false, progress);
  return explained.kind === 'write';
}

/** Limits of requests from the variables of a server; if these are not set, the defaults of the API specification. */
export function boundsOf(variables: Variables): WriteLimits {
  const reading = readEnvironment(variables);
  return reading.ok ? requestLimits(reading.environment) : {};
}

/** Awaits the explanation of a request for items. Rejects with advice for any other address. */
export async function onItems<T>(target: string, explaining: Promise<T>): Promise<T> {
  try {
    return await explaining;
  } catch (error) {
    if (!(error instanceof PlatformError) || error.code !== 'ROUTE_NOT_FOUND') throw error;
    throw new CommandError(
      exitCodes.usage,
      `"${target}" is no path of items that takes this method.`,
      'Write /items/<collection> or /items/<collection>/<key>.',
    );
  }
}

export function printRefusal(
  { code, message, reasons }: Pick<RefusedWrite, 'code' | 'message' | 'reasons'>,
  progress: Progress,
): void {
  progress.print(`refused  ${code}: ${message}`);
  for (const reason of reasons) if (reason !== message) progress.print(`  ${reason}`);
}

const verbs = { create: 'creating', update: 'changing', delete: 'deleting' } as const;

/** A connection that may write, so that a write can be tried and taken back. */
function openFor(project: Project, { embedded }: Source): Promise<Database> {
  const url = databaseUrl(project);
  if (embedded !== null) return openDatabase({ embedded });
  if (url === null) throw new Error('a source without an address is the embedded one');
  return openDatabase({ url });
}

function linesOf(checkedRule: CheckedRule<RuleOfWrite>, index: number): readonly string[] {
  const { action, lacking, usable } = checkedRule.rule;
  return [
    ...ruleLines({ ...checkedRule, usable }, index, action),
    ...(lacking.length === 0 ? [] : [`  does not grant: ${lacking.join(', ')}`]),
  ];
}

function printStatements(explained: ExplainedWrite | RefusedWrite, rehearsed: boolean, progress: Progress): void {
  for (const [index, { statement, parameters }] of explained.statements.entries()) {
    progress.print(`SQL      ${index + 1} of ${explained.statements.length}`);
    printStatement(statement, parameters, progress);
  }
  if (explained.kind === 'refused') return;
  if (!explained.complete)
    progress.print('         Later statements depend on the answer; --rehearse runs all of it and takes it back.');
  if (rehearsed) progress.print(`answer   ${JSON.stringify(explained.answer ?? null)}`);
}

/** The hooks whose events the API has, in the order in which a server calls those of one stage. */
async function hooksOfProject(project: Project, { routes }: CompiledApi): Promise<readonly ReadHook[]> {
  const events = new Set(routes.map(({ collection, operation }) => `${collection.name}.${operation}`));
  return readHooks(await loadExtensions(project)).filter(({ event }) => events.has(event));
}

/** Stands for the extensions that register these hooks, where it is asked which there are. */
function namedExtension(hooks: readonly ReadHook[]): Extension {
  const run = (): never => {
    throw new Error('who only asks runs no code of the project');
  };
  return { hooks: hooks.map(({ stage, event }) => ({ stage, event, run })), routes: [] };
}

/** Prints hooks by their names, `before articles.create`, and where each is registered. */
function printHooks(names: readonly string[], hooks: readonly ReadHook[], progress: Progress): void {
  if (names.length === 0) return;
  const places = Map.groupBy(hooks, ({ stage, event }) => `${stage} ${event}`);
  const next = new Map([...places].map(([name, found]) => [name, found.values()]));
  progress.print('hooks    code of the project, which may change or refuse this, and is not run here');
  for (const name of names) progress.print(`           ${name} at ${next.get(name)?.next().value?.place ?? ''}`);
}
