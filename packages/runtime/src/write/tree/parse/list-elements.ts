/** The value under a to-many relation. Source: API specification, 7.3 and 7.4; `docs/decisions/writes.md`. */

import { type FilterObject, isObject } from '../../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../../language/index.ts';
import { isList } from '../../../language/values/parse-text.ts';

/** One element: its value, and the action that its position demands; `upsert` and arrays demand none. */
export interface ListElement {
  readonly value: JsonValue;
  readonly form: 'any' | 'create' | 'update';
  /** The way to it from the relation: `[2]`, `.create[0]`. */
  readonly at: string;
}

/** The parts of a value. */
interface ParsedElements {
  readonly complete: boolean;
  readonly members: readonly ListElement[];
  readonly removed: readonly JsonValue[];
}

/** Reads a value; undefined for one of another form. */
export function readMembers(value: JsonValue): ParsedElements | undefined {
  if (value === null) return { complete: true, members: [], removed: [] };
  if (isList(value)) {
    const members = value.map((element, index): ListElement => ({ value: element, form: 'any', at: `[${index}]` }));
    return members.every((member) => isMember(member)) ? { complete: true, members, removed: [] } : undefined;
  }
  return isObject(value) ? readChanges(value) : undefined;
}

function readChanges(value: FilterObject): ParsedElements | undefined {
  const { create = [], update = [], upsert = [], delete: removed = [], ...others } = value;
  if (Object.keys(others).length > 0 || !isList(create) || !isList(update) || !isList(upsert) || !isList(removed)) {
    return undefined;
  }
  const members = [
    ...membersOf(create, 'create', 'create'),
    ...membersOf(update, 'update', 'update'),
    ...membersOf(upsert, 'any', 'upsert'),
  ];
  const objects = members.every((member) => isObject(member.value));
  return objects && removed.every((key) => key !== null) ? { complete: false, members, removed } : undefined;
}

function membersOf(values: readonly JsonValue[], form: ListElement['form'], under: string): readonly ListElement[] {
  return values.map((value, index) => ({ value, form, at: `.${under}[${index}]` }));
}

function isMember({ value }: ListElement): boolean {
  return value !== null && !isList(value);
}
