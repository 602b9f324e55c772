/** Payloads → groups. */
import type { FilterObject } from '../../contract/filter-syntax.ts';
import type { ColumnPair, ManyToAny, RelationDescriptor } from '../../contract/index.ts';
import { keyFields } from '../../query/plan-order.ts';
import type { Desk } from '../job.ts';
import { checkCount } from '../parse-body.ts';
import type { Problems } from '../problems.ts';
import type { WritableCollection } from '../scope.ts';
import type { Before, Children, Form, Group, Link, Members, Targets, TreeNode } from './group.ts';
import { checkDepth, type Entry, type Lead, type Split, splitPayload } from './lead.ts';
import { holdersOf, sortField } from './names.ts';

/** State while payloads are parsed into a tree. */
interface Growing {
  readonly desk: Desk;
  readonly problems: Problems;
  /** Items so far. */
  count: number;
}

/** How a group is reached. */
interface Way {
  readonly path: string;
  /** Relations above. */
  readonly depth: number;
  readonly owned: readonly string[];
  readonly sort: string | undefined;
  readonly loose: boolean;
  /** Set where the items are links of a many-to-any. */
  readonly any: ManyToAny | undefined;
}

const top: Way = { path: '', depth: 0, owned: [], sort: undefined, loose: false, any: undefined };

/** Grows a tree from the items of a body. Problems are collected, but too many items or relations throw INVALID_PAYLOAD. */
export function growTree(
  desk: Desk,
  problems: Problems,
  writable: WritableCollection,
  entries: readonly Entry[],
): Group {
  return growGroup({ desk, problems, count: 0 }, writable, entries, top).group;
}

/** A group, and which of its nodes each entry became. */
interface Grown {
  readonly group: Group;
  readonly nodes: readonly number[];
}

function growGroup(growing: Growing, writable: WritableCollection, entries: readonly Entry[], way: Way): Grown {
  const { desk, problems } = growing;
  growing.count += entries.length;
  checkCount(growing.count, desk.mostItems);
  checkDepth(way.depth, desk.limits.relationalDepth);
  const { merged, nodes } = mergeEntries(entries);
  const { path, owned, sort, loose, any } = way;
  const splitting = { scope: desk.scope, problems, writable, owned, any };
  const splits = merged.map((entry) => splitPayload(splitting, entry));
  const grown = merged.map((entry, index) => nodeOf(entry, splits[index]));
  const below = growBelow(growing, writable, splits, way);
  return {
    group: { writable, path, nodes: grown, owned, ...(sort !== undefined && { sort }), loose, ...below },
    nodes,
  };
}

function nodeOf(entry: Entry, split: Split | undefined): TreeNode {
  const { form, given: key, place: location } = entry;
  return {
    form,
    given: key,
    place: location,
    sources: sourcesOf(entry),
    own: split?.own ?? {},
    claimed: split?.claimed ?? {},
    relations: split?.relations ?? [],
  };
}

function sourcesOf({ form, payload, sources }: Entry): readonly FilterObject[] {
  return sources ?? (form === 'link' ? [] : [payload]);
}

const strength: Readonly<Record<Form, number>> = { link: 0, either: 1, update: 2, create: 3 };

/** An item that comes twice by its key is one, whose later fields win. */
function mergeEntries(entries: readonly Entry[]): { readonly merged: readonly Entry[]; readonly nodes: number[] } {
  const merged: Entry[] = [];
  const positions = new Map<string, number>();
  const nodes = entries.map((entry) => {
    const id = entry.given === null ? undefined : JSON.stringify(entry.given);
    const earlier = id === undefined ? undefined : positions.get(id);
    const other = earlier === undefined ? undefined : merged[earlier];
    if (earlier === undefined || other === undefined) {
      if (id !== undefined) positions.set(id, merged.length);
      return merged.push(entry) - 1;
    }
    const form = strength[entry.form] > strength[other.form] ? entry.form : other.form;
    const sources = [...sourcesOf(other), ...sourcesOf(entry)];
    merged[earlier] = { ...entry, form, payload: { ...other.payload, ...entry.payload }, sources };
    return earlier;
  });
  return { merged, nodes };
}

/** A lead, and the node whose payload has it. */
interface Owned<L extends Lead> {
  readonly owner: number;
  readonly lead: L;
}

