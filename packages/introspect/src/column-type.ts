import type { PortableType } from '@tablewright/runtime/language';

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
