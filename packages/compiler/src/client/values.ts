/** Fields → TypeScript types: as answers have them, as payloads take them, and as filters ask for them. */
import { type FieldDescriptor, type PortableType, rangeElement } from '@platform/runtime/contract';
import { sentTypes } from '../emit/scalar-types.ts';
import { stringLiteral } from '../print/text.ts';
import { array, generic, list, nullable, type Type, union, unionOfTexts } from '../print/type.ts';

type Valued = Pick<FieldDescriptor, 'type' | 'native' | 'wire' | 'element' | 'range'>;
type Values = readonly string[] | null;

/** The value of a field in an answer, without null. Whoever asked may change it. */
export function sentType(field: Valued, values: Values): Type {
  if (field.wire.kind === 'masked') return stringLiteral('**********');
  if (field.type !== 'array') return valuesType(field, values) ?? sent[field.type];
  return array(nullable(elementValues(field, values) ?? sent[field.element ?? 'unknown']));
}

/** The value of a field in a payload, without null. */
export function takenType(field: Valued, values: Values): Type {
  if (field.type !== 'array') return valuesType(field, values) ?? taken(field.type);
  return list(nullable(elementValues(field, values) ?? taken(field.element ?? 'unknown')));
}

/** What a filter may say about a field; null for one that no filter may name. */
export function askedType(field: Valued, values: Values): Type | null {
  if (field.wire.kind === 'masked') return null;
  const value = takenType(field, values);
  const { type, element = 'unknown' } = field;
  switch (type) {
    case 'hash':
    case 'secret':
    case 'token':
      return null;
    case 'json':
      return 'JsonOperators';
    case 'array':
      if (element === 'json') return 'NullOperators';
      return generic('ArrayOperators', elementValues(field, values) ?? taken(element));
    case 'unknown':
      return rangeType(field.range);
    case 'binary':
      return 'NullOperators';
    case 'boolean':
      return union('BooleanOperators', 'boolean', 'null');
    case 'csv':
      return union('TextOperators', 'string', 'null');
    case 'string':
    case 'text':
      return union(values === null ? 'TextOperators' : generic('TextOperators', value), value, 'null');
    case 'uuid':
    case 'enum':
      return union(generic('EqualOperators', value), value, 'null');
    default:
      return union(generic('OrderOperators', value), value, 'null');
  }
}

/** Values of char(n) come padded to its length, which a list of values is not. */
function valuesType({ type, native }: Valued, values: Values): Type | null {
  const listed = (type === 'string' || type === 'text' || type === 'enum') && native !== 'bpchar';
  return values !== null && listed ? literals(values) : null;
}

function elementValues(field: Valued, values: Values): Type | null {
  const element = { ...field, type: field.element ?? 'unknown', native: field.native.replace(/\[\]$/, '') };
  return valuesType(element, values);
}

/** The union of texts; `never` where there is none. */
export function literals(values: readonly string[]): Type {
  return unionOfTexts(values.map(stringLiteral));
}

/** Only the ranges of PostgreSQL itself can be asked more than whether they are there. */
function rangeType(name: string | undefined): Type {
  const element = rangeElement(name);
  return element === undefined ? 'NullOperators' : generic('RangeOperators', taken(element.type));
}

/** Lists that the client gives are the caller's own. */
const sent: Readonly<Record<PortableType, Type>> = { ...sentTypes, csv: 'string[]' };

/** Numbers that JSON cannot carry safely are taken as text or as a number. */
function taken(type: PortableType): Type {
  if (type === 'bigInteger' || type === 'decimal') return union('string', 'number');
  if (type === 'csv') return union(list('string'), 'string');
  return sent[type];
}
