/**
 * Nested writes of a form that was planned before. They are new items with lists of new items, whose objects have the
 * same names in the same order. They are read straight into columns. Anything that differs from that form, or is wrong,
 * is left to the generic path.
 */

import type { FilterObject } from '../../../language/conditions/filter-syntax.ts';
import { isObject } from '../../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../../language/index.ts';
import { findOrCreate } from '../../../language/values/once.ts';
import { isList } from '../../../language/values/parse-text.ts';
import type { ReadPlan } from '../../../query/plan/plan.ts';
import {
  type Granted,
  grantFor,
  type WritableCollection,
  type WritableField,
  type WriteScope,
} from '../../../write/access/scope.ts';
import type { BatchColumn } from '../../../write/decode/batch.ts';
import { decodeInput } from '../../../write/decode/decode.ts';
import type { Returning } from '../../../write/returning.ts';
import type { Children, Group } from '../../../write/tree/parse/group.ts';
import type { WriteContext } from '../../../write/write-plan.ts';
import type { InsertTree, TreePlan } from './plan-tree.ts';
import type { ReturnedGroup } from './returned-rows.ts';

/** A tree that can be made by a plan as it stands. */
export interface KnownTree {
  readonly make: InsertTree;
  readonly plan: TreePlan;
  readonly groups: readonly ReturnedGroup[];
  readonly count: number;
}

export interface PlannedGroup {
  readonly group: Group;
  readonly granted: Granted;
  readonly columns: readonly BatchColumn[];
  /** The positions of the groups whose keys its items hold. */
  readonly holds: readonly number[];
}

interface Form {
  readonly plan: TreePlan;
  readonly make: InsertTree;
  /** The position of the items at the top among the groups. */
  readonly at: number;
  readonly groups: readonly FormGroup[];
}

interface FormGroup {
  readonly granted: Granted;
  readonly names: readonly string[];
  /** Meaning of each name. */
  readonly parts: readonly Part[];
  readonly columns: readonly Pick<BatchColumn, 'field' | 'linked'>[];
  readonly holds: readonly number[];
}

type Part =
  /** `plain`: an object would be an item. */
  | { readonly kind: 'field'; readonly column: number; readonly field: WritableField; readonly plain: boolean }
  | { readonly kind: 'list'; readonly place: number };

/** By planned answers, which belong to one query of one access class: the forms by what `formName` calls them. */
const forms = new WeakMap<ReadPlan, Map<string, Form>>();

/** Clients have few; more are not worth the memory. */
const maxForms = 32;

/** Keeps the form of a tree that was planned, so that the next one like it is read by it. */
export function rememberTree(
  { scope }: Pick<WriteContext, 'scope'>,
  { plan: read }: Returning,
  plan: TreePlan,
  planned: readonly PlannedGroup[],
  root: Group,
): void {
  const byName = findOrCreate(forms, read, () => new Map<string, Form>());
  const payload = root.nodes[0]?.sources[0];
  const name = payload && formName(payload);
  if (name === undefined || byName.has(name) || byName.size >= maxForms) return;
  const groups = planned.map((group) => formOf(scope, group, planned));
  const complete = groups.flatMap((group) => group ?? []);
  const index = planned.findIndex(({ group }) => group === root);
  if (plan.make !== undefined && complete.length === groups.length) {
    byName.set(name, { plan, make: plan.make, at: index, groups: complete });
  }
}

/** The names at the top, and of lists whether they hold something. */
function formName(payload: FilterObject): string {
  let name = '';
  for (const key of Object.keys(payload)) {
    const value = payload[key];
    name += Array.isArray(value) ? `${key}[${Math.min(value.length, 1)}]\n` : `${key}\n`;
  }
  return name;
}

/** Undefined where more than values tells what is done with its items. */
function formOf(
  { read }: WriteScope,
  { group, granted, columns, holds }: PlannedGroup,
  planned: readonly PlannedGroup[],
): FormGroup | undefined {
  const { nodes, writable, before, sort, children } = group;
  const { descriptor, relations } = writable.collection;
  const names = Object.keys(nodes[0]?.sources[0] ?? {});
  const isPlain = nodes.every(({ key, sources }) => key === null && sources.length === 1);
  // A key that is said may be that of another item; and what is hashed takes its time.
  const isKeyed = names.some((name) => descriptor.key.includes(name));
  // Links of a many-to-any name a collection that the relation must allow.
  if (writable.links !== undefined) return undefined;
  if (!isPlain || isKeyed || before.length > 0 || sort !== undefined) return undefined;
  if (granted.grant !== granted.all || columns.some(({ field }) => field.descriptor.type === 'hash')) return undefined;
  const parts = names.flatMap((name): readonly Part[] => {
    const edge = children.find(({ relation }) => relation.name === name);
    if (edge !== undefined) return isWholeList(edge) ? [{ kind: 'list', place: placeOf(planned, edge) }] : [];
    const column = columns.findIndex(({ field }) => field.descriptor.name === name);
    const field = columns[column]?.field;
    const target = relations.get(name)?.descriptor.target;
    // A caller who may read nothing of a collection may name none of its keys.
    const isHidden = target !== undefined && !read.collections.has(target);
    return field === undefined || isHidden ? [] : [{ kind: 'field', column, field, plain: target !== undefined }];
  });
  const isWhole = parts.length === names.length && columns.every(({ present }) => present === null);
  // Without the values of the request.
  const kept = columns.map(({ field, linked }) => ({ field, linked }));
  return isWhole ? { granted, names, parts, columns: kept, holds } : undefined;
}

