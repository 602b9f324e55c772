import type { TableId } from './table-names.ts';

/** A foreign key; `columns[i]` references `targetColumns[i]`. */
export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: TableId;
  readonly targetColumns: readonly string[];
  readonly onDelete: ReferentialAction;
  readonly onUpdate: ReferentialAction;
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
  /** False where rows may lead nowhere: those before a key that is NOT VALID, and all of one that is NOT ENFORCED. */
  readonly validated: boolean;
  readonly enforced?: false;
}

/** Action on the rows that reference a row when it is deleted or its key changes. */
export type ReferentialAction = 'no action' | 'restrict' | 'cascade' | 'set null' | 'set default';

/** True for an action that removes or changes rows, and does not refuse to. */
export function isFollowing(action: ReferentialAction): boolean {
  return action !== 'no action' && action !== 'restrict';
}

/** A table that foreign keys reference. */
interface TargetTable {
  readonly primaryKey: { readonly columns: readonly string[] } | null;
  readonly uniques: readonly { readonly columns: readonly string[] }[];
  readonly columns: readonly { readonly name: string; readonly fill: { readonly kind: string } }[];
}

/** True for keys whose values change with writes that name none of a key: they have more columns, or are computed. */
export function isFollowedUnnamed(
  { onUpdate, targetColumns }: Pick<ForeignKey, 'onUpdate' | 'targetColumns'>,
  { primaryKey, uniques, columns }: TargetTable,
): boolean {
  if (!isFollowing(onUpdate)) return false;
  const keys = [primaryKey, ...uniques].map((key) => key?.columns ?? []);
  const isKeyed = targetColumns.every((name) => keys.some((names) => names.includes(name)));
  return !isKeyed || columns.some(({ name, fill }) => fill.kind === 'generated' && targetColumns.includes(name));
}
