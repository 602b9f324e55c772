/** Prints the policies of the database that hold beside the rules of a collection, where callers are passed on. */
import type { Policy, Schema } from '@tablewright/introspect/schema';
import type { Progress } from '../terminal/progress.ts';
import type { RuledAction } from './offered.ts';

/** Actions as policies call them. */
const commands = { read: 'select', create: 'insert', update: 'update', delete: 'delete' } as const;

/** A collection, and what is done with it. */
export interface PolicyQuestion {
  readonly collection: string;
  readonly action: RuledAction;
}

/** Policies about an action, as lines; null where callers are not passed on or the table has none. */
export function policyLines(
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
