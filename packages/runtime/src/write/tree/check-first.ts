/**
 * A tree before its first step: the steps as far as payloads tell them, and all that refuses them by then. A refused tree is
 * judged stage by stage, so that no step answers in place of what a later one is refused for.
 */
import { PlatformError } from '../../errors.ts';
import { invalidPayload } from '../../json/problems.ts';
import { type ColumnPair, decodeValue } from '../../language/index.ts';
import { oneSpelling } from '../../language/values/values.ts';
import { operandType } from '../../sql/operand.ts';
import { keyFields } from '../../sql/scope.ts';
import { grantFor } from '../access/scope.ts';
import type { ChangesBelow } from '../checks/check.ts';
import type { Batch } from '../decode/batch.ts';
import type { Step, StepItem } from '../execute/running.ts';
import { checkLinksAhead, checkLinksFirst, checkRulesFirst, findsAll } from '../execute/step.ts';
import { explainViolation, isOfRows } from '../execute/violation.ts';
import { affectedBy, namesOf } from '../write-plan.ts';
import { linkedFields } from './parse/decode-tree.ts';
import {
  type Before,
  type Children,
  type DecodedStep,
  fieldsOf,
  type Group,
  type KeyTexts,
  type Members,
  madeNodes,
} from './parse/group.ts';
import { prepareFirst } from './removal.ts';
import { textOf } from './resolve/defer-links.ts';
import { findExisting, inOrder, keyOfNode } from './resolve/references.ts';
import { findBringing, findLeaving, findTaking, isWrittenLater } from './write-children.ts';
import { findLinking, findLinks } from './write-targets.ts';
import {
  areDecided,
  collectKnown,
  createAbove,
  fillBatch,
  isDecided,
  type LinkValues,
  placesOf,
  type Writing,
  writesOf,
} from './writing.ts';

/** A step that has not begun, with the items that it writes. */
interface Draft {
  readonly group: Group;
  readonly draft: DecodedStep;
  readonly step: Step;
}

/**
 * Checks links of items before anything of the tree is written. A refused tree is checked as far as possible by then.
 * The stages have the order of errors: links and stored items, contradictions of payloads, rules, missing rows.
 */
export async function checkFirst(writing: Writing, root: Group): Promise<void> {
  const { running, drafts } = writing;
  const steps: Draft[] = [];
  for (const [group, decoded] of drafts) {
    for (const draft of decoded) {
      const { step } = prepareFirst(writing, group, draft, draft.batch);
      steps.push({ group, draft, step });
      running.begin?.(checksBelow(group) ? { ...step.plans, checksBelow: true } : step.plans);
      await checkLinksAhead(running, step, step.plans.linksAhead);
    }
  }
  if (running.judgesFirst !== true || running.collect === undefined) return;
  for (const judged of steps) await checkStored(writing, root, judged);
  const beside: Step[] = [];
  const order = inOrder(root).map(({ group }) => group);
  for (const group of order) beside.push(...(await findStepsBelow(writing, order, group)));
  const links = statedLinks(root);
  let missing: unknown;
  for (const { group, draft } of steps) {
    await checkRules(writing, group, draft, links.get(group) ?? new Map()).catch((error: unknown) => {
      if (!isOfRows(error)) throw error;
      missing ??= explainStep(writing, group, draft, draft.batch, error);
    });
  }
  for (const step of beside) await checkRulesFirst(running, step, (name, item) => !isOpenLink(step, name, item));
  if (missing !== undefined) throw missing;
}

/** An error of the database about a step, told by the place of its items in the payload. */
export function explainStep(
  { context }: Writing,
  group: Group,
  draft: DecodedStep,
  batch: Batch,
  error: unknown,
): unknown {
  const placeOf = placesOf(group, draft);
  const path = (draft.nodes.length === 1 ? placeOf(0).path : undefined) ?? group.path;
  const names = namesOf(batch, [...group.owned, group.sort]);
  const affected = { ...affectedBy(context, draft.granted, batch, placeOf), names };
  return explainViolation(error, [path === '' ? affected : { ...affected, path }]);
}

/** True if items below may contradict those above, or are taken from them. */
function checksBelow({ nodes, children, targets }: Group): boolean {
  const isLosing = ({ complete, owner, removed }: Members): boolean =>
    removed.length > 0 || (complete && nodes[owner]?.form !== 'create');
  const below = [...children, ...targets];
  return below.some(
    ({ group, members }) =>
      members.some(isLosing) || group.nodes.some(({ claimed }) => Object.keys(claimed).length > 0),
  );
}

