/** What hooks hear of a tree while it is written. */
import type { FilterObject } from '../../contract/filter-syntax.ts';
import type { Keys } from '../keys.ts';
import type { KeyTexts } from './group.ts';

/** An item below others in a payload, as it was made or changed. */
export interface WrittenNode {
  readonly key: KeyTexts;
  /** What the payload says of it. One that says it of several items is the same object for each. */
  readonly payload: FilterObject;
}

/** Follows the items below the top of a tree. What the server joins, parts and puts in order by itself is not told. */
export interface TreeWatcher {
  /** Items were made or changed. */
  wrote(action: 'create' | 'update', collection: string, nodes: readonly WrittenNode[]): void;
  /** Items are about to be removed; what it rejects with fails the request. */
  removes(collection: string, keys: Keys): Promise<void>;
}
