import type { StatementBuilder } from '../sql/row.ts';
import type { CollectionScope, Scope } from '../sql/scope.ts';
import type { OpenValues } from './authorise/filter.ts';
import type { Selector } from './authorise/shape.ts';
import type { QueryTree } from './parse/parse-query-string.ts';
import type { ReadLimits, ReadRequest } from './parse/request.ts';
import type { ReadPlan } from './plan/plan.ts';
import type { ReadPass, RequestedTargets } from './plan/plan-read.ts';

/** Keys that a request names: their parameters, and how many items they are. */
export interface NamedKeys {
  readonly values: readonly string[];
  readonly count: number;
}

/** A read whose parameters are well formed. */
export interface RequestedRead {
  readonly scope: Scope;
  readonly limits: ReadLimits;
  readonly selector: Selector;
  readonly collection: string;
  readonly request: ReadRequest;
  /** Reads the keys that the request names; called at the stage of names. Absent for plain lists. */
  readonly keys?: (collection: CollectionScope) => NamedKeys;
  /** Rows that stand in the place of the table's. */
  readonly source?: RequestedSource;
  /** Complete the plan. Default: none. */
  readonly passes?: readonly ReadPass[];
  /** For `targets`. */
  readonly targets?: RequestedTargets;
}

/** Rows of a collection that something else than its table gives. */
export interface RequestedSource {
  /** Tells sources apart whose text differs. */
  readonly form: string;
  /** Values of its parameters. */
  readonly values: readonly string[];
  readonly many: boolean;
  /** Prints it for FROM, without an alias; its values stand at `index`. */
  print(statement: StatementBuilder, index: number): string;
}

/** A plan with the values that its request left open. */
export interface Prepared {
  readonly plan: ReadPlan;
  readonly values: readonly string[];
  /** Where the first of these values come from. */
  readonly open: OpenValues;
  /** Set when the list is paged by cursor: items of a page at most, -1 for all that remain. */
  readonly size?: number;
  /** Set where its limits let a list within lists have more rows than are answered from memory. */
  readonly large?: true;
}

/** A plan with the values of one request. */
export type ReadyRead = Pick<Prepared, 'plan' | 'values' | 'size' | 'large'>;

/** Gives the prepared read of a query of one access class, or has it prepared. */
export type FindPrepared = (
  selector: Selector,
  collection: string,
  query: string | QueryTree,
  prepare: () => Prepared,
) => ReadyRead;
