import { type Binder, formOf, type ListedValues } from '../database/parameter-forms.ts';
import { readElements } from '../sql/array-text.ts';
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
  readonly targets?: RequestedTargets;
}

/** Rows of a collection that something else than its table gives. */
export interface RequestedSource {
  /** Tells sources apart whose text differs. */
  readonly form: string;
  readonly values: readonly string[];
  readonly many: boolean;
  /** Prints it for FROM, without an alias; its values stand at `index`. */
  print(statement: StatementBuilder, index: number): string;
}

/** A plan with the values that its request left open. */
export interface Prepared {
  readonly plan: ReadPlan;
  readonly values: readonly string[];
  /** Sources of the first of these values. */
  readonly open: OpenValues;
  /** Set when the list is paged by cursor: items of a page at most, -1 for all that remain. */
  readonly size?: number;
  /** Set where its limits let a list within lists have more rows than are answered from memory. */
  readonly large?: true;
}

export type ReadyRead = Pick<Prepared, 'plan' | 'values' | 'size' | 'large'>;

/** Gives the prepared read of a query of one access class, or has it prepared. */
export type FindPrepared = (
  selector: Selector,
  collection: string,
  query: string | QueryTree,
  prepare: () => Prepared,
) => ReadyRead;

/** The JSON of rows: one array per row, of the texts of its values. */
export function bindRows(
  { of: lists, count }: Extract<Binder, { kind: 'rows' }>,
  values: readonly (string | null)[],
): string {
  if (lists.length === 0) return JSON.stringify(Array.from({ length: Number(values[count ?? -1] ?? 0) }, () => []));
  const columns = lists.map((list) => cellsOf(list, values));
  return JSON.stringify((columns[0] ?? []).map((_, row) => columns.map((column) => column[row] ?? null)));
}

function cellsOf({ index, native }: ListedValues, values: readonly (string | null)[]): readonly (string | null)[] {
  const cells = readElements(values[index]);
  if (native === 'bool') return cells.map((cell) => cell && formOf(cell, 'boolean'));
  if (native === 'timestamp' || native === 'timestamptz') return cells.map((cell) => cell && formOf(cell, 'instant'));
  // `\x00ff`: the digits alone.
  return native === 'bytea' ? cells.map((cell) => cell?.slice(2) ?? null) : cells;
}
