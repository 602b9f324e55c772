import type { Attribute, GeometryForm, ValueFacts, VectorForm } from '../types/definition.ts';
import type { PortableType } from '../types/index.ts';

/** Type that decides how a value is written: a field's type, and its restrictions. */
export interface ValueType {
  readonly type: PortableType;
  /** As `FieldDescriptor.native`; absent: the widest native type of `type`. */
  readonly native?: string;
  /** Labels, for `type` `enum`. */
  readonly values?: readonly string[];
  /** Portable type of the elements when `type` is `array`. */
  readonly element?: PortableType;
  /** Name of the built-in range or multirange type, which filters can look into; `type` is `unknown` then. */
  readonly range?: string;
  /** Form of the values when `type` is `geometry`. */
  readonly geometry?: GeometryForm;
  /** Form of the values when `type` is `vector`. */
  readonly vector?: VectorForm;
  /** As `FieldDescriptor.wire`; absent: values of the type that some servers lack are none. */
  readonly wire?: NonNullable<ValueFacts['wire']>;
  /** Members of the values when `type` is `composite`, or of an array's elements. */
  readonly attributes?: readonly Attribute[];
}
