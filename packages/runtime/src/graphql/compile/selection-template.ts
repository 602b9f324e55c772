/** Selections whose lists wait for the arguments of a request. */
import { invalidQuery } from '../../errors.ts';
import { always, type Condition, type ManyToAny } from '../../language/index.ts';
import type { NestedRead } from '../../query/authorise/nested.ts';
import type { Selected, Selection } from '../../query/authorise/selection.ts';
import { countedRows } from '../../query/plan/row-bound.ts';
import { resolveCall } from '../../sql/calls.ts';
import type { CollectionScope, RelationScope } from '../../sql/scope.ts';

export interface SelectionTemplate {
  readonly collection: CollectionScope;
  readonly parts: readonly PartTemplate[];
}

/** One response name. `list` is the position of a relation's arguments among those of the operation, where it has some. */
export type PartTemplate =
  | { readonly kind: 'ready'; readonly part: Selected }
  | {
      readonly kind: 'nested';
      readonly key: string;
      readonly relation: RelationScope;
      readonly of: SelectionTemplate;
      readonly list: number | undefined;
    }
  /** Distances of a geometry, which the filter of its rows decides about. */
  | {
      readonly kind: 'distances';
      readonly key: string;
      readonly field: string;
      readonly names: readonly DistanceName[];
    }
  | {
      readonly kind: 'item';
      readonly key: string;
      readonly link: ManyToAny;
      readonly items: readonly SelectionTemplate[];
    };

/** A name under which a distance is answered, or a constant beside it. */
type DistanceName = { readonly kind: 'distance'; readonly key: string } | Extract<Selected, { kind: 'constant' }>;

/** The selection of a request, with what it asks of each list, and the filter of its own rows. */
export function fillSelection(
  { collection, parts }: SelectionTemplate,
  lists: readonly NestedRead[],
  condition: Condition = always,
): Selection {
  return { collection, parts: parts.map((part) => fillPart(part, collection, lists, condition)) };
}

function fillPart(
  part: PartTemplate,
  collection: CollectionScope,
  lists: readonly NestedRead[],
  condition: Condition,
): Selected {
  if (part.kind === 'ready') return part.part;
  if (part.kind === 'distances') return fillDistances(part, collection, condition);
  const { kind, key } = part;
  if (kind === 'nested') {
    const read = part.list === undefined ? undefined : lists[part.list];
    const selection = fillSelection(part.of, lists, read?.condition);
    // Archived rows of the target, where the list asks for them.
    const target = read?.request.archived === undefined ? undefined : read.collection;
    if (target === undefined) return { kind, key, relation: part.relation, of: selection, read };
    return { kind, key, relation: { ...part.relation, target }, of: { ...selection, collection: target }, read };
  }
  const items = part.items.map((item) => ({ of: fillSelection(item, lists), read: undefined }));
  return { kind, key, link: part.link, items, own: undefined };
}

function fillDistances(
  { key, field, names }: Extract<PartTemplate, { kind: 'distances' }>,
  collection: CollectionScope,
  condition: Condition,
): Selected {
  const call = resolveCall(collection, `distance(${field})`, condition)?.found;
  if (typeof call !== 'object') throw invalidQuery(`A distance of "${field}" needs one "_near" on it beside it.`);
  return {
    kind: 'group',
    key,
    parts: names.map((part) => (part.kind === 'constant' ? part : { kind: 'call', key: part.key, call })),
  };
}

/**
 * Most rows that one list can have over all its parents, for one row of the selection: as `rowBound` counts it. `usual`
 * is the limit of lists without arguments.
 */
export function boundOfSelection({ parts }: SelectionTemplate, lists: readonly NestedRead[], usual: number): number {
  return Math.max(1, ...parts.map((part) => boundOfPart(part, lists, usual)));
}

function boundOfPart(part: PartTemplate, lists: readonly NestedRead[], usual: number): number {
  if (part.kind === 'ready' || part.kind === 'distances') return 1;
  if (part.kind === 'item') return Math.max(1, ...part.items.map((item) => boundOfSelection(item, lists, usual)));
  const many = part.relation.descriptor.kind !== 'm2o';
  const limit = part.list === undefined ? usual : (lists[part.list]?.request.limit ?? usual);
  return (many ? countedRows(limit) : 1) * boundOfSelection(part.of, lists, usual);
}
