/** Portable type → TypeScript type, as JSON sends it, as a payload takes it, and as a filter asks for it. */
import {
  type Attribute,
  type Comparison,
  comparisonOf,
  type FieldDescriptor,
  findOrCreate,
  isPortableType,
  type PortableType,
  rangeElement,
  types,
} from '@tablewright/runtime/language';
import type { ApiField } from '../api.ts';
import { propertyKey, stringLiteral } from '../print/text.ts';
import { generic, list, nullable, object, type Type, union, unionOfTexts } from '../print/type.ts';

/** The value of a field in an answer, without null. */
export function sentType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.attributes !== undefined) return compositeType(descriptor, sentScalar, list);
  if (descriptor.type === 'array') return list(nullable(valuesType ?? sentScalar(descriptor.element ?? 'unknown')));
  return valuesType ?? sentScalar(descriptor.type);
}

/** The value of a field in a payload, without null. */
export function takenType({ descriptor, valuesType }: ApiField): Type {
  if (descriptor.attributes !== undefined) return compositeType(descriptor, takenScalar, list);
  if (descriptor.type === 'array') return list(nullable(valuesType ?? takenScalar(descriptor.element ?? 'unknown')));
  return valuesType ?? takenScalar(descriptor.type);
}

type Members = Pick<FieldDescriptor, 'attributes' | 'element'> & { readonly type: string };

/** An object of members, or a list of such; `scalar` gives the type of other values, `many` that of several. */
export function compositeType(
  { type, element, attributes = [] }: Members,
  scalar: (type: PortableType) => Type,
  many: (element: Type) => Type,
): Type {
  const single = object(
    attributes.map((attribute) => ({
      name: propertyKey(attribute.name),
      optional: false,
      type: nullable(memberType(attribute, scalar, many)),
    })),
  );
  return type === 'array' && element !== undefined ? many(nullable(single)) : single;
}

function memberType(
  { type, element, values, attributes }: Attribute,
  scalar: (type: PortableType) => Type,
  many: (element: Type) => Type,
): Type {
  const portable = (name = 'unknown'): PortableType => (isPortableType(name) ? name : 'unknown');
  if (attributes !== undefined) {
    return compositeType({ type, ...(element && { element: portable(element) }), attributes }, scalar, many);
  }
  const listed = values && unionOfTexts([...new Set(values)].map(stringLiteral));
  if (type !== 'array') return listed ?? scalar(portable(type));
  return many(nullable(listed ?? scalar(portable(element))));
}

/** Filter type of a field; null for a field that no filter may name. */
export function filterType({ descriptor, valuesType }: ApiField): Type | null {
  return comparedType(descriptor, valuesType);
}

type Compared = Pick<FieldDescriptor, 'type' | 'element' | 'range'>;

/** The same of any field; `listed` is the type of its values, or of its elements, where these are listed. */
export function comparedType(field: Compared, listed: Type | null): Type | null {
  const { type } = field;
  // The type alone does not decide how these compare.
  if (listed !== null || type === 'array' || type === 'unknown') return makeCompared(field, listed);
  return findOrCreate(comparedTypes, type, () => makeCompared(field, null));
}

const comparedTypes = new Map<string, Type | null>();

/** Operators by the comparison of fields, and whether a value in their place means `_eq`. */
const operators: Readonly<Record<Comparison, readonly [name: string, short: boolean]>> = {
  text: ['TextOperators', true],
  list: ['TextOperators', true],
  choice: ['EqualOperators', true],
  number: ['OrderOperators', true],
  time: ['OrderOperators', true],
  boolean: ['BooleanOperators', true],
  array: ['ArrayOperators', false],
  range: ['RangeOperators', false],
  json: ['JsonOperators', false],
  geometry: ['GeometryOperators', false],
  vector: ['VectorOperators', false],
  composite: ['CompositeOperators', false],
  presence: ['NullOperators', false],
};

/** Operators without a type of values. */
const plain = ['boolean', 'json', 'geometry', 'vector', 'composite', 'presence'];

function makeCompared(field: Compared, listed: Type | null): Type | null {
  const comparison = comparisonOf(field);
  if (comparison === null) return null;
  const value = listed ?? comparedValue(field, comparison);
  const [name, short] = operators[comparison];
  const isPlain = plain.includes(comparison) || (listed === null && comparison === 'text');
  const made = isPlain ? name : generic(name, value);
  return short ? union(made, value, 'null') : made;
}

function comparedValue({ type, element = 'unknown', range }: Compared, comparison: Comparison): Type {
  if (comparison === 'array') return takenScalar(element);
  return takenScalar(rangeElement(range)?.type ?? type);
}

/** Type of a value in a response; `list` prints that of several. */
export function sentScalar(type: PortableType, many: (element: Type) => Type = list): Type {
  const { typescript } = types[type];
  return typescript.list === true ? many(typescript.value) : typescript.value;
}

/** Type of a value in a payload: text or a number where JSON cannot carry the number safely. */
export function takenScalar(type: PortableType): Type {
  const { also } = types[type].typescript;
  return also === undefined ? sentScalar(type) : union(sentScalar(type), also);
}
