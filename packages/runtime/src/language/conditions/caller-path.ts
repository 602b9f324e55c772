import { isSecret, types } from '../types/index.ts';
import type { ValueType } from '../values/value-type.ts';
import type { Operand } from './condition.ts';
import type { FilterNames, FilterProblem } from './filter-names.ts';

/** The collections whose rows stand for callers: `$CURRENT_USER.name` is a field of the first. */
export const callerCollections = { user: 'platform_users', role: 'platform_roles' } as const;

/** A value of the caller: their key, or what a path leads to from their row. */
export type CallerOperand = Extract<Operand, { kind: 'caller' }>;

/** Value of a path from the caller: its type, and `many` if the path passes a to-many relation or ends in an array. */
export interface CallerValue {
  readonly type: ValueType;
  readonly many: boolean;
}

/** Reason why a path leads nowhere. `name` is the step that was not found, in the collection where it was looked for. */
type BrokenPath = Pick<FilterProblem, 'stage' | 'message' | 'name'>;

/** The words of a path: `$CURRENT_USER.team.name`. */
function callerPathText({ of: subject, path }: CallerOperand): string {
  return [subject === 'user' ? '$CURRENT_USER' : '$CURRENT_ROLE', ...path].join('.');
}

/**
 * Follows a path that is not empty from the caller's row. Every step but the last is a relation, the last a field.
 *
 * Hidden and unknown names are one: the problem of the stage `name`.
 */
export function followCallerPath(names: FilterNames, operand: CallerOperand): CallerValue | BrokenPath {
  let collection: string = callerCollections[operand.of];
  let many = false;
  for (const step of operand.path.slice(0, -1)) {
    const relation = names.relation(collection, step);
    if (relation === undefined)
      return names.field(collection, step) ? noRelation(step) : lost(operand, collection, step);
    many ||= relation.kind !== 'm2o';
    collection = relation.target;
  }
  const last = operand.path.at(-1) ?? '';
  const field = names.field(collection, last);
  if (field === undefined) return names.relation(collection, last) ? noField(last) : lost(operand, collection, last);
  if (isSecret(field.type)) return lost(operand, collection, last);
  if (field.type !== 'array') return { type: field, many };
  return { type: { type: field.element ?? 'unknown', ...(field.values && { values: field.values }) }, many: true };
}

function lost(operand: CallerOperand, collection: string, name: string): BrokenPath {
  const message = `follows "${callerPathText(operand)}", where "${name}" does not exist`;
  return { stage: 'name', message, name: { collection, name } };
}

function noRelation(name: string): BrokenPath {
  return { stage: 'value', message: `follows a path through "${name}", which is no relation` };
}

function noField(name: string): BrokenPath {
  return { stage: 'value', message: `follows a path that ends at the relation "${name}"; name one of its fields` };
}

/** True if values of two types can be compared: texts with texts, numbers with numbers, else a type with itself. */
export function areComparable(first: Pick<ValueType, 'type'>, other: Pick<ValueType, 'type'>): boolean {
  const family = types[first.type].family;
  return family !== undefined && family === types[other.type].family;
}

/** Names that lead to a claim: `/app_metadata/teams` is `teams` within `app_metadata`. */
export function claimPath(name: string): readonly string[] {
  return name.startsWith('/') ? name.slice(1).split('/') : [name];
}
