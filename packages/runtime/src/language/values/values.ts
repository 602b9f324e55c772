import type { Attribute, Decoded, ValueFacts } from '../types/definition.ts';
import { isPortableType, types } from '../types/index.ts';
import { elementOf } from './elements.ts';
import type { JsonValue } from './json.ts';
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

/** The type of a member of composite values. */
export function attributeType({ type, element, native, values, attributes }: Attribute): ValueType & {
  readonly native: string;
} {
  return {
    type: isPortableType(type) ? type : 'text',
    native,
    ...(element && isPortableType(element) && { element }),
    ...(values && { values }),
    ...(attributes && { attributes }),
  };
}

/**
 * The one text of all spellings of a value that the database holds to be the same: `1.50` and `01.5`, an instant in any
 * zone. Other types have one text already, or leave it to the database what is the same.
 */
export function oneSpelling({ type }: ValueType, text: string): string {
  return types[type].spelling?.(text) ?? text;
}
