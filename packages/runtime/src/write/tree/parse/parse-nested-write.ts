/** Payloads → groups. */
import type { Problems } from '../../../json/problems.ts';
import type { FilterObject } from '../../../language/conditions/filter-syntax.ts';
import type { ColumnPair, ManyToAny, RelationDescriptor } from '../../../language/index.ts';
import { keyFields } from '../../../sql/scope.ts';
import type { WritableCollection } from '../../access/scope.ts';
import { checkCount } from '../../decode/parse-body.ts';
import type { WriteContext } from '../../write-plan.ts';
import {
  type Before,
  type Children,
  type Form,
  type Group,
  holdersOf,
  type Link,
  type Members,
  pairsToWrite,
  sortField,
  type Targets,
  type TreeNode,
} from './group.ts';
import { checkDepth, type Entry, type NestedWrite, type Split, splitPayload } from './nested-write.ts';

interface TreeParsing {
  readonly context: WriteContext;
  readonly problems: Problems;
  /** Items so far. */
  count: number;
}

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
export function parseNestedWrite(
  context: WriteContext,
  problems: Problems,
  writable: WritableCollection,
  entries: readonly Entry[],
): Group {
  return parseGroup({ context, problems, count: 0 }, writable, entries, top).group;
}

function parseGroup(parsing: TreeParsing, writable: WritableCollection, entries: readonly Entry[], way: Way) {
  const { context, problems } = parsing;
  parsing.count += entries.length;
  checkCount(parsing.count, context.maxItems);
  checkDepth(way.depth, context.limits.relationalDepth);
  const { combined, nodes } = mergeEntries(entries);
  const { path, owned, sort, loose, any } = way;
  const splitting = { scope: context.scope, problems, writable, owned, any };
  const splits = combined.map((entry) => splitPayload(splitting, entry));
  const parsed = combined.map((entry, index) => nodeOf(entry, splits[index]));
  const below = parseBelow(parsing, writable, splits, way);
  return {
    group: { writable, path, nodes: parsed, owned, ...(sort !== undefined && { sort }), loose, ...below },
    nodes,
  };
}

function nodeOf(entry: Entry, split: Split | undefined): TreeNode {
  const { form, key, place: location } = entry;
  return {
    form,
    key,
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
function mergeEntries(entries: readonly Entry[]): { readonly combined: readonly Entry[]; readonly nodes: number[] } {
  const combined: Entry[] = [];
  const positions = new Map<string, number>();
  const nodes = entries.map((entry) => {
    const id = entry.key === null ? undefined : JSON.stringify(entry.key);
    const earlier = id === undefined ? undefined : positions.get(id);
    const other = earlier === undefined ? undefined : combined[earlier];
    if (earlier === undefined || other === undefined) {
      if (id !== undefined) positions.set(id, combined.length);
      return combined.push(entry) - 1;
    }
    const form = strength[entry.form] > strength[other.form] ? entry.form : other.form;
    const sources = [...sourcesOf(other), ...sourcesOf(entry)];
    combined[earlier] = { ...entry, form, payload: { ...other.payload, ...entry.payload }, sources };
    return earlier;
  });
  return { combined, nodes };
}

/** A lead, and the node whose payload has it. */
interface Owned<L extends NestedWrite> {
  readonly owner: number;
  readonly nestedWrite: L;
}

function parseBelow(
  parsing: TreeParsing,
  writable: WritableCollection,
  splits: readonly Split[],
  way: Way,
): Pick<Group, 'before' | 'children' | 'targets'> {
  const nestedWrites = splits.flatMap(({ nestedWrites: found }, owner) =>
    found.map((nested) => ({ owner, nestedWrite: nested })),
  );
  const before: Before[] = [];
  const children: Children[] = [];
  const targets: Targets[] = [];
  for (const branch of Map.groupBy(nestedWrites, branchName).values()) {
    const ones = branch.flatMap(({ owner, nestedWrite: nested }) =>
      nested.kind === 'many' ? [] : [{ owner, nestedWrite: nested }],
    );
    const manies = branch.flatMap(({ owner, nestedWrite: nested }) =>
      nested.kind === 'many' ? [{ owner, nestedWrite: nested }] : [],
    );
    const [first] = ones;
    const [many] = manies;
    if (first !== undefined) before.push(...parseBefore(parsing, writable, ones, first.nestedWrite, way));
    if (many !== undefined) {
      const { relation } = many.nestedWrite;
      const parsed = parseMany(parsing, manies, relation, way);
      if (relation.kind === 'm2m') targets.push(...parsed.map((edge) => ({ relation, ...edge })));
      else children.push(...parsed.map((edge) => ({ relation, ...edge })));
    }
  }
  return { before, children, targets };
}

function branchName({ nestedWrite: nested }: Owned<NestedWrite>): string {
  return nested.kind === 'item' ? `${nested.relation.itemField}:${nested.collection}` : nested.relation.name;
}

type SingleNestedWrite = Exclude<NestedWrite, { kind: 'many' }>;
type ManyNestedWrite = Extract<NestedWrite, { kind: 'many' }>;

function parseBefore(
  parsing: TreeParsing,
  writable: WritableCollection,
  owned: readonly Owned<SingleNestedWrite>[],
  first: SingleNestedWrite,
  way: Way,
): readonly Before[] {
  const target = parsing.context.scope.collections.get(
    first.kind === 'item' ? first.collection : first.relation.target,
  );
  if (target === undefined) return [];
  const on =
    first.kind === 'item'
      ? itemPairs(writable, first.relation, target)
      : pairsToWrite(writable, first.relation.on, 'from');
  const below = first.kind === 'item' ? 'item' : first.relation.name;
  const entries = owned.map(({ nestedWrite: nested }) => nested.entry);
  const next = { ...top, path: pathTo(way, below), depth: way.depth + 1, loose: true };
  const { group, nodes } = parseGroup(parsing, target, entries, next);
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

function parseMany(
  parsing: TreeParsing,
  owned: readonly Owned<ManyNestedWrite>[],
  relation: Exclude<RelationDescriptor, { kind: 'm2o' }>,
  way: Way,
): readonly { readonly group: Group; readonly members: readonly Members[] }[] {
  const target = parsing.context.scope.collections.get(relation.target);
  if (target === undefined) return [];
  const { collection } = target;
  const isDirect = relation.kind !== 'm2m';
  const next: Way = {
    ...top,
    path: pathTo(way, relation.name),
    depth: way.depth + 1,
    owned: isDirect ? holdersOf(collection, pairsToWrite(target, relation.on, 'to'), 'to') : [],
    sort: isDirect ? sortField(collection, relation.sort)?.name : undefined,
    any: relation.kind === 'm2a' ? relation : undefined,
  };
  const { group, nodes } = parseGroup(
    parsing,
    target,
    owned.flatMap(({ nestedWrite: nested }) => nested.entries),
    next,
  );
  parsing.count += owned.reduce((sum, { nestedWrite: nested }) => sum + nested.members.removed.length, 0);
  checkCount(parsing.count, parsing.context.maxItems);
  let position = 0;
  const members = owned.map(({ owner, nestedWrite: nested }): Members => {
    const start = position;
    position += nested.entries.length;
    return { ...nested.members, owner, nodes: [...new Set(nodes.slice(start, position))] };
  });
  return [{ group, members }];
}

function pathTo({ path }: Way, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
