/** Parts of tables: types of columns, and foreign keys with what follows them. */
import type { PortableType } from '@tablewright/runtime/language';
import type { TableId } from './table-names.ts';

/**
 * A column's type, resolved: domains are followed to their base, whose checks are kept.
 *
 * `base` names the type that remains: `int8`, `text`, `numeric` (`pg_type.typname` when it is in `pg_catalog`, else
 * `schema.typname`).
 */
export interface ColumnType {
  readonly portable: PortableType;
  readonly base: string;
  readonly category: 'base' | 'enum' | 'range' | 'multirange' | 'composite' | 'array' | 'extension';
  /** Domain chain from the column's own type inwards; empty when it is none. */
  readonly domains: readonly { readonly name: string; readonly notNull: boolean; readonly checks: readonly string[] }[];
  readonly element: ColumnType | null;
  /** `schema.name` of the enum, also listed in `Schema.enums`. */
  readonly enum: string | null;
  /** Labels of the enum, or the list of a `CHECK (col IN (…))`. */
  readonly values: readonly string[] | null;
  /** Characters; bits for `bit`. */
  readonly maxLength: number | null;
  readonly precision: number | null;
  readonly scale: number | null;
  /** Members of a composite type, in their order. */
  readonly attributes?: readonly { readonly name: string; readonly nativeType: string; readonly type: ColumnType }[];
  /** On geometries: the GeoJSON type of all values, and their spatial reference; null allows all. `planar`: they lie in a plane. */
  readonly geometry?: { readonly kind: string | null; readonly srid: number | null; readonly planar?: true };
  /** On vectors: numbers of each value (null: any), their size, and if a search in an index goes on after its first rows. */
  readonly vector?: { readonly dimensions: number | null; readonly half: boolean; readonly iterative: boolean };
}

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
