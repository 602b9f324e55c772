import type { ManyToAny } from '../../language/index.ts';
import type { Call } from '../../sql/calls.ts';
import type { CollectionScope, FieldScope, RelationScope } from '../../sql/scope.ts';
import type { NestedRead } from './nested.ts';

/** Source of one response name of an item. `read` is the read of nested rows that `deep` asks for. */
export type Selected =
  | { readonly kind: 'field'; readonly key: string; readonly field: FieldScope }
  | { readonly kind: 'call'; readonly key: string; readonly call: Call }
  /** A relation that is not nested: the key, or the keys, of what it leads to. */
  | {
      readonly kind: 'keys';
      readonly key: string;
      readonly relation: RelationScope;
      readonly read: NestedRead | undefined;
    }
  | {
      readonly kind: 'nested';
      readonly key: string;
      readonly relation: RelationScope;
      readonly of: Selection;
      readonly read: NestedRead | undefined;
    }
  /** A relation whose rows are aggregated. */
  | {
      readonly kind: 'aggregate';
      readonly key: string;
      readonly relation: RelationScope;
      readonly read: NestedRead;
    }
  /** The item of a link row: a record of one of the collections, else its key when `own` is there. */
  | {
      readonly kind: 'item';
      readonly key: string;
      readonly link: ManyToAny;
      readonly items: readonly SelectedItem[];
      readonly own: FieldScope | undefined;
    }
  | { readonly kind: 'group'; readonly key: string; readonly parts: readonly Selected[] }
  /** The same JSON for every item. */
  | { readonly kind: 'constant'; readonly key: string; readonly json: string };

/** Selection from the items of one collection of a many-to-any. */
export interface SelectedItem {
  readonly of: Selection;
  readonly read: NestedRead | undefined;
}

/** The selected parts of one collection, in the order of the answer. */
export interface Selection {
  readonly collection: CollectionScope;
  readonly parts: readonly Selected[];
}
