/** Events of a nested write that hooks receive. */
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import type { Keys } from '../decode/keys.ts';
import type { KeyTexts } from './parse/group.ts';

/** An item below others in a payload, as it was made or changed. */
interface WrittenNode {
  readonly key: KeyTexts;
  /** Payload of the item. A payload for several items is the same object for each. */
  readonly payload: FilterObject;
}

/**
 * Receives the items below the top of a tree. Links, unlinks and order that the server sets by itself are not reported.
 */
export interface TreeWatcher {
  /** Items were made or changed. */
  wrote(action: 'create' | 'update', collection: string, nodes: readonly WrittenNode[]): void;
  /** Called before items are removed; if it rejects, the request fails. */
  removes(collection: string, keys: Keys): Promise<void>;
}
