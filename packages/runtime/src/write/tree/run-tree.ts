/** Trees in a transaction: parents first, then the items, what is removed below them, and what is new there. */
import { runAs } from '../../database/row-context.ts';
import { PlatformError, together } from '../../errors.ts';
import { invalidPayload, maxErrors } from '../../json/problems.ts';
import { decodeValue } from '../../language/index.ts';
import { oneSpelling } from '../../language/values/values.ts';
import { operandType } from '../../sql/operand.ts';
import { keyFields } from '../../sql/scope.ts';
import type { WriteScope } from '../access/scope.ts';
import type { Batch } from '../decode/batch.ts';
import type { Running } from '../execute/running.ts';
import { checkLinksAhead, checkLinksFirst, findsAll, writeStep } from '../execute/step.ts';
import { explainViolation } from '../execute/violation.ts';
import type { StepPlans } from '../plan/statement.ts';
import { affectedBy, namesOf, prepareStep, type WriteContext } from '../write-plan.ts';
import {
  type Before,
  collectionsOf,
  type DecodedStep,
  type DecodedSteps,
  type DeferredLinks,
  type Group,
  itemId,
  type KeyTexts,
} from './parse/group.ts';
import { keysOfRows, rowsOfKeys } from './removal.ts';
import { keyOfNode, madeLinks } from './resolve/references.ts';
import {
  ask,
  checkHeld,
  columnInput,
  columnTexts,
  inputRows,
  keyEqual,
  keyInput,
  startQuestion,
} from './resolve/stored.ts';
import { writeChildren } from './write-children.ts';
import { writeTargets } from './write-targets.ts';
import {
  awaits,
  checkEarlierSteps,
  collectKnown,
  isDecided,
  type LaterLink,
  type LinkValues,
  noteLinks,
  placesOf,
  type Writing,
} from './writing.ts';

/** Writes a tree and gives the keys of its items at the top. Throws all violations of rules together. */
export async function writeTree(
  running: Running,
  context: WriteContext,
  { root, deferred }: DeferredLinks,
  decoded: DecodedSteps,
): Promise<readonly KeyTexts[]> {
  const violations: PlatformError[] = [];
  // A rule that is broken before a step and after it counts once.
  const ids = new Set<string>();
  const collect = (violation: PlatformError): void => {
    for (const error of [violation, ...violation.others]) {
      const id = JSON.stringify(error.extensions);
      if (!ids.has(id)) violations.push(error);
      ids.add(id);
    }
  };
  const endBroken = ({ mayBeTaken }: StepPlans): void => {
    const [first] = violations;
    if (first !== undefined && mayBeTaken === true) throw first;
  };
  const writing: Writing = {
    running: { ...running, collect, endBroken, awaits: (...link) => awaits(writing, ...link) },
    context,
    drafts: decoded,
    collections: collectionsOf(root),
    done: [],
    begun: new Set(),
    made: new Set(),
    linking: new Map(),
    replaced: new Set(),
    later: [],
    write: (group, above) => writeGroup(writing, group, above),
  };
  let keys: readonly KeyTexts[] = [];
  try {
    if (deferred) await defer(running);
    for (const [group, drafts] of decoded) for (const draft of drafts) await checkDraft(writing, group, draft);
    keys = await writeGroup(writing, root, new Map());
    await linkLater(writing.running, context.scope, writing.later);
    for (const step of writing.replaced) await step.checkStated();
    for (const step of writing.done) await step.checkLate();
  } catch (error) {
    // Links come before contradictions of a payload; rules do not, which may ask for what is unwritten by then.
    // Errors of the database have a cause.
    const isOurs = error instanceof PlatformError && error.status === 400 && error.cause === undefined;
    for (const step of isOurs ? writing.done : []) await step.checkStated();
    // Violations of rules come before errors of the database.
    const isValidation = error instanceof PlatformError && error.code === 'FAILED_VALIDATION';
    if (!isValidation || violations.length === 0) throw error;
    for (const [group, drafts] of decoded) for (const draft of drafts) collectKnown(writing, group, draft, collect);
  }
  const error = together(violations.slice(0, maxErrors));
  if (error !== undefined) throw error;
  return keys;
}

/** Lets constraints wait for COMMIT, as far as the database allows it: items may refer to each other in a circle. */
async function defer({ transaction, caller, dialect }: Running): Promise<void> {
  const { deferral } = dialect.input;
  if (deferral !== null)
    await transaction.run(runAs({ name: 'w_defer', text: deferral }, caller), [], { row: () => {} });
}

