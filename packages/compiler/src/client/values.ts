/** Fields → TypeScript types: as answers have them, as payloads take them, and as filters ask for them. */
import { type FieldDescriptor, type PortableType, types } from '@tablewright/runtime/language';
import { comparedType, sentScalar, takenScalar } from '../emit/scalar-types.ts';
import { stringLiteral } from '../print/text.ts';
import { array, list, nullable, type Type, unionOfTexts } from '../print/type.ts';

type Valued = Pick<FieldDescriptor, 'type' | 'native' | 'wire' | 'element' | 'range'>;
type Values = readonly string[] | null;

/** Type of a field's value in a response, without null. The caller may change the value. */
export function sentType(field: Valued, values: Values): Type {
  if (field.wire.kind === 'masked') return stringLiteral('**********');
  if (field.type !== 'array') return valuesType(field, values) ?? sent(field.type);
  return array(nullable(elementValues(field, values) ?? sent(field.element ?? 'unknown')));
}

/** The value of a field in a payload, without null. */
export function takenType(field: Valued, values: Values): Type {
  if (field.type !== 'array') return valuesType(field, values) ?? takenScalar(field.type);
  return list(nullable(elementValues(field, values) ?? takenScalar(field.element ?? 'unknown')));
}

/** Filter type of a field; null if no filter may name it. */
export function filterType(field: Valued, values: Values): Type | null {
  if (field.wire.kind === 'masked') return null;
  return comparedType(field, listedType(field, values));
}

function listedType(field: Valued, values: Values): Type | null {
  if (values === null) return null;
  if (field.type === 'array') return elementValues(field, values);
  const type = valuesType(field, values);
  return type === null && types[field.type].comparison === 'text' ? 'string' : type;
}

/** Values of char(n) come padded to its length, which a list of values is not. */
function valuesType({ type, native }: Valued, values: Values): Type | null {
  const listed = types[type].isListable === true && native !== 'bpchar';
  return values !== null && listed ? literals([...new Set(values)]) : null;
}

function elementValues(field: Valued, values: Values): Type | null {
  if (values === null) return null;
  const element = { ...field, type: field.element ?? 'unknown', native: field.native.replace(/\[\]$/, '') };
  return valuesType(element, values);
}

/** The union of texts, no two of which are the same; `never` where there is none. */
export function literals(values: readonly string[]): Type {
  return unionOfTexts(values.map(stringLiteral));
}

/** Lists that the client gives are the caller's own. */
function sent(type: PortableType): Type {
  return sentScalar(type, array);
}
