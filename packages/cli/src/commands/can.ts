import { conditionText, operandText } from '@platform/compiler';
import { didYouMean } from '@platform/introspect';
import type { AccessClass, AccessRule, CollectionAccess, Condition, WriteRule } from '@platform/runtime';
import { CommandError, exitCodes, judging } from '../exit-codes.ts';
import { currentSchema } from '../explain/current-schema.ts';
import { type ItemQuestion, meets, partsOf } from '../explain/judge-rules.ts';
import { accessOf, callerOf, readableApi } from '../explain/role.ts';
import { type Progress, processProgress } from '../progress.ts';
import { loadProject } from '../project.ts';
import { connect, type Source } from '../source.ts';
import type { GlobalOptions } from './options.ts';

/** Options of `platform can`. */
export interface CanOptions extends GlobalOptions {
  /** Key of the user that `$CURRENT_USER` stands for; nobody when absent. */
  readonly user?: string;
}

const actions = ['read', 'create', 'update', 'delete'] as const;

type Action = (typeof actions)[number];

/** What one rule says, and of an item whether it meets it and which parts it does not meet. */
interface Judged {
  readonly rule: AccessRule | WriteRule;
  readonly holds: boolean | null;
  readonly failing: readonly string[];
}

/** `platform can ROLE ACTION COLLECTION [KEY]`: which rule allows it, and of an item which part of a rule does not. */
export async function can(
  role: string,
  action: string,
  collection: string,
  key: string | undefined,
  options: CanOptions,
): Promise<void> {
  const progress = processProgress(options);
  const allowed = await judging(() => answer({ role, action: actionOf(action), collection, key }, options, progress));
  if (!allowed) process.exitCode = exitCodes.invalid;
}

interface Question {
  readonly role: string;
  readonly action: Action;
  readonly collection: string;
  readonly key: string | undefined;
}

async function answer(question: Question, options: CanOptions, progress: Progress): Promise<boolean> {
  const { role, action, collection, key } = question;
  if (action === 'create' && key !== undefined) {
    throw new CommandError(exitCodes.usage, 'An item that is created has no key yet.', 'Leave the key out.');
  }
  const project = await loadProject(options.project);
  const source = key === undefined ? null : await connect(project, progress);
  try {
    const schema = await currentSchema(project, progress, source ?? undefined);
    const api = readableApi(schema);
    const access = accessOf(api, role);
    const descriptor = api.collections.find(({ name }) => name === collection);
    if (descriptor === undefined) throw unknownCollection(collection, api.collections);
    const rules = rulesOf(access, collection, action);
    const caller = await callerOf(schema, access, { role, user: options.user ?? null }, source);
    const item: ItemQuestion = { api, caller, collection, key: key ?? null };
    const judged = source === null ? rules.map(unjudged) : await judgeAll(item, rules, source);
    if (judged === null) throw new CommandError(exitCodes.usage, `There is no item "${key}" in ${collection}.`);
    return tell(question, access, judged, progress);
  } finally {
    await source?.close();
  }
}

function unjudged(rule: AccessRule | WriteRule): Judged {
  return { rule, holds: null, failing: [] };
}

/** Null when there is no such item. */
async function judgeAll(
  item: ItemQuestion,
  rules: readonly (AccessRule | WriteRule)[],
  source: Source,
): Promise<readonly Judged[] | null> {
  if (!(await meets(item, { kind: 'and', of: [] }, source))) return null;
  const judged: Judged[] = [];
  for (const rule of rules) {
    const holds = await meets(item, rule.where, source);
    const failing = holds ? [] : await failingParts(item, rule.where, source);
    judged.push({ rule, holds, failing });
  }
  return judged;
}

async function failingParts(item: ItemQuestion, where: Condition, source: Source): Promise<readonly string[]> {
  const failing: string[] = [];
  for (const part of partsOf(where)) {
    if (!(await meets(item, part, source))) failing.push(conditionText(part));
  }
  return failing;
}

function tell(
  { role, action, collection, key }: Question,
  access: AccessClass,
  judged: readonly Judged[],
  progress: Progress,
): boolean {
  const allowed = judged.some(({ holds }) => holds !== false);
  const what = `${action} ${collection}${key === undefined ? '' : ` ${key}`}`;
  progress.event('answer', {
    role,
    action,
    collection,
    key: key ?? null,
    allowed,
    accessClass: access.name,
    rules: judged.map(({ rule, holds, failing }) => ({ ...rule, holds, failing })),
  });
  progress.say(`${allowed ? 'Yes' : 'No'}: ${role} may ${allowed ? '' : 'not '}${what}.`);
  if (judged.length === 0) progress.say(`  No rule of ${role} is about ${action} of ${collection}.`);
  for (const [index, one] of judged.entries()) {
    for (const line of ruleLines(one, index, action)) progress.say(`  ${line}`);
  }
  return allowed;
}

function ruleLines({ rule, holds, failing }: Judged, index: number, action: Action): readonly string[] {
  const verdict = holds === null ? '' : holds ? ': it allows this item' : ': it does not reach this item';
  return [
    `rule ${index + 1}${verdict}`,
    ...(action === 'delete' ? [] : [`  fields: ${rule.fields.join(', ')}`]),
    ...(action === 'create' ? [] : [`  rows: ${conditionText(rule.where)}`]),
    ...writeLines(rule, action),
    ...failing.map((part) => `  does not hold: ${part}`),
  ];
}

function writeLines(rule: AccessRule | WriteRule, action: Action): readonly string[] {
  if (!('check' in rule)) return [];
  const written = rule.check === null ? (action === 'create' ? null : rule.where) : rule.check;
  return [
    ...(written === null ? [] : [`  written rows: ${conditionText(written)}`]),
    ...rule.presets.map(({ field, value }) => `  sets ${field} to ${operandText(value)}`),
  ];
}

function rulesOf(access: AccessClass, collection: string, action: Action): readonly (AccessRule | WriteRule)[] {
  const own: CollectionAccess | undefined = access.collections.find((one) => one.collection === collection);
  return own?.[action] ?? [];
}

function actionOf(text: string): Action {
  const found = actions.find((action) => action === text);
  if (found !== undefined) return found;
  throw new CommandError(exitCodes.usage, `"${text}" is no action.`, `Actions are ${actions.join(', ')}.`);
}

function unknownCollection(name: string, known: readonly { readonly name: string }[]): CommandError {
  const nearest = didYouMean(
    name,
    known.map((one) => one.name),
  );
  const hint = nearest === null ? null : `Did you mean "${nearest}"?`;
  return new CommandError(exitCodes.usage, `There is no collection "${name}".`, hint);
}
