import { operandText } from '@tablewright/compiler';
import type { AccessClass, AccessRule, PlannedRead } from '@tablewright/runtime';
import type { ExplainedRead, WriteToExplain } from '@tablewright/runtime/explain';
import { explainCall, explainRead, planRead } from '@tablewright/runtime/explain';
import type { JsonValue } from '@tablewright/runtime/language';
import { CommandError, checking, exitCodes } from '../errors/failures.ts';
import { type CheckedRule, checkNamedRules, itemIn } from '../explain/check-rules.ts';
import { boundsOf, explainWriting, onItems, printRefusal, type RoleRequest } from '../explain/explain-writing.ts';
import { printPlan, printPolicies, printStatement, ruleLines, visibly } from '../explain/print.ts';
import { accessOf, callerOf, currentSchema, readableApi, writableApi } from '../explain/role.ts';
import { loadProject } from '../project/project.ts';
import { connectPresent } from '../sources/connect.ts';
import type { Source } from '../sources/source.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface ExplainOptions extends GlobalOptions {
  readonly as: string;
  /** Key of the user that `$CURRENT_USER` stands for; no user when absent. */
  readonly user?: string;
  /** Plan without a database. */
  readonly offline?: boolean;
  /** Let the database run the statement of a read and measure it. */
  readonly analyze?: boolean;
  /** The body of a write, JSON; none when absent. */
  readonly data?: string;
  /** Let the database run a write in a transaction that is taken back. */
  readonly rehearse?: boolean;
}

/** `platform explain "GET /items/…" --as ROLE`: rules, statements and parameters, and the database's plans. */
export async function explain(request: string, options: ExplainOptions): Promise<void> {
  const progress = processProgress(options);
  const answered = await checking(() => explainRequest(request, options, progress));
  if (!answered) process.exitCode = exitCodes.invalid;
}

async function explainRequest(request: string, options: ExplainOptions, progress: Progress): Promise<boolean> {
  const { method, target } = requestOf(request);
  const calls = target.startsWith('/functions/');
  refuseOptions(method, calls, options);
  const project = await loadProject(options.project);
  const source = options.offline === true ? null : await connectPresent(project, progress, { hint });
  try {
    const schema = await currentSchema(project, progress, source ?? undefined);
    const question = { project, schema, source, role: options.as, user: options.user ?? null };
    const output = visibly(progress);
    if (calls) return await explainCalling(method, target, options.data, question, output);
    if (method === 'GET') return await explainReading(target, question, options.analyze === true, output);
    const write: WriteToExplain = { method, target, body: options.data ?? '' };
    return await explainWriting(write, question, options.rehearse === true, output);
  } finally {
    await source?.close();
  }
}

/** The call of a function; it is planned, and never run. */
async function explainCalling(
  method: Method,
  target: string,
  data: string | undefined,
  { schema, source, role, user }: RoleRequest,
  progress: Progress,
): Promise<boolean> {
  const api = writableApi(schema);
  const access = accessOf(api, role);
  const caller = await callerOf(schema, access, { role, user }, source);
  const { limits = {} } = boundsOf(process.env);
  const explained = explainCall(
    api,
    { method, target, body: data === undefined ? undefined : bodyOf(data) },
    caller,
    limits,
  );
  progress.event(explained.kind, { ...explained, accessClass: access.name });
  if (explained.kind === 'refused') {
    printRefusal(explained, progress);
    return false;
  }
  progress.print(`function ${explained.function}`);
  for (const { name, value } of explained.args)
    progress.print(`           the server sets ${name} = ${operandText(value)}`);
  if (explained.collection !== null) progress.print(`answer   items of ${explained.collection} that the role may read`);
  progress.print('SQL');
  printStatement(explained.statement, explained.parameters, progress);
  return true;
}

function bodyOf(data: string): JsonValue {
  try {
    return JSON.parse(data);
  } catch {
    throw new CommandError(exitCodes.usage, 'The body is no JSON.', 'Write --data as JSON.');
  }
}