/** Writes a group with all below it; gives the key of every node. */
async function writeGroup(writing: Writing, group: Group, above: LinkValues): Promise<readonly KeyTexts[]> {
  checkClaims(group, above);
  const keys: KeyTexts[] = group.nodes.map(({ key }) => key ?? []);
  const linkValues = new Map(above);
  for (const edge of group.before) {
    if (edge.behind === undefined) await writeBefore(writing, edge, linkValues);
    else if (edge.behind === 'known') fillLinks(edge, knownTexts(edge), linkValues);
  }
  for (const draft of writing.drafts.get(group) ?? []) await writeDraft(writing, group, draft, linkValues, keys);
  const created = new Set(
    (writing.drafts.get(group) ?? []).flatMap(({ action, nodes }) => (action === 'create' ? nodes : [])),
  );
  const owners = { group, keys, isNew: (node: number) => created.has(node) };
  for (const edge of group.children) await writeChildren(writing, owners, edge);
  for (const edge of group.targets) await writeTargets(writing, owners, edge);
  for (const edge of group.before) if (edge.behind !== undefined) await writeBehind(writing, group, edge, keys);
  return keys;
}

type GrowingLinkValues = Map<string, ReadonlyMap<number, string | null>>;

async function writeBefore(writing: Writing, edge: Before, linkValues: GrowingLinkValues): Promise<void> {
  fillLinks(edge, await writeEdge(writing, edge), linkValues);
}

/** Gives what the items above hold of each node. */
async function writeEdge(writing: Writing, { group, on }: Before): Promise<readonly KeyTexts[]> {
  const keys = await writeGroup(writing, group, new Map());
  const columns = on.map(({ to }) => to);
  const texts = await columnTexts(writing.running, group.writable.collection, keys, columns);
  for (const [node, { place: location }] of group.nodes.entries()) checkHeld(texts[node], location);
  return texts;
}

/** Returns the keys that the items above will hold, as the payload has them. */
function knownTexts({ group, on }: Before): readonly KeyTexts[] {
  const columns = keyFields(group.writable.collection.descriptor).map(({ column }) => column);
  return group.nodes.map((node) => {
    const key = keyOfNode(group, node) ?? [];
    return on.map(({ to }) => key[columns.indexOf(to)] ?? '');
  });
}

/** Writes what the items above need not hold yet. */
async function writeBehind(writing: Writing, owners: Group, edge: Before, keys: readonly KeyTexts[]): Promise<void> {
  const texts = await writeEdge(writing, edge);
  if (edge.behind !== 'later') return;
  for (const [part, field] of edge.fields.entries()) {
    for (const { owner, node } of edge.links) {
      writing.later.push({ group: owners, key: keys[owner] ?? [], field, value: texts[node]?.[part] ?? '' });
    }
  }
}

/** Two relations may share a field, but not lead to different items by it. */
function fillLinks({ fields, links }: Before, texts: readonly KeyTexts[], linkValues: GrowingLinkValues): void {
  for (const [part, field] of fields.entries()) {
    const values = new Map(linkValues.get(field));
    for (const { owner, node } of links) {
      const value = texts[node]?.[part] ?? null;
      if ((values.get(owner) ?? value) !== value) throw invalidPayload(`"${field}" is set by the relation.`);
      values.set(owner, value);
    }
    linkValues.set(field, values);
  }
}

