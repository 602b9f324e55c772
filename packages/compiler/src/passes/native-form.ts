import type { Attribute, GeometryForm, VectorForm, WireForm } from '@tablewright/runtime/language';

/** Facts about a column's type that reach SQL. */
export interface NativeForm {
  /** Type of parameters compared with the column. */
  readonly native: string;
  /** Cast of the column in comparisons, where its own type does not compare with `native`. */
  readonly comparison?: string;
  /** Cast of a value that is written, where a column of its own type does not take `native`. */
  readonly stored?: string;
  /** As `FieldDescriptor.collated`. */
  readonly collated?: string;
  readonly wire: WireForm;
  /** As `FieldDescriptor.geometry`. */
  readonly geometry?: GeometryForm;
  /** As `FieldDescriptor.vector`. */
  readonly vector?: VectorForm;
  /** As `FieldDescriptor.attributes`. */
  readonly attributes?: readonly Attribute[];
}
