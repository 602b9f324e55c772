import { createProblems } from '../../../json/problems.ts';
import { longestCachedStatement } from '../../../language/values/bounded-cache.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import { keyFields } from '../../../sql/scope.ts';
import { grantFor, type WritableField } from '../../../write/access/scope.ts';
import type { Batch, BatchColumn } from '../../../write/decode/batch.ts';
import { requireFields } from '../../../write/decode/decode.ts';
import { shapeOf, writtenColumns } from '../../../write/plan/plans.ts';
import type { Returning } from '../../../write/returning.ts';
import { decodeTree, hashDecoded } from '../../../write/tree/parse/decode-tree.ts';
import {
  collectionsOf,
  type DecodedStep,
  type Group,
  sortField,
  type Targets,
} from '../../../write/tree/parse/group.ts';
import type { WriteContext } from '../../../write/write-plan.ts';
import type { DirectWrite } from '../direct-write.ts';
import { isReturned } from '../tree/single-statement-tree.ts';
import { type LinksPlanCache, planLinks } from './plan-links.ts';
import type { LinksPlan, ListedLinks } from './print-links.ts';

/** Returns the one statement for a stored item with listed links; refusals are explained by the generic path. */
export async function returnedLinks(
  context: WriteContext,
  plans: LinksPlanCache,
  root: Group,
  returning: Returning | null,
): Promise<DirectWrite | undefined> {
  const links = isReturned(context, returning) && !returning.many ? linksOf(context, root) : undefined;
  if (links === undefined || returning === null) return undefined;
  const problems = createProblems();
  const decoded = decodeTree(context, root, () => true, problems);
  // The generic path reports errors in it.
  const [draft] = problems.any() ? [] : ((await hashDecoded(context, decoded)).get(root) ?? []);
  const plan = draft && planOf(context, plans, root, draft, links, returning);
  if (draft === undefined || plan === null || plan === undefined) return undefined;
  const key = root.nodes[0]?.key ?? [];
  const batches = [draft.batch, ...links.map(({ batch }) => batch)];
  return {
    isExplained: true,
    rows: batches.reduce((rows, { count }) => rows + count, 0),
    run({ transaction, caller, driftGuard }) {
      driftGuard(plan.statement);
      return plan.change(transaction, { caller, key, batches });
    },
  };
}

/** A relation whose links are listed, with the keys of their targets. */
interface Links extends ListedLinks {
  readonly batch: Batch;
  /** Tells the rules of the junction apart that the caller can use. */
  readonly shape: string;
}

/** The lists of a payload; undefined where it says anything else of related items. */
function linksOf(context: WriteContext, root: Group): readonly Links[] | undefined {
  const { nodes, before, children, targets } = root;
  const [only, ...more] = nodes;
  if (only?.form !== 'update' || only.key === null || more.length > 0) return undefined;
  if (before.length > 0 || children.length > 0 || targets.length === 0) return undefined;
  const links = targets.flatMap((edge) => linksOfRelation(context, root, edge) ?? []);
  return links.length === targets.length ? links : undefined;
}

function linksOfRelation(context: WriteContext, root: Group, { relation, group, members }: Targets): Links | undefined {
  const [only, ...more] = members;
  const writable = context.scope.collections.get(relation.junction);
  const all = writable?.create;
  const grant = writable && grantFor(writable, all, context.caller);
  const isList = only?.complete === true && only.removed.length === 0 && more.length === 0 && isLinks(group);
  if (!isList || writable === undefined || all === undefined || grant === undefined) return undefined;
  const { descriptor } = writable.collection;
  const keys = keyFields(group.writable.collection.descriptor).map(({ column }) => column);
  const parts = relation.far.map(({ to }) => keys.indexOf(to));
  const order = sortField(writable.collection, relation.sort);
  const holders = [...relation.near.map(({ to }) => to), ...relation.far.map(({ from }) => from)].map((column) => {
    return grant.fields.get(fieldOfColumn(descriptor.fields, column)?.name ?? '');
  });
  const rules = grant.rules.map((_, index) => index);
  const fields = [...holders, ...(order ? [grant.fields.get(order.name) ?? { descriptor: order, rules }] : [])];
  const writableFields = fields.filter((field) => field !== undefined);
  // Both keys of a link may have a column in common.
  if (new Set(writableFields).size < fields.length || parts.includes(-1)) return undefined;
  const columns = writableFields.map((field): BatchColumn => ({ field, values: [''], present: null, linked: true }));
  if (!hasAll(context, { writable, grant }, { count: 1, columns })) return undefined;
  const written = {
    scope: context.scope,
    writable,
    grant,
    action: 'create',
    columns: columns.map(({ field, linked }) => ({ field, linked, complete: true })),
    named: [],
    collections: collectionsOf(root),
    postponed: false,
  } as const;
  const targets = writableFields.slice(relation.near.length, relation.near.length + parts.length);
  return {
    relation,
    written,
    batch: keyBatch(group, targets, parts),
    shape: `${relation.name} ${shapeOf(written, all, 'many', undefined)}`,
  };
}

/** True if a payload names nothing but keys, as they are or as objects. */
function isLinks({ writable, nodes, before, children, targets }: Group): boolean {
  const { key } = writable.collection.descriptor;
  const isKey = ({ form, key: nodeKey, own: fields, relations }: Group['nodes'][number]): boolean => {
    if (nodeKey === null || (form !== 'link' && form !== 'either')) return false;
    return relations.length === 0 && Object.keys(fields).every((name) => key.includes(name));
  };
  return nodes.every(isKey) && before.length + children.length + targets.length === 0;
}

/** True if new links require no other field. */
function hasAll(
  { scope }: WriteContext,
  input: Pick<Parameters<typeof requireFields>[0], 'writable' | 'grant'>,
  batch: Batch,
): boolean {
  const problems = createProblems();
  const collection = input.writable.collection.descriptor.name;
  requireFields({ ...input, scope, action: 'create' }, batch, () => ({ collection, index: undefined }), problems);
  return !problems.any();
}

/** The values by which links hold the keys of their targets, by the parts of these keys. */
function keyBatch({ nodes }: Group, fields: readonly WritableField[], parts: readonly number[]): Batch {
  const columns = parts.flatMap((part, index): readonly BatchColumn[] => {
    const field = fields[index];
    const values = nodes.map(({ key }) => key?.[part] ?? null);
    return field === undefined ? [] : [{ field, values, present: null, linked: true }];
  });
  return { count: nodes.length, columns };
}

function planOf(
  { scope }: WriteContext,
  plans: LinksPlanCache,
  root: Group,
  { granted: { writable, grant, all }, batch, named }: DecodedStep,
  links: readonly Links[],
  { plan: read }: Returning,
): LinksPlan | null {
  const columns = writtenColumns(batch);
  const collections = collectionsOf(root);
  const written = { scope, writable, grant, action: 'update', columns, named, collections, postponed: false } as const;
  const shape = [shapeOf(written, all, 'one', read), ...links.map((link) => link.shape)].join('\n');
  const cached = plans.get(shape);
  if (cached !== undefined) return cached;
  const plan = planLinks(root, written, links, read);
  if (plan === null || plan.statement.text.length <= longestCachedStatement) plans.set(shape, plan);
  return plan;
}
