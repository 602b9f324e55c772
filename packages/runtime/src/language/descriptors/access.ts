import type { Condition, Operand } from '../conditions/condition.ts';
import type { FunctionAccess } from './function.ts';

/**
 * One rule: on the rows that match `where`, the listed fields.
 *
 * Rules stay a set of pairs to the end. Fields and rows are never united separately, so a cell is granted only when one
 * rule grants both its row and its field.
 */
export interface AccessRule {
  readonly fields: readonly string[];
  readonly where: Condition;
  /** Set on rules for delete that also remove items for good where DELETE archives them. */
  readonly purge?: true;
}

/** A rule for create and update: also what the written row must satisfy, and values the server sets. */
export interface WriteRule extends AccessRule {
  /** Null: the written row must still match `where`. */
  readonly check: Condition | null;
  readonly presets: readonly { readonly field: string; readonly value: Operand }[];
}

/** Permissions of an access class on one collection. An absent action is forbidden. */
export interface CollectionAccess {
  readonly collection: string;
  readonly read?: readonly AccessRule[];
  readonly create?: readonly WriteRule[];
  readonly update?: readonly WriteRule[];
  readonly delete?: readonly AccessRule[];
}

/**
 * All roles with identical effective permissions, compiled once.
 *
 * `admin` classes may do everything; their `collections` still list every collection and field, so nothing downstream
 * needs a special case to plan for them.
 */
export interface AccessClass {
  readonly name: string;
  /** Role names; `public` stands for requests without a token. */
  readonly roles: readonly string[];
  readonly admin: boolean;
  /** Set where it sees the rows of all tenants, as administrators do. */
  readonly exempt?: true;
  /** Sorted by collection name. A collection that is not listed does not exist for this class. */
  readonly collections: readonly CollectionAccess[];
  /** Functions that it may call, sorted by name. Default: none. */
  readonly functions?: readonly FunctionAccess[];
}