/** Checks links of a step, and that its rows are there. Throws FORBIDDEN. */
async function checkStored(writing: Writing, root: Group, { group, draft, step }: Draft): Promise<void> {
  const { running, context } = writing;
  await checkLinksFirst(running, step);
  if (step.keys === null || (await findsAll(running, { ...step, keys: step.keys }))) return;
  if (!isDecided(writing, group, draft)) throw new PlatformError('FORBIDDEN');
  // Other steps may let a row be changed, but not one that looks missing now. Items below have been found.
  if (group !== root) return;
  const nodes = draft.nodes.flatMap((index) => group.nodes[index] ?? []);
  const found = await findExisting(running, context.scope, [{ group, nodes }]);
  if (!nodes.every(found)) throw new PlatformError('FORBIDDEN');
}

/** True if a step links what has no key yet. */
function isOpenLink({ batch }: Step, name: string, item: number): boolean {
  return batch.columns.some(
    ({ field, values, linked }) => linked && field.descriptor.name === name && values[item] === null,
  );
}

/**
 * Looks at what leaves items above, and at their links, as far as payloads tell the keys. Gives the steps that take items
 * from them, and those that make links. Throws FORBIDDEN.
 */
async function findStepsBelow(writing: Writing, order: readonly Group[], owners: Group): Promise<readonly Step[]> {
  const { running, context } = writing;
  const made = madeNodes(writing.drafts, owners);
  const above = { group: owners, keys: [], isNew: (node: number) => made.has(node) };
  const steps: Step[] = [];
  for (const edge of owners.children) {
    const { writable } = edge.group;
    const valuesOf = keysOf(owners, edge.relation.on);
    const earlier = new Set(order.slice(0, order.indexOf(edge.group)));
    // An earlier step may take an item away, or bring it.
    const isSettled = (key: KeyTexts): boolean =>
      !writesOf(writing.drafts, writable.collection.descriptor.name, key).some(({ group }) => earlier.has(group));
    const members = edge.members.flatMap((member) => {
      const { owner, removed } = member;
      const isKnown = made.has(owner) || valuesOf(owner) !== undefined;
      return isKnown ? [{ ...member, removed: made.has(owner) ? removed : removed.filter(isSettled) }] : [];
    });
    const step = await findLeaving(writing, above, { ...edge, members }, (owner) => valuesOf(owner) ?? [], isSettled);
    const rules = grantFor(writable, writable.update, context.caller)?.rules ?? [];
    if (step === undefined || step.keys === null || areDecided(writing, writable, rules)) continue;
    if (!(await findsAll(running, { ...step, keys: step.keys }))) throw new PlatformError('FORBIDDEN');
    steps.push(step);
  }
  for (const edge of owners.targets) {
    const far = edge.relation.far.map(({ from, to }) => ({ from: to, to: from }));
    const step = await findLinks(writing, above, edge, keysOf(owners, edge.relation.near), keysOf(edge.group, far));
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** Values by which items below hold one above, where these are parts of its key that payloads tell. */
function keysOf(owners: Group, on: readonly ColumnPair[]): (owner: number) => KeyTexts | undefined {
  return (owner) => {
    const texts = on.map(({ from }) => keyText(owners, owner, from));
    return texts.every((text) => text !== undefined) ? texts : undefined;
  };
}

/** Collects the rules that a step breaks, as far as they ask for nothing that other steps write. */
async function checkRules(writing: Writing, group: Group, draft: DecodedStep, links: LinkValues): Promise<void> {
  const { running } = writing;
  if (running.collect === undefined) return;
  const completed = { ...draft, batch: fillBatch(draft.batch, draft.nodes, links) };
  collectKnown(writing, group, completed, running.collect);
  if (draft.action === 'update' && isDecided(writing, group, draft)) return;
  const linkedOf = linkedFields(group);
  const isKnown = (name: string, item: number): boolean => {
    const node = draft.nodes[item] ?? -1;
    const isCounted = name === group.sort && !Object.hasOwn(group.nodes[node]?.own ?? {}, name);
    if (group.nodes[node]?.later?.includes(name) === true) return false;
    const isLinked = isCounted || linkedOf(node).includes(name);
    return !isLinked || typeof links.get(name)?.get(node) === 'string';
  };
  await checkRulesFirst(running, prepareFirst(writing, group, draft, completed.batch).step, isKnown);
}

/** Positions of the items below which the tree may change others so that a condition holds. */
export async function findChanged(
  writing: Writing,
  below: ChangesBelow,
  items: readonly StepItem[],
): Promise<ReadonlySet<number>> {
  const above = createAbove(items);
  for (const rows of below.steps) if (await isWrittenLater(writing, rows)) return new Set(above.all);
  const changed: (readonly number[])[] = [];
  for (const brought of below.brings) changed.push(await findBringing(writing, brought, above));
  for (const taken of below.takes) changed.push(await findTaking(writing, taken, above));
  for (const targets of below.links) changed.push(await findLinking(writing, targets, above));
  return new Set(changed.flat());
}

/** Texts that columns of an item will have, as far as payloads tell. */
type StatedTexts = readonly (string | undefined)[];

/** Texts that the items above will hold, as far as payloads tell. */
export function statedTexts({ group, on }: Before): readonly StatedTexts[] {
  return group.nodes.map((_, node) => on.map(({ to }) => statedText(group, node, to)));
}

function statedText(group: Group, index: number, column: string): string | undefined {
  const node = group.nodes[index];
  const [name] = fieldsOf(group.writable.collection, [column]);
  const text = keyText(group, index, column);
  return text !== undefined || node === undefined || name === undefined ? text : textOf(group, node, name);
}

/** Part of the key of an item, as far as payloads tell; undefined for another column. */
function keyText(group: Group, index: number, column: string): string | undefined {
  const node = group.nodes[index];
  const part = keyFields(group.writable.collection.descriptor).findIndex((field) => field.column === column);
  return node && keyOfNode(group, node)?.[part];
}

/** Links of the items of each group, as far as payloads tell them. Throws INVALID_PAYLOAD where these contradict each other. */
function statedLinks(root: Group): ReadonlyMap<Group, LinkValues> {
  const stated = new Map<Group, LinkValues>();
  const visit = (group: Group, above: LinkValues): void => {
    checkClaims(group, above);
    const linkValues = new Map(above);
    for (const edge of group.before) {
      visit(edge.group, new Map());
      if (edge.behind !== 'later') fillLinks(edge, statedTexts(edge), linkValues);
    }
    stated.set(group, linkValues);
    for (const edge of group.children) visit(edge.group, ownedLinks(group, edge));
    for (const edge of group.targets) visit(edge.group, new Map());
  };
  visit(root, new Map());
  return stated;
}

/** Keys of the items above that items hold, as far as payloads tell. */
function ownedLinks(owners: Group, { relation, group, members }: Children): LinkValues {
  const pairs = relation.on.flatMap(({ from, to }) => {
    return fieldsOf(group.writable.collection, [to]).map((field) => ({ from, field }));
  });
  const valuesOf = ({ from }: (typeof pairs)[number]): ReadonlyMap<number, string> =>
    new Map(
      members.flatMap(({ owner, nodes }) => {
        const text = statedText(owners, owner, from);
        return text === undefined ? [] : nodes.map((node): [number, string] => [node, text]);
      }),
    );
  return new Map(pairs.map((pair) => [pair.field, valuesOf(pair)]));
}

/** Link values while a group is written. */
export type GrowingLinkValues = Map<string, ReadonlyMap<number, string | null>>;

/** Two relations may share a field, but not lead to different items by it. */
export function fillLinks(
  { fields, links }: Before,
  texts: readonly StatedTexts[],
  linkValues: GrowingLinkValues,
): void {
  for (const [part, field] of fields.entries()) {
    const values = new Map(linkValues.get(field));
    for (const { owner, node } of links) {
      const value = texts[node]?.[part];
      if (value === undefined) continue;
      if ((values.get(owner) ?? value) !== value) throw invalidPayload(`"${field}" is set by the relation.`);
      values.set(owner, value);
    }
    linkValues.set(field, values);
  }
}

/** Checks that values in a payload for fields that the relation sets are those that the relation sets. */
export function checkClaims({ nodes, writable }: Group, linkValues: LinkValues): void {
  const { descriptor } = writable.collection;
  const keys = keyFields(descriptor).map(({ name }) => name);
  for (const [index, { key, claimed }] of nodes.entries()) {
    for (const [name, values] of linkValues) {
      const value = values.get(index);
      const field = descriptor.fields.find((candidate) => candidate.name === name);
      const part = keys.indexOf(name);
      if (value === undefined || field === undefined) continue;
      const claim = claimed[name];
      const type = operandType(field);
      const isSet = (text: string | null): boolean =>
        text === value || (text !== null && value !== null && oneSpelling(type, text) === oneSpelling(type, value));
      const decoded = claim === undefined ? undefined : decodeValue(type, claim);
      const isSame = decoded === undefined || (decoded.ok && isSet(decoded.value));
      if (!isSame || (part >= 0 && key !== null && !isSet(key[part] ?? null))) {
        throw invalidPayload(`"${name}" is set by the relation.`);
      }
    }
  }
}
