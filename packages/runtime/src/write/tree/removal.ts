/** Steps of trees: of items as payloads tell these, and of items that leave a relation. Source: API specification, section 7.5. */
import { PlatformError } from '../../errors.ts';
import { failedValidation, type Place, placesIn } from '../../json/problems.ts';
import { arrayLiteral, type ColumnPair, pairsBesideTenant } from '../../language/index.ts';
import { readElements } from '../../sql/array-text.ts';
import { grantFor, type WritableCollection } from '../access/scope.ts';
import type { Written } from '../checks/check.ts';
import type { Removal } from '../checks/presets.ts';
import { type Batch, createBatch } from '../decode/batch.ts';
import type { Keys } from '../decode/keys.ts';
import type { Running, Step } from '../execute/running.ts';
import { findsAll, runStep } from '../execute/step.ts';
import { explainViolation } from '../execute/violation.ts';
import { deletePlan } from '../plan/plans.ts';
import { namesOf, prepareStep, type WriteContext } from '../write-plan.ts';
import { type DecodedStep, type Group, holdersOf, isEmptied, itemId, type KeyTexts } from './parse/group.ts';
import { madeLinks } from './resolve/references.ts';
import { areDecided, checkEarlierSteps, noteLinks, placesOf, type Writing } from './writing.ts';

export function keysOfRows(rows: readonly KeyTexts[]): Keys {
  const [only, ...more] = rows;
  if (only !== undefined && more.length === 0) return { count: 1, many: false, values: only };
  const parts = only?.length ?? 0;
  const values = Array.from({ length: parts }, (_, part) => arrayLiteral(rows.map((row) => row[part] ?? null)));
  return { count: rows.length, many: true, values };
}

/** The keys of items, one by one. */
export function rowsOfKeys({ many, values }: Keys): readonly KeyTexts[] {
  if (!many) return [values];
  const columns = values.map(readElements);
  return (columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? ''));
}

/** Deletes or archives items. Throws FORBIDDEN where the caller may not. */
export async function deleteRows(
  { running, context }: Writing,
  writable: WritableCollection | undefined,
  rows: readonly KeyTexts[],
  location: Place,
): Promise<void> {
  if (rows.length === 0) return;
  if (writable?.delete === undefined) throw new PlatformError('FORBIDDEN');
  try {
    await runDelete(context, writable, { rules: writable.delete, purge: false }, running, keysOfRows(rows), false);
  } catch (error) {
    throw explainViolation(error, [affectedConstraint(writable, context.scope, location)]);
  }
}

/** Looks for items to delete before anything is written, unless other steps decide which may be. Throws as `deleteRows`. */
export async function findDeleted(
  writing: Writing,
  writable: WritableCollection | undefined,
  rows: readonly KeyTexts[],
): Promise<void> {
  if (rows.length === 0) return;
  if (writable?.delete === undefined) throw new PlatformError('FORBIDDEN');
  if (areDecided(writing, writable, writable.delete)) return;
  const step = deleteStep(writing.context, writable, { rules: writable.delete, purge: false }, keysOfRows(rows), false);
  if (!(await findsAll(writing.running, step))) throw new PlatformError('FORBIDDEN');
}

function affectedConstraint(
  { collection }: WritableCollection,
  scope: Writing['context']['scope'],
  { path }: Place,
): Parameters<typeof explainViolation>[1][number] {
  return { scope, collection, names: new Set(), writable: new Set(), ...(path !== undefined && { path }) };
}

/** Takes the key of the item above from items. */
export async function unlinkRows(
  writing: Writing,
  writable: WritableCollection,
  on: readonly ColumnPair[],
  rows: readonly KeyTexts[],
  location: Place,
): Promise<void> {
  if (rows.length === 0) return;
  const { running, context, done } = writing;
  const step = unlinkStep(writing, writable, on, rows, location);
  await checkEarlierSteps(writing, writable, grantFor(writable, writable.update, context.caller)?.rules ?? []);
  try {
    const unlinked = await runStep(running, step);
    done.push(unlinked);
    noteLinks(writing, unlinked, () => rows.map((key) => itemId(writable.collection.descriptor.name, key)));
  } catch (error) {
    throw explainViolation(error, [affectedConstraint(writable, context.scope, location)]);
  }
}

/** The step that takes the key of the item above from items. Throws where the caller may not. */
export function unlinkStep(
  { context, collections }: Writing,
  writable: WritableCollection,
  on: readonly ColumnPair[],
  rows: readonly KeyTexts[],
  location: Place,
): Step {
  const all = writable.update;
  const grant = grantFor(writable, all, context.caller);
  const fields = unlinkable(writable, on).map((name) => grant?.fields.get(name));
  if (all === undefined || grant === undefined) throw new PlatformError('FORBIDDEN');
  const { descriptor } = writable.collection;
  if (fields.length === 0) {
    if (emptiedFields(writable, on).some((name) => !grant.listed.has(name))) {
      throw new PlatformError('FORBIDDEN');
    }
    throw failedValidation(
      { ...location, collection: descriptor.name },
      null,
      'required',
      'cannot lose an item that needs this link, unless "onDeselect" of the relation is "delete"',
    );
  }
  const builder = createBatch(descriptor);
  for (const field of fields) {
    if (field === undefined) throw new PlatformError('FORBIDDEN');
    builder.set(0, field, null);
  }
  const granted = { writable, grant, all };
  const placeOf = () => ({ ...location, collection: descriptor.name });
  const step = prepareStep(context, granted, 'update', builder.finish(1), 'shared', { placeOf, collections });
  return { ...step, keys: keysOfRows(rows), lenient: false };
}

