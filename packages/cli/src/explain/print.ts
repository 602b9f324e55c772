/** Prints plans, rules and policies of the database as lines for people. */
import { conditionText, operandText } from '@tablewright/compiler';
import { visible } from '@tablewright/introspect';
import type { Policy, Schema } from '@tablewright/introspect/schema';
import type { AccessRule, CompiledApi, Parameter, WriteRule } from '@tablewright/runtime';
import type { SentStatement } from '@tablewright/runtime/explain';
import { printTable } from '@tablewright/runtime/language';
import { sources } from '../sources/dialects.ts';
import { type MissingIndex, tablesByName } from '../sources/missing-index.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';
import type { CheckedRule } from './check-rules.ts';

/** Prints how the database would run a statement, and the indexes that it lacks; with `analyze` the statement runs. */
export async function printPlan(
  { statement, parameters }: SentStatement,
  schema: Schema,
  source: Source,
  analyze: boolean,
  progress: Progress,
): Promise<void> {
  const { explain, missingIndexes } = await sources[source.family].commands();
  const lines = await explain(source, statement, parameters, analyze);
  const found = await missingIndexes(source, statement, parameters, tablesByName(schema));
  const missing = found.map((index) => ({ ...index, table: printTable(schema.dialect, index.table) }));
  progress.event('plan', { lines, missingIndexes: missing });
  progress.print(`plan     of ${source.label}`);
  for (const line of lines) progress.print(`           ${line}`);
  progress.print(`indexes  ${missing.length === 0 ? 'every condition can use one' : 'none fits'}`);
  for (const index of missing) progress.print(`           ${missingText(index)}`);
}

function missingText({ table, condition, columns }: MissingIndex): string {
  const advice = columns.length === 0 ? '' : `; consider one on (${columns.join(', ')})`;
  return `${table}: ${condition}${advice}`;
}

export function printStatement(text: string, parameters: readonly Parameter[], progress: Progress): void {
  for (const line of text.split('\n')) progress.print(`           ${line}`);
  for (const [index, value] of parameters.entries()) {
    progress.print(`           $${index + 1} = ${value === null ? 'NULL' : JSON.stringify(value)}`);
  }
}

type AnyRule = AccessRule & Partial<WriteRule>;

/** A rule, with the verdict on an item; `place` counts from 0. `usable`: the rule applies to the caller at all. */
export function ruleLines(
  { rule, holds, failing, usable = true }: CheckedRule<AnyRule> & { readonly usable?: boolean },
  index: number,
  action: string,
): readonly string[] {
  const verdict = holds === null ? '' : holds ? ': it allows this item' : ': it does not reach this item';
  return [
    `rule ${index + 1}${verdict}`,
    ...(action === 'delete' ? [] : [`  fields: ${rule.fields.join(', ')}`]),
    ...(action === 'create' ? [] : [`  rows: ${conditionText(rule.where)}`]),
    ...(action === 'delete' && rule.purge ? ['  also for good, with purge=true'] : []),
    ...writeLines(rule, action),
    ...failing.map((part) => `  does not hold: ${part}`),
    ...(usable ? [] : ['  does not count: a value that it sets needs a user or a role']),
  ];
}

function writeLines({ check, where, presets }: AnyRule, action: string): readonly string[] {
  if (action !== 'create' && action !== 'update') return [];
  const written = check ?? (action === 'create' ? null : where);
  return [
    ...(written === null ? [] : [`  written rows: ${conditionText(written)}`]),
    ...(presets ?? []).map(({ field, value }) => `  sets ${field} to ${operandText(value)}`),
  ];
}

/** Actions as policies call them. */
const commands = { read: 'select', create: 'insert', update: 'update', delete: 'delete' } as const;

/** A collection, and what is done with it. */
interface PolicyQuestion {
  readonly collection: string;
  readonly action: RuledAction;
}

/** Policies about an action, as lines; null where callers are not passed on or the table has none. */
function policyLines(
  { rowSecurity, collections, tables }: Schema,
  { collection, action }: PolicyQuestion,
): readonly string[] | null {
  const id = collections.find(({ name }) => name === collection)?.table;
  const { enabled, policies = [] } = tables.find((table) => table.id === id)?.rowSecurity ?? { enabled: false };
  if (rowSecurity === undefined || !enabled) return null;
  const about = policies.filter(({ command }) => command === 'all' || command === commands[action]);
  return about.length === 0 ? ['none: the database shows and takes no row'] : about.map(policyLine);
}

function policyLine({ name, permissive, roles, using, check }: Policy): string {
  const conditions = [using === null ? '' : ` using ${using}`, check === null ? '' : ` with check ${check}`].join('');
  return `${name}${permissive ? '' : ' (restrictive)'} for ${roles.join(', ')}:${conditions}`;
}

/** Prints them as a part of an explanation. */
export function printPolicies(schema: Schema, question: PolicyQuestion, progress: Progress): void {
  const lines = policyLines(schema, question);
  if (lines === null) return;
  progress.event('policies', { ...question, policies: lines });
  progress.print('policies of the database, under the claims and the role of the caller');
  for (const line of lines) progress.print(`           ${line}`);
}

export type RuledAction = 'read' | 'create' | 'update' | 'delete';

/** Reason why an action is impossible for every caller; null if it is possible. */
export function notOffered(
  { collections, routes }: Pick<CompiledApi, 'collections' | 'routes'>,
  collection: string,
  action: RuledAction,
): string | null {
  const descriptor = collections.find(({ name }) => name === collection);
  // The platform's own collections have routes of their own.
  if (descriptor === undefined || descriptor.system === true || action === 'read') return null;
  if (descriptor.key.length === 0) return `"${collection}" has no key: it can only be listed.`;
  if (descriptor.singleton && action === 'delete') return `"${collection}" is a singleton, which cannot be deleted.`;
  // The one object of a singleton is made by its first change.
  const operation = descriptor.singleton ? 'update' : action;
  const isRouted = routes.some((route) => route.collection.name === collection && route.operation === operation);
  if (!isRouted) return `The database does not allow to ${action} rows of "${collection}".`;
  const unwritten = descriptor.fields.find(
    (field) => field.type === 'unknown' && !field.nullable && field.filled === undefined,
  );
  if (action !== 'create' || unwritten === undefined) return null;
  return `"${unwritten.name}" must be given, and no request writes its type.`;
}

/** Prints lines in which no name, value or plan can move the cursor of a terminal or turn the direction of its text. */
export function visibly(progress: Progress): Progress {
  return { ...progress, print: (line) => progress.print(visible(line)) };
}
