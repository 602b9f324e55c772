import { operandText } from '@tablewright/compiler';
import { didYouMean } from '@tablewright/introspect';
import type { AccessClass, AccessRule, Caller, CollectionAccess, WriteRule } from '@tablewright/runtime';
import { canPreset } from '@tablewright/runtime/explain';
import type { CollectionDescriptor } from '@tablewright/runtime/language';
import { CommandError, checking, exitCodes } from '../errors/failures.ts';
import { type CheckedRule, checkRules, type ItemQuestion, unchecked } from '../explain/check-rules.ts';
import { notOffered, printPolicies, type RuledAction, ruleLines, visibly } from '../explain/print.ts';
import { accessOf, callerOf, currentSchema, writableApi } from '../explain/role.ts';
import { loadProject } from '../project/project.ts';
import { connectPresent } from '../sources/connect.ts';
import type { Source } from '../sources/source.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';

export interface CanOptions extends GlobalOptions {
  /** Key of the user that `$CURRENT_USER` stands for; no user when absent. */
  readonly user?: string;
}

const actions = ['read', 'create', 'update', 'delete'] as const;

/** `platform can ROLE ACTION COLLECTION [KEY]`: which rule allows it, and of an item which part of a rule does not. */
export async function can(
  role: string,
  action: string,
  collection: string,
  key: string | undefined,
  options: CanOptions,
): Promise<void> {
  const progress = processProgress(options);
  const allowed = await checking(() =>
    action === 'call'
      ? checkCall(role, collection, options, progress)
      : check({ role, action: actionOf(action), collection, key }, options, progress),
  );
  if (!allowed) process.exitCode = exitCodes.invalid;
}

const hiddenByPolicies = 'The policies of the database hide the item.';

/** `platform can ROLE call FUNCTION`. */
async function checkCall(role: string, name: string, options: CanOptions, progress: Progress): Promise<boolean> {
  const project = await loadProject(options.project);
  const { functions = [], access: classes, ...api } = writableApi(await currentSchema(project, progress));
  const access = accessOf({ ...api, access: classes }, role);
  if (!functions.some((called) => called.name === name)) throw unknownName('function', name, functions);
  const right = access.functions?.find((candidate) => candidate.function === name);
  const args = right?.args ?? [];
  // Without a connection the key of the role is not known, which it has all the same.
  const subjects = { user: options.user ?? null, role: role === 'public' ? null : role };
  const lacking = args.filter(({ value }) => value.kind === 'caller' && subjects[value.of] === null);
  const allowed = right !== undefined && lacking.length === 0;
  const output = visibly(progress);
  output.event('answer', { role, action: 'call', function: name, allowed, accessClass: access.name, args });
  output.print(`${allowed ? 'Yes' : 'No'}: ${role} may ${allowed ? '' : 'not '}call ${name}.`);
  if (right === undefined)
    output.print(`  The section "functions" of the permissions names it for no role of ${access.name}.`);
  if (lacking.length > 0)
    output.print('  It does not count: a value that the server sets needs a user (--user) or a role.');
  for (const argument of args) output.print(`  The server sets ${argument.name} = ${operandText(argument.value)}.`);
  return allowed;
}

interface Question {
  readonly role: string;
  readonly action: RuledAction;
  readonly collection: string;
  readonly key: string | undefined;
}

async function check(question: Question, options: CanOptions, progress: Progress): Promise<boolean> {
  const { role, action, collection, key } = question;
  if (action === 'create' && key !== undefined) {
    throw new CommandError(exitCodes.usage, 'An item that is created has no key yet.', 'Leave the key out.');
  }
  const project = await loadProject(options.project);
  // Rules that the tables hold are those of a server; the file may say otherwise.
  const hasDetails = key !== undefined || project.config.permissionSource === 'tables';
  const source = hasDetails ? await connectPresent(project, progress) : null;
  try {
    const schema = await currentSchema(project, progress, source ?? undefined);
    const api = writableApi(schema);
    const access = accessOf(api, role);
    const descriptor = api.collections.find(({ name }) => name === collection);
    if (descriptor === undefined) throw unknownName('collection', collection, api.collections);
    if (key !== undefined) refuseKey(descriptor);
    const rules = rulesOf(access, collection, action);
    const caller = await callerOf(schema, access, { role, user: options.user ?? null }, source);
    const item: ItemQuestion = { api, caller, collection, key: key ?? null };
    const checkedRules =
      source === null || key === undefined ? rules.map(unchecked) : await checkRules(item, rules, source);
    const isHidden = checkedRules === null && source !== null && (await isThereForServer(item, source));
    if (checkedRules === null && !isHidden) throw unknownItem(collection, key, descriptor.key);
    const usable = (checkedRules ?? rules.map(unchecked)).map((checkedRule) => ({
      ...checkedRule,
      usable: isUsable(checkedRule.rule, caller),
    }));
    const impossible = isHidden ? hiddenByPolicies : notOffered(api, collection, action);
    const output = visibly(progress);
    const allowed = printAnswer(question, access, usable, impossible, output);
    printPolicies(schema, question, output);
    return allowed;
  } finally {
    await source?.close();
  }
}

