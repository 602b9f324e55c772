import type { Attribute, GeometryForm, ValueFacts, VectorForm } from '../types/definition.ts';
import type { PortableType } from '../types/index.ts';

/** Type that decides how a value is written: a field's type, and its restrictions. */
export interface ValueType {
  readonly type: PortableType;
  /** As `FieldDescriptor.native`; absent: the widest native type of `type`. */
  readonly native?: string;
  /** Labels, for `type` `enum`. */
  readonly values?: readonly string[];
  readonly element?: PortableType;
  /** Name of the range type, for `type` `unknown` where the column is a range. */
  readonly range?: string;
  readonly geometry?: GeometryForm;
  readonly vector?: VectorForm;
  /** As `FieldDescriptor.wire`; absent: values of the type that some servers lack are none. */
  readonly wire?: NonNullable<ValueFacts['wire']>;
  /** For `type` `composite`, and an array of such. */
  readonly attributes?: readonly Attribute[];
}
