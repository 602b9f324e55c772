/** Portable type → TypeScript type, as JSON sends it, as a payload takes it, and as a filter asks for it. */
import { type FieldDescriptor, type PortableType, rangeElement } from '@tablewright/runtime/language';
import type { ApiField } from '../api.ts';
import { generic, list, nullable, type Type, union } from '../print/type.ts';

/** The value of a field in an answer, without null. */
export function sentType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.type === 'array') return list(nullable(valuesType ?? sentTypes[descriptor.element ?? 'unknown']));
  return valuesType ?? sentTypes[descriptor.type];
}

/** The value of a field in a payload, without null. */
export function takenType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.type === 'array') return list(nullable(valuesType ?? takenTypes[descriptor.element ?? 'unknown']));
  return valuesType ?? takenTypes[descriptor.type];
}

/** Filter type of a field; null for a field that no filter may name. */
export function askedType({ descriptor, valuesType }: ApiField): Type | null {
  return comparedType(descriptor, valuesType);
}

type Compared = Pick<FieldDescriptor, 'type' | 'element' | 'range'>;

/** The same of any field; `listed` is the type of its values, or of its elements, where these are listed. */
export function comparedType(field: Compared, listed: Type | null): Type | null {
  const { type } = field;
  // The type alone does not decide how these compare.
  if (listed !== null || type === 'array' || type === 'unknown') return makeCompared(field, listed);
  const cached = comparedTypes.get(type);
  if (cached !== undefined) return cached;
  const made = makeCompared(field, null);
  comparedTypes.set(type, made);
  return made;
}

const comparedTypes = new Map<PortableType, Type | null>();

function makeCompared({ type, element = 'unknown', range }: Compared, listed: Type | null): Type | null {
  const value = listed ?? takenTypes[type];
  switch (type) {
    case 'hash':
    case 'secret':
    case 'token':
      return null;
    case 'json':
      return 'JsonOperators';
    case 'array':
      return element === 'json' ? 'NullOperators' : generic('ArrayOperators', listed ?? takenTypes[element]);
    case 'unknown':
      return rangeType(range);
    case 'binary':
      return 'NullOperators';
    case 'boolean':
      return union('BooleanOperators', 'boolean', 'null');
    case 'string':
    case 'text':
    case 'csv':
      return listed === null
        ? union('TextOperators', 'string', 'null')
        : union(generic('TextOperators', listed), listed, 'null');
    case 'uuid':
    case 'enum':
      return union(generic('EqualOperators', value), value, 'null');
    default:
      return union(generic('OrderOperators', value), value, 'null');
  }
}

/** Only the ranges of PostgreSQL itself can be asked more than whether they are there. */
function rangeType(name: string | undefined): Type {
  const element = rangeElement(name);
  return element === undefined ? 'NullOperators' : generic('RangeOperators', takenTypes[element.type]);
}

/** Types of values in responses. */
export const sentTypes: Readonly<Record<PortableType, Type>> = {
  string: 'string',
  text: 'string',
  enum: 'string',
  integer: 'number',
  bigInteger: 'string',
  decimal: 'string',
  float: 'FloatValue',
  boolean: 'boolean',
  date: 'string',
  time: 'string',
  dateTime: 'string',
  timestamp: 'string',
  interval: 'string',
  uuid: 'string',
  json: 'JsonValue',
  array: 'JsonValue',
  csv: list('string'),
  binary: 'string',
  hash: 'string',
  secret: 'string',
  token: 'string',
  unknown: 'string',
};

const numeral = union('string', 'number');

/** Types of values in payloads: text or a number where JSON cannot carry the number safely. */
export const takenTypes: Readonly<Record<PortableType, Type>> = {
  ...sentTypes,
  bigInteger: numeral,
  decimal: numeral,
  csv: union(list('string'), 'string'),
};