/** Checks that values in a payload for fields that the relation sets are those that the relation sets. */
function checkClaims({ nodes, writable }: Group, linkValues: LinkValues): void {
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

/** Checks links of items before anything of the tree is written; of refused ones, rules and whether they are there. */
async function checkDraft(writing: Writing, group: Group, draft: DecodedStep): Promise<void> {
  const keys = group.nodes.map(({ key }) => key ?? []);
  const { step } = prepareDraft(writing, group, draft, draft.batch, keys);
  writing.running.begin?.(step.plans);
  await checkLinksAhead(writing.running, step, step.plans.linksAhead);
  const { running } = writing;
  if (running.judgesFirst !== true || running.collect === undefined) return;
  collectKnown(writing, group, draft, running.collect);
  await checkLinksFirst(running, step);
  if (step.keys === null || isDecided(writing, group, draft)) return;
  if (!(await findsAll(running, { ...step, keys: step.keys }))) throw new PlatformError('FORBIDDEN');
}

/** Prepares the step of items whose links are filled in as far as they are known. */
function prepareDraft(
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
  return { step: { ...step, keys: stepKeys, lenient: false }, waiting };
}

async function writeDraft(
  writing: Writing,
  group: Group,
  draft: DecodedStep,
  linkValues: LinkValues,
  keys: KeyTexts[],
): Promise<void> {
  const { running, context, done, later } = writing;
  const { granted, action, nodes } = draft;
  writing.begun.add(draft);
  const batch = fillBatch(draft.batch, nodes, linkValues);
  const { step, waiting } = prepareDraft(writing, group, draft, batch, keys);
  const { placeOf, names } = step.payload;
  if (action === 'update') await checkEarlierSteps(writing, group.writable, granted.grant.rules);
  await checkLinksAhead(running, step, step.plans.linksBelow);
  try {
    const written = await writeStep(running, step);
    done.push(written);
    await written.checkLinks();
    running.endBroken?.(step.plans);
    const { name } = group.writable.collection.descriptor;
    if (action === 'create') {
      for (const [item, key] of rowsOfKeys(written.keys).entries()) {
        keys[nodes[item] ?? -1] = key;
        writing.made.add(itemId(name, key));
      }
    }
    noteLinks(writing, written, () => nodes.map((index) => itemId(name, group.nodes[index]?.key ?? keys[index] ?? [])));
    for (const { item, field, value } of waiting)
      later.push({ group, key: keys[nodes[item] ?? -1] ?? [], field, value });
    notifyWatcher(running, group, action, nodes, keys);
  } catch (error) {
    const only = nodes.length === 1 ? placeOf(0).path : undefined;
    const path = only ?? (group.path === '' ? undefined : group.path);
    throw explainViolation(error, [
      { ...affectedBy(context, granted, batch, placeOf), names, ...(path !== undefined && { path }) },
    ]);
  }
}

/** Reports written items to the watcher, except those at the top, which the caller of the plan knows. */
function notifyWatcher(
  { watcher }: Running,
  { writable, path, nodes: all }: Group,
  action: 'create' | 'update',
  nodes: readonly number[],
  keys: readonly KeyTexts[],
): void {
  if (watcher === undefined || path === '') return;
  const items = nodes.flatMap((index) => {
    const payload = all[index]?.sources.at(-1);
    return payload === undefined ? [] : [{ key: keys[index] ?? [], payload }];
  });
  watcher.wrote(action, writable.collection.descriptor.name, items);
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

function fillBatch(batch: Batch, nodes: readonly number[], linkValues: LinkValues): Batch {
  const columns = batch.columns.map((column) => {
    const completed = linkValues.get(column.field.descriptor.name);
    if (completed === undefined) return column;
    return {
      ...column,
      values: nodes.map((index, item) =>
        completed.has(index) ? (completed.get(index) ?? null) : (column.values[item] ?? null),
      ),
    };
  });
  return { ...batch, columns };
}

/** Writes links: one statement for each field of each group. */
async function linkLater(running: Running, scope: WriteScope, links: readonly LaterLink[]): Promise<void> {
  for (const [group, groupLinks] of Map.groupBy(links, (link) => link.group)) {
    for (const [field, some] of Map.groupBy(groupLinks, (link) => link.field))
      await linkField(running, scope, group, field, some);
  }
}

async function linkField(
  running: Running,
  scope: WriteScope,
  { writable, path }: Group,
  name: string,
  links: readonly LaterLink[],
): Promise<void> {
  const { collection } = writable;
  const { descriptor } = collection;
  const field = descriptor.fields.find((candidate) => candidate.name === name);
  if (field === undefined) return;
  const rows = links.map(({ key }) => key);
  const { dialect } = running;
  const question = startQuestion(dialect);
  const values = columnInput(
    collection,
    [field.column],
    links.map(({ value }) => [value]),
    'f',
  );
  const input = inputRows(question, [...keyInput(collection, rows), ...values], 'i');
  const update = dialect.input.update(
    question.statement.change(descriptor.table, 'update'),
    field.column,
    dialect.input.kept('i.f0', field),
    input,
    keyEqual(dialect, collection, 't', 'i'),
  );
  const keys = keysOfRows(rows);
  const watch = running.history?.watch('update', descriptor.name, keys) ?? null;
  try {
    const asking = ask(running, question, update);
    watch?.follow();
    const result = await asking;
    if (Number(result[dialect.input.updated]) !== rows.length) throw new PlatformError('FORBIDDEN');
    await watch?.resolve(keys, rows.length);
  } catch (error) {
    const affected = { scope, collection, names: new Set([name]), writable: new Set([name]) };
    throw explainViolation(error, [{ ...affected, ...(path !== '' && { path }) }]);
  }
}