type Below = Pick<Group, 'before' | 'children' | 'targets'>;

function growBelow(growing: Growing, writable: WritableCollection, splits: readonly Split[], way: Way): Below {
  const leads = splits.flatMap(({ leads: found }, owner) => found.map((lead) => ({ owner, lead })));
  const before: Before[] = [];
  const children: Children[] = [];
  const targets: Targets[] = [];
  for (const branch of Map.groupBy(leads, branchName).values()) {
    const ones = branch.flatMap(({ owner, lead }) => (lead.kind === 'many' ? [] : [{ owner, lead }]));
    const manies = branch.flatMap(({ owner, lead }) => (lead.kind === 'many' ? [{ owner, lead }] : []));
    const [first] = ones;
    const [many] = manies;
    if (first !== undefined) before.push(...growBefore(growing, writable, ones, first.lead, way));
    if (many !== undefined) {
      const { relation } = many.lead;
      const grown = growMany(growing, manies, relation, way);
      if (relation.kind === 'm2m') targets.push(...grown.map((edge) => ({ relation, ...edge })));
      else children.push(...grown.map((edge) => ({ relation, ...edge })));
    }
  }
  return { before, children, targets };
}

function branchName({ lead }: Owned<Lead>): string {
  return lead.kind === 'item' ? `${lead.relation.itemField}:${lead.collection}` : lead.relation.name;
}

type OneLead = Exclude<Lead, { kind: 'many' }>;
type ManyLead = Extract<Lead, { kind: 'many' }>;

function growBefore(
  growing: Growing,
  writable: WritableCollection,
  owned: readonly Owned<OneLead>[],
  first: OneLead,
  way: Way,
): readonly Before[] {
  const target = growing.desk.scope.collections.get(first.kind === 'item' ? first.collection : first.relation.target);
  if (target === undefined) return [];
  const on = first.kind === 'item' ? itemPairs(writable, first.relation, target) : first.relation.on;
  const below = first.kind === 'item' ? 'item' : first.relation.name;
  const entries = owned.map(({ lead }) => lead.entry);
  const next = { ...top, path: pathTo(way, below), depth: way.depth + 1, loose: true };
  const { group, nodes } = growGroup(growing, target, entries, next);
  const links = owned.flatMap(({ owner }, index): Link[] => {
    const node = nodes[index];
    return node === undefined ? [] : [{ owner, node }];
  });
  return [{ on, fields: holdersOf(writable.collection, on, 'from'), group, links }];
}

/** A link of a many-to-any holds the key of its item as it stands. */
function itemPairs(
  { collection }: WritableCollection,
  { itemField }: ManyToAny,
  target: WritableCollection,
): readonly ColumnPair[] {
  const from = collection.fields.get(itemField)?.descriptor.column;
  const [key, ...more] = keyFields(target.collection.descriptor);
  return from === undefined || key === undefined || more.length > 0 ? [] : [{ from, to: key.column }];
}

function growMany(
  growing: Growing,
  owned: readonly Owned<ManyLead>[],
  relation: Exclude<RelationDescriptor, { kind: 'm2o' }>,
  way: Way,
): readonly { readonly group: Group; readonly members: readonly Members[] }[] {
  const target = growing.desk.scope.collections.get(relation.target);
  if (target === undefined) return [];
  const { collection } = target;
  const isDirect = relation.kind !== 'm2m';
  const next: Way = {
    ...top,
    path: pathTo(way, relation.name),
    depth: way.depth + 1,
    owned: isDirect ? holdersOf(collection, relation.on, 'to') : [],
    sort: isDirect ? sortField(collection, relation.sort)?.name : undefined,
    any: relation.kind === 'm2a' ? relation : undefined,
  };
  const { group, nodes } = growGroup(
    growing,
    target,
    owned.flatMap(({ lead }) => lead.entries),
    next,
  );
  growing.count += owned.reduce((sum, { lead }) => sum + lead.members.removed.length, 0);
  checkCount(growing.count, growing.desk.mostItems);
  let position = 0;
  const members = owned.map(({ owner, lead }): Members => {
    const start = position;
    position += lead.entries.length;
    return { ...lead.members, owner, nodes: [...new Set(nodes.slice(start, position))] };
  });
  return [{ group, members }];
}

function pathTo({ path }: Way, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