function isWholeList({ relation, members }: Children): boolean {
  return relation.kind === 'o2m' && members.every(({ complete }) => complete);
}

function placeOf(planned: readonly PlannedGroup[], edge: Children): number {
  return planned.findIndex(({ group }) => group === edge.group);
}

/** Reads new items at the top by a form that is known; undefined where there is none, or they are not quite of it. */
export function readKnownTree(
  { caller, maxItems }: Pick<WriteContext, 'caller' | 'maxItems'>,
  writable: WritableCollection,
  payloads: readonly FilterObject[],
  { plan: read }: Returning,
): KnownTree | undefined {
  const [first] = payloads;
  const form = first && forms.get(read)?.get(formName(first));
  if (form === undefined || form.groups[form.at]?.granted.writable !== writable) return undefined;
  const isGranted = form.groups.every(({ granted: { writable: collection, grant, all } }) => {
    return grantFor(collection, all, caller) === grant;
  });
  if (!isGranted) return undefined;
  const reading = startReading(form);
  if (!payloads.every((payload) => readItem(reading, form.at, payload))) return undefined;
  const count = reading.counts.reduce((sum, size) => sum + size, 0);
  if (maxItems !== null && count > maxItems) return undefined;
  return { make: form.make, plan: form.plan, groups: finish(reading), count };
}

interface Reading {
  readonly groups: readonly FormGroup[];
  readonly counts: number[];
  /** By groups and columns. */
  readonly values: readonly (readonly (string | null)[][])[];
  /** By groups and the keys that their items hold. */
  readonly places: readonly (readonly number[][])[];
}

function startReading({ groups }: Form): Reading {
  return {
    groups,
    counts: groups.map(() => 0),
    values: groups.map(({ columns }) => columns.map(() => [])),
    places: groups.map(({ holds }) => holds.map(() => [])),
  };
}

/** Reads an item with those below it; false where it is not of the form. */
function readItem(reading: Reading, index: number, payload: JsonValue): boolean {
  const group = reading.groups[index];
  if (group === undefined || !isObject(payload)) return false;
  const node = reading.counts[index] ?? 0;
  reading.counts[index] = node + 1;
  let position = 0;
  for (const name in payload) {
    if (name !== group.names[position]) return false;
    const part = group.parts[position++];
    const value = payload[name];
    if (part === undefined || value === undefined || !readPart(reading, index, node, part, value)) return false;
  }
  return position === group.names.length;
}

function readPart(reading: Reading, index: number, node: number, part: Part, value: JsonValue): boolean {
  if (part.kind === 'list') return readList(reading, index, node, part.place, value);
  if (part.plain && typeof value === 'object' && value !== null) return false;
  const decoded = decodeInput(part.field.descriptor, value, true);
  if (!decoded.ok || 'unchanged' in decoded) return false;
  reading.values[index]?.[part.column]?.push(decoded.value);
  return true;
}

function readList(reading: Reading, index: number, node: number, below: number, value: JsonValue): boolean {
  const held = reading.places[below]?.[reading.groups[below]?.holds.indexOf(index) ?? -1];
  // An empty list makes another tree.
  if (!isList(value) || value.length === 0 || held === undefined) return false;
  for (const item of value) {
    held.push(node + 1);
    if (!readItem(reading, below, item)) return false;
  }
  return true;
}

/** Values that the server fills in are null until then. */
function finish({ groups, counts, values, places }: Reading): readonly ReturnedGroup[] {
  return groups.map(({ columns }, index) => {
    const count = counts[index] ?? 0;
    const read = columns.map((column, position): BatchColumn => {
      const elements = values[index]?.[position] ?? [];
      return {
        ...column,
        values: elements.length === count ? elements : new Array<null>(count).fill(null),
        present: null,
      };
    });
    return { batch: { count, columns: read }, places: places[index] ?? [] };
  });
}