/** True if the item exists and a policy hides it: the server itself sees it, under no caller's settings. */
async function isThereForServer(item: ItemQuestion, source: Source): Promise<boolean> {
  const { rowContext, ...caller } = item.caller;
  return rowContext !== undefined && (await checkRules({ ...item, caller }, [], source)) !== null;
}

/** A rule whose values need a user or a role that is not there is none. */
function isUsable(rule: AccessRule | WriteRule, caller: Caller): boolean {
  return !('presets' in rule) || canPreset(rule, caller);
}

interface Answered extends CheckedRule {
  readonly usable: boolean;
}

function printAnswer(
  { role, action, collection, key }: Question,
  access: AccessClass,
  checkedRules: readonly Answered[],
  impossible: string | null,
  progress: Progress,
): boolean {
  const allowed = impossible === null && checkedRules.some(({ holds, usable }) => holds !== false && usable);
  const what = `${action} ${collection}${key === undefined ? '' : ` ${key}`}`;
  progress.event('answer', {
    role,
    action,
    collection,
    key: key ?? null,
    allowed,
    accessClass: access.name,
    impossible,
    rules: checkedRules.map(({ rule, ...outcome }) => ({ ...rule, ...outcome })),
  });
  progress.print(`${allowed ? 'Yes' : 'No'}: ${role} may ${allowed ? '' : 'not '}${what}.`);
  if (impossible !== null) progress.print(`  ${impossible === hiddenByPolicies ? '' : 'No role may: '}${impossible}`);
  if (checkedRules.length === 0) progress.print(`  No rule of ${role} is about ${action} of ${collection}.`);
  for (const [index, checkedRule] of checkedRules.entries()) {
    for (const line of ruleLines(checkedRule, index, action)) progress.print(`  ${line}`);
  }
  return allowed;
}

function rulesOf(access: AccessClass, collection: string, action: RuledAction): readonly (AccessRule | WriteRule)[] {
  const collectionAccess: CollectionAccess | undefined = access.collections.find(
    (candidate) => candidate.collection === collection,
  );
  return collectionAccess?.[action] ?? [];
}

function actionOf(text: string): RuledAction {
  const found = actions.find((action) => action === text);
  if (found !== undefined) return found;
  throw new CommandError(exitCodes.usage, `"${text}" is no action.`, `Actions are ${[...actions, 'call'].join(', ')}.`);
}

function unknownItem(collection: string, key: string | undefined, fields: readonly string[]): CommandError {
  const hint = fields.length > 1 ? `A key is a value for each of ${fields.join(', ')}, with commas between.` : null;
  return new CommandError(exitCodes.usage, `There is no item "${key}" in ${collection}.`, hint);
}

/** No address names one of these by a key. */
function refuseKey({ name, key, singleton }: CollectionDescriptor): void {
  if (key.length > 0 && !singleton) return;
  const reason = singleton
    ? 'is a singleton: there is one object, without a key.'
    : 'has no key: it can only be listed.';
  throw new CommandError(exitCodes.usage, `"${name}" ${reason}`, 'Leave the key out.');
}

function unknownName(kind: string, name: string, all: readonly { readonly name: string }[]): CommandError {
  const nearest = didYouMean(
    name,
    all.map((candidate) => candidate.name),
  );
  const hint = nearest === null ? null : `Did you mean "${nearest}"?`;
  return new CommandError(exitCodes.usage, `There is no ${kind} "${name}".`, hint);
}
