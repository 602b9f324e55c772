/** Portable type → TypeScript type, as JSON sends it, as a payload takes it, and as a filter asks for it. */
import { type PortableType, rangeElement } from '@platform/runtime/contract';
import type { ApiField } from '../api.ts';
import { generic, list, nullable, type Type, union } from '../print/type.ts';

/** The value of a field in an answer, without null. */
export function sentType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.type === 'array') return list(nullable(valuesType ?? sentTypes[descriptor.element ?? 'unknown']));
  return valuesType ?? sentTypes[descriptor.type];
}

/** The value of a field in a payload, without null. */
export function takenType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.type === 'array') return list(nullable(valuesType ?? taken(descriptor.element ?? 'unknown')));
  return valuesType ?? taken(descriptor.type);
}

/** What a filter may say about a field; null for a field that no filter may name. */
export function askedType(field: ApiField): Type | null {
  const { descriptor, valuesType } = field;
  const value = takenType(field);
  switch (descriptor.type) {
    case 'hash':
    case 'secret':
    case 'token':
      return null;
    case 'json':
      return 'JsonOperators';
    case 'array':
      if (descriptor.element === 'json') return 'NullOperators';
      return generic('ArrayOperators', valuesType ?? taken(descriptor.element ?? 'unknown'));
    case 'unknown':
      return rangeType(descriptor.range);
    case 'binary':
      return 'NullOperators';
    case 'boolean':
      return union('BooleanOperators', 'boolean', 'null');
    case 'string':
    case 'text':
    case 'csv':
      return union(valuesType ? generic('TextOperators', valuesType) : 'TextOperators', valuesType ?? 'string', 'null');
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
  return element === undefined ? 'NullOperators' : generic('RangeOperators', taken(element.type));
}

/** What the API sends for values of each type. */
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

/** Numbers that JSON cannot carry safely are taken as text or as a number. */
function taken(type: PortableType): Type {
  if (type === 'bigInteger' || type === 'decimal') return union('string', 'number');
  if (type === 'csv') return union(list('string'), 'string');
  return sentTypes[type];
}
