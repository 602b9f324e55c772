/** Trees in a transaction: parents first, then the items, what is removed below them, and what is new there. */
import { runAs } from '../../database/row-context.ts';
import { PlatformError, together } from '../../errors.ts';
import { maxErrors } from '../../json/problems.ts';
import type { WriteScope } from '../access/scope.ts';
import type { Running } from '../execute/running.ts';
import { checkLinksAhead, writeStep } from '../execute/step.ts';
import { explainViolation } from '../execute/violation.ts';
import type { StepPlans } from '../plan/statement.ts';
import type { WriteContext } from '../write-plan.ts';
import {
  checkClaims,
  checkFirst,
  explainStep,
  fillLinks,
  findChanged,
  type GrowingLinkValues,
  statedTexts,
} from './check-first.ts';
import {
  type Before,
  type DecodedStep,
  type DecodedSteps,
  type DeferredLinks,
  type Group,
  itemId,
  type KeyTexts,
  madeNodes,
} from './parse/group.ts';
import { keysOfRows, prepareDraft, rowsOfKeys } from './removal.ts';
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
  fillBatch,
  type LaterLink,
  type LinkValues,
  noteLinks,
  type Writing,
  writtenBy,
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
    running: { ...running, collect, endBroken, ...otherSteps(() => writing) },
    context,
    drafts: decoded,
    collections: writtenBy(decoded),
    done: [],
    begun: new Set(),
    ended: new Set(),
    made: new Set(),
    linking: new Map(),
    replaced: new Set(),
    later: [],
    write: (group, above) => writeGroup(writing, group, above),
  };
  let keys: readonly KeyTexts[] = [];
  try {
    if (deferred) await defer(running);
    await checkFirst(writing, root);
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

/** Tells steps of a tree of its other steps. */
function otherSteps(writingOf: () => Writing): Pick<Running, 'awaits' | 'findChanged'> {
  return {
    awaits: (...link) => awaits(writingOf(), ...link),
    findChanged: (...below) => findChanged(writingOf(), ...below),
  };
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
    else if (edge.behind === 'known') fillLinks(edge, statedTexts(edge), linkValues);
  }
  for (const draft of writing.drafts.get(group) ?? []) await writeDraft(writing, group, draft, linkValues, keys);
  const created = madeNodes(writing.drafts, group);
  const owners = { group, keys, isNew: (node: number) => created.has(node) };
  for (const edge of group.children) {
    await writeChildren(writing, owners, edge);
    writing.ended.add(edge);
  }
  for (const edge of group.targets) {
    await writeTargets(writing, owners, edge);
    writing.ended.add(edge);
  }
  for (const edge of group.before) if (edge.behind !== undefined) await writeBehind(writing, group, edge, keys);
  return keys;
}

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

async function writeDraft(
  writing: Writing,
  group: Group,
  draft: DecodedStep,
  linkValues: LinkValues,
  keys: KeyTexts[],
): Promise<void> {
  const { running, done, later } = writing;
  const { granted, action, nodes } = draft;
  writing.begun.add(draft);
  const batch = fillBatch(draft.batch, nodes, linkValues);
  const { step, waiting } = prepareDraft(writing, group, draft, batch, keys);
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
    throw explainStep(writing, group, draft, batch, error);
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