/** Fields of a foreign key that can be null. */
export function unlinkable(writable: WritableCollection, on: readonly ColumnPair[]): readonly string[] {
  return emptiedFields(writable, on).filter((name) => isEmptied(writable, name));
}

function emptiedFields({ collection }: WritableCollection, on: readonly ColumnPair[]): readonly string[] {
  return holdersOf(collection, pairsBesideTenant(collection.descriptor, on, 'to'), 'to');
}

/** Deletes or archives items by their keys, which it gives back. Throws FORBIDDEN where one is missing, or not to be deleted. */
export async function runDelete(
  context: WriteContext,
  writable: WritableCollection,
  removed: Removal,
  running: Running,
  keys: Keys,
  lenient: boolean,
): Promise<Keys | null> {
  if (keys.count > 0) await runStep(running, deleteStep(context, writable, removed, keys, lenient));
  return keys.count > 0 ? keys : null;
}

function deleteStep(
  context: WriteContext,
  writable: WritableCollection,
  removed: Removal,
  keys: Keys,
  lenient: boolean,
): Step & { readonly keys: Keys } {
  const { descriptor } = writable.collection;
  const written: Written = {
    scope: context.scope,
    writable,
    grant: { rules: [], fields: new Map(), listed: new Set() },
    action: 'update',
    columns: [],
    named: [],
    postponed: false,
    collections: new Set([descriptor.name]),
  };
  const plans = deletePlan(context.steps, written, removed, keys.many);
  const batch = createBatch(descriptor).finish(0);
  const { name: collection } = descriptor;
  const payload = { collection, placeOf: placesIn(collection, null), names: new Set<string>(), batch };
  const archives = !removed.purge && descriptor.softDelete !== undefined;
  return { action: 'delete', archives, plans, batch, keys, lenient, payload };
}

/** Prepares a step as far as payloads tell the keys of its items. */
export function prepareFirst(writing: Writing, group: Group, draft: DecodedStep, batch: Batch) {
  const keys = group.nodes.map(({ key }) => key ?? []);
  return prepareDraft(writing, group, draft, batch, keys);
}

/** Prepares the step of items whose links are filled in as far as they are known. */
export function prepareDraft(
  { context, collections, made }: Writing,
  group: Group,
  draft: DecodedStep,
  batch: Batch,
  keys: readonly KeyTexts[],
) {
  const { granted, action, nodes, named } = draft;
  const waiting = waitingLinks(group, nodes, batch);
  const postponed = waiting.length > 0 || group.before.some(({ behind }) => behind === 'later');
  const placeOf = placesOf(group, draft);
  const form = nodes.length === 1 ? 'one' : 'many';
  const stated = emptyLinks(batch, waiting);
  const names = namesOf(batch, [...group.owned, group.sort]);
  const settings = { placeOf, collections, named, postponed, names };
  const links = madeLinks(context.scope, made, group.writable.collection, batch);
  const step = prepareStep(context, granted, action, stated, form, { ...settings, made: links });
  const stepKeys = action === 'create' ? null : keysOfRows(nodes.map((index) => keys[index] ?? []));
  const items = nodes.flatMap((index) => group.nodes[index] ?? []);
  return { step: { ...step, keys: stepKeys, lenient: false, nodes: items }, waiting };
}

/** A link of a batch that leads to what is made after it. */
interface WaitingLink {
  readonly item: number;
  readonly field: string;
  readonly value: string;
}

function waitingLinks({ nodes: all }: Group, nodes: readonly number[], { columns }: Batch): readonly WaitingLink[] {
  return columns.flatMap(({ field, values }) => {
    const { name } = field.descriptor;
    return nodes.flatMap((index, item) => {
      const value = values[item] ?? null;
      return value !== null && all[index]?.later?.includes(name) === true ? [{ item, field: name, value }] : [];
    });
  });
}

function emptyLinks(batch: Batch, waiting: readonly WaitingLink[]): Batch {
  if (waiting.length === 0) return batch;
  const places = Map.groupBy(waiting, ({ field }) => field);
  const columns = batch.columns.map((column) => {
    const empty = new Set(places.get(column.field.descriptor.name)?.map(({ item }) => item));
    return { ...column, values: column.values.map((value, item) => (empty.has(item) ? null : value)) };
  });
  return { ...batch, columns };
}
