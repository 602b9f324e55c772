import type { Caller } from '../../caller.ts';
import type { RowSink, Transaction } from '../../database/database.ts';
import { readRow, type TextRow } from '../../database/own-statements/script.ts';
import { runAs } from '../../database/row-security/row-context.ts';
import { bind } from '../../query/planner.ts';
import type { PermissionCheck } from '../checks/check.ts';
import { valuesOf, type WriteValues } from '../plan/inputs.ts';
import type { WriteStatement } from '../plan/statement.ts';

/** Answer of a write. */
export interface WriteAnswer {
  /** Rows that were written. */
  readonly count: number;
  /** False when the statement only looked, because there was nothing to change. */
  readonly wrote: boolean;
  /** The key of what was made: one text per key field, arrays when several items were made. */
  readonly keys: readonly string[];
  /** By the positions of rules: which stored rows they matched. */
  readonly matched: ReadonlyMap<number, string>;
  readonly verdicts: readonly Verdict[];
}

/** The rows of a statement, as texts. */
export async function rowsOf(
  transaction: Transaction,
  { statement, binders, sources }: WriteStatement,
  values: WriteValues,
  caller: Caller,
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  const sink: RowSink = {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
  };
  await transaction.run(runAs(statement, caller), bind(binders, valuesOf(sources, values), caller), sink);
  return rows;
}

/** A permission check, and the items that fail it by their positions, from 0. */
export interface Verdict {
  readonly permissionCheck: PermissionCheck;
  readonly items: readonly number[];
}
