import type { PortableType } from '../types/index.ts';
import type { ValueType } from './value-type.ts';

/** The values that a range lies between. */
export interface RangeElement {
  readonly type: PortableType;
  /** Type of one value, ready for SQL. */
  readonly native: string;
  /** Range type of two values, ready for SQL; also for a multirange. */
  readonly range: string;
}

function spanning(type: PortableType, native: string, prefix: string): readonly (readonly [string, RangeElement])[] {
  const element = { type, native, range: `${prefix}range` };
  return [
    [`${prefix}range`, element],
    [`${prefix}multirange`, element],
  ];
}

/** The ranges and multiranges that need no definition. They read as text, but can be asked what lies in them. */
const ranges: ReadonlyMap<string, RangeElement> = new Map([
  ...spanning('integer', 'int4', 'int4'),
  ...spanning('bigInteger', 'int8', 'int8'),
  ...spanning('decimal', 'numeric', 'num'),
  ...spanning('dateTime', 'timestamp', 'ts'),
  ...spanning('timestamp', 'timestamptz', 'tstz'),
  ...spanning('date', 'date', 'date'),
]);

/** Returns the element of a range type; undefined for any other type. `name` is that of `pg_type`. */
export function rangeElement(name: string | undefined): RangeElement | undefined {
  return name === undefined ? undefined : ranges.get(name);
}

/** The type of one element of an array, or of one value within a range; undefined for any other type. */
export function elementOf(type: ValueType): (ValueType & { readonly native?: string }) | undefined {
  if (type.type !== 'array') return rangeElement(type.range);
  const native = type.native?.replace(/\[\]$/, '');
  const { values, attributes } = type;
  return {
    type: type.element ?? 'text',
    ...(native && { native }),
    ...(values && { values }),
    ...(attributes && { attributes }),
  };
}