async function explainReading(
  target: string,
  { schema, source, role, user }: RoleRequest,
  analyze: boolean,
  progress: Progress,
): Promise<boolean> {
  const api = readableApi(schema);
  const access = accessOf(api, role);
  const caller = await callerOf(schema, access, { role, user }, source);
  const { limits = {} } = boundsOf(process.env);
  const countRows = source === null ? undefined : (planned: PlannedRead) => countIn(source, planned);
  const explained = await onItems(
    target,
    explainRead(api, target, caller, { limits, ...(countRows && { countRows }) }),
  );
  const rules = await checkNamedRules({ api, caller, target }, rulesOf(access, target), source);
  if (explained.kind === 'refused') {
    const { code, message, reasons } = explained;
    progress.event('refused', { code, message, reasons });
    printRefusal(explained, progress);
    printRules(target, access, rules, progress);
    printPolicies(schema, { ...itemIn(target), action: 'read' }, progress);
    return false;
  }
  progress.event('read', {
    ...explained,
    accessClass: access.name,
    rules: rules.map(({ rule, ...outcome }) => ({ ...rule, ...outcome })),
  });
  printRules(target, access, rules, progress);
  printPolicies(schema, { ...itemIn(target), action: 'read' }, progress);
  printRead(explained, progress);
  const planned = planRead(api, target, caller, limits);
  if (source !== null) await printPlan(planned, schema, source, analyze, progress);
  return true;
}

/** Advice where the database has nothing to say. */
const hint = 'Set DATABASE_URL, or add --offline to plan over platform.schema.json.';

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;

type Method = (typeof methods)[number];

/** `GET /items/articles?fields=id`, of a read also without the method. */
function requestOf(request: string): { readonly method: Method; readonly target: string } {
  const [, word = 'GET', target = ''] = /^(?:([A-Za-z]+)\s+)?(\S.*)$/.exec(request.trim()) ?? [];
  const method = methods.find((candidate) => candidate === word.toUpperCase());
  if (method !== undefined && /^\/(?:items|functions)\//.test(target)) return { method, target };
  throw new CommandError(
    exitCodes.usage,
    'Only requests of items and functions can be explained: "GET /items/articles?fields=id".',
    'Methods are GET, POST, PATCH and DELETE; --data gives the body of a write.',
  );
}

function refuseOptions(method: Method, calls: boolean, { offline, analyze, data, rehearse }: ExplainOptions): void {
  const reads = method === 'GET';
  const wrong: readonly (readonly [boolean, string, string])[] = [
    [
      calls && (rehearse === true || analyze === true),
      'A call is planned, and never run.',
      'Leave --rehearse and --analyze out.',
    ],
    [reads && data !== undefined, 'A GET has no body.', 'Leave --data out.'],
    [reads && rehearse === true, 'Only writes are rehearsed.', 'A read is measured with --analyze.'],
    [!reads && analyze === true, 'A write is not measured, because it would run.', 'Run it with --rehearse.'],
    [offline === true && analyze === true, 'A read is measured in the database.', 'Leave --offline or --analyze out.'],
    [offline === true && rehearse === true, 'A rehearsal needs the database.', 'Leave --offline or --rehearse out.'],
  ];
  const found = wrong.find(([is]) => is);
  if (found !== undefined) throw new CommandError(exitCodes.usage, found[1], found[2]);
}

async function countIn(source: Source, { statement, parameters }: PlannedRead): Promise<number> {
  return (await source.read(statement, parameters)).length;
}

function rulesOf({ collections }: AccessClass, target: string): readonly AccessRule[] {
  return collections.find(({ collection }) => collection === itemIn(target).collection)?.read ?? [];
}

function printRules(target: string, access: AccessClass, rules: readonly CheckedRule[], progress: Progress): void {
  progress.print(`rules    of ${access.roles.join(', ')} for reading ${itemIn(target).collection}`);
  if (rules.length === 0) progress.print('           none');
  for (const [index, rule] of rules.entries()) {
    for (const line of ruleLines(rule, index, 'read')) progress.print(`           ${line}`);
  }
}

function printRead(read: ExplainedRead, progress: Progress): void {
  progress.print(`answer   ${read.many ? 'a list' : 'one item'}`);
  for (const line of read.answer) progress.print(`           ${line}`);
  progress.print('SQL');
  printStatement(read.statement, read.parameters, progress);
}
