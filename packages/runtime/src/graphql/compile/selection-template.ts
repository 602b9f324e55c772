/** Selections whose lists wait for the arguments of a request. */
import type { ManyToAny } from '../../language/index.ts';
import type { NestedRead } from '../../query/authorise/nested.ts';
import type { Selected, Selection } from '../../query/authorise/selection.ts';
import { countedRows } from '../../query/plan/row-bound.ts';
import type { CollectionScope, RelationScope } from '../../sql/scope.ts';

/** A selection of one collection. */
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
  | {
      readonly kind: 'item';
      readonly key: string;
      readonly link: ManyToAny;
      readonly items: readonly SelectionTemplate[];
    };

/** The selection of a request, with what it asks of each list. */
export function fillSelection({ collection, parts }: SelectionTemplate, lists: readonly NestedRead[]): Selection {
  return { collection, parts: parts.map((part) => fillPart(part, lists)) };
}

function fillPart(part: PartTemplate, lists: readonly NestedRead[]): Selected {
  if (part.kind === 'ready') return part.part;
  const { kind, key } = part;
  if (kind === 'nested') {
    const read = part.list === undefined ? undefined : lists[part.list];
    return { kind, key, relation: part.relation, of: fillSelection(part.of, lists), read };
  }
  const items = part.items.map((item) => ({ of: fillSelection(item, lists), read: undefined }));
  return { kind, key, link: part.link, items, own: undefined };
}

/**
 * How many rows one list can have at most over all its parents, for one row of the selection: as `rowBound` counts it.
 * `usual` is the limit of lists without arguments.
 */
export function boundOfSelection({ parts }: SelectionTemplate, lists: readonly NestedRead[], usual: number): number {
  return Math.max(1, ...parts.map((part) => boundOfPart(part, lists, usual)));
}

function boundOfPart(part: PartTemplate, lists: readonly NestedRead[], usual: number): number {
  if (part.kind === 'ready') return 1;
  if (part.kind === 'item') return Math.max(1, ...part.items.map((item) => boundOfSelection(item, lists, usual)));
  const many = part.relation.descriptor.kind !== 'm2o';
  const limit = part.list === undefined ? usual : (lists[part.list]?.request.limit ?? usual);
  return (many ? countedRows(limit) : 1) * boundOfSelection(part.of, lists, usual);
}
