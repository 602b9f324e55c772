import type { Attribute, Decoded, ValueFacts } from '../types/definition.ts';
import { isPortableType, type PortableType, types } from '../types/index.ts';
import type { JsonValue } from './parse-text.ts';
import type { ValueType } from './value-type.ts';

const nothing: Decoded = { ok: true, value: null };

/**
 * Turns a JSON value into the text form of a parameter of a field's type, without losing a digit.
 *
 * Accepts the output form of every type and what the API specification (section 6, "Input") adds. Text of a query
 * string is accepted as it stands: every form has one as text.
 */
export function decodeValue(type: ValueType, input: JsonValue): Decoded {
  if (input === null && type.type !== 'json') return nothing;
  // Numbers take the digits of a number that is no double.
  const { comparison, decode } = types[type.type];
  const value = comparison === 'number' && JSON.isRawJSON(input) ? input.rawJSON : input;
  return decode(value, type, decodeElements);
}

function decodeElements({
  native,
  values,
  element = 'text',
  attributes,
  attribute,
}: ValueFacts): (value: JsonValue) => Decoded {
  if (attribute !== undefined) return (value) => decodeValue(attributeType(attribute), value);
  const type = isPortableType(element) ? element : 'text';
  const facts = { ...(native && { native }), ...(values && { values }), ...(attributes && { attributes }) };
  const found = elementOf({ type: 'array', element: type, ...facts });
  return (value) => decodeValue(found ?? { type }, value);
}

/** Only servers whose rows are binary have composite values, arrays and ranges. */
const ofBinary = { kind: 'text' } as const;

/** The type of a member of composite values. */
export function attributeType({ type, element, native, values, attributes }: Attribute): ValueType & {
  readonly native: string;
} {
  return {
    type: isPortableType(type) ? type : 'text',
    native,
    wire: ofBinary,
    ...(element && isPortableType(element) && { element }),
    ...(values && { values }),
    ...(attributes && { attributes }),
  };
}

/** The one text of all spellings of a value that the database holds to be the same: `1.50` and `01.5`, an instant. */
export function oneSpelling({ type }: ValueType, text: string): string {
  return types[type].spelling?.(text) ?? text;
}

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
    wire: ofBinary,
    ...(native && { native }),
    ...(values && { values }),
    ...(attributes && { attributes }),
  };
}
