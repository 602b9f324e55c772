/** Fields → TypeScript types: as answers have them, as payloads take them, and as filters ask for them. */
import { type FieldDescriptor, type PortableType, types } from '@tablewright/runtime/language';
import type { ApiEnum } from '../api.ts';
import { comparedType, compositeType, sentScalar, takenScalar } from '../emit/scalar-types.ts';
import type { TypeDeclaration } from '../print/declarations.ts';
import { stringLiteral } from '../print/text.ts';
import { array, generic, list, nullable, type Type, unionOfTexts } from '../print/type.ts';
import type { RoleField } from '../role-view/role-view.ts';

type Valued = Pick<FieldDescriptor, 'type' | 'native' | 'wire' | 'element' | 'range' | 'attributes'>;
type Values = readonly string[] | null;

/** Type of a field's value in a response, without null. The caller may change the value; `name` is that of its values. */
export function sentType(field: Valued, values: Values, name?: string): Type {
  if (field.wire.kind === 'masked') return stringLiteral('**********');
  if (field.attributes !== undefined) return compositeType(field, sent, array);
  if (field.type !== 'array') return valuesType(field, values, name) ?? sent(field.type);
  return array(nullable(elementValues(field, values, name) ?? sent(field.element ?? 'unknown')));
}

/** The value of a field in a payload, without null. */
export function takenType(field: Valued, values: Values, name?: string): Type {
  if (field.attributes !== undefined) return compositeType(field, takenScalar, list);
  if (field.type !== 'array') return valuesType(field, values, name) ?? takenScalar(field.type);
  return generic('ArrayValue', elementValues(field, values, name) ?? takenScalar(field.element ?? 'unknown'));
}

/** Filter type of a field; null if no filter may name it. */
export function filterType(field: Valued, values: Values, name?: string): Type | null {
  if (field.wire.kind === 'masked') return null;
  return comparedType(field, listedType(field, values, name));
}

function listedType(field: Valued, values: Values, name?: string): Type | null {
  if (values === null) return null;
  if (field.type === 'array') return elementValues(field, values, name);
  const type = valuesType(field, values, name);
  return type === null && types[field.type].comparison === 'text' ? 'string' : type;
}

/** Values of char(n) come padded to its length, which a list of values is not. */
function valuesType({ type, native }: Valued, values: Values, name?: string): Type | null {
  const listed = types[type].isListable === true && native !== 'bpchar';
  return values !== null && listed ? (name ?? literals([...new Set(values)])) : null;
}

function elementValues(field: Valued, values: Values, name?: string): Type | null {
  if (values === null) return null;
  const element = { ...field, type: field.element ?? 'unknown', native: field.native.replace(/\[\]$/, '') };
  return valuesType(element, values, name);
}

/** Declares the values of fields, each that is no enum type once. */
export function declareValues(fields: readonly Listed[]): readonly TypeDeclaration[] {
  const named = fields.flatMap((field): readonly TypeDeclaration[] => {
    const { name, values, valuesType: type } = field;
    if (type === null || type.enumType !== null || !isNamed(field)) return [];
    return [
      { kind: 'alias', name: type.name, notes: [`Values of \`${name}\`.`], type: literals([...new Set(values)]) },
    ];
  });
  return [...new Map(named.map((alias) => [alias.name, alias])).values()];
}

export function enumTypesOf(fields: readonly Listed[]): readonly ApiEnum[] {
  return fields.filter(isNamed).flatMap(({ valuesType: type }) => type?.enumType ?? []);
}

type Listed = Pick<RoleField, 'name' | 'descriptor' | 'values' | 'valuesType'>;

/** True if the values of a field have a type. */
function isNamed({ descriptor, values, valuesType: type }: Listed): boolean {
  if (type === null || descriptor.wire.kind === 'masked') return false;
  return (descriptor.type === 'array' ? elementValues : valuesType)(descriptor, values) !== null;
}

/** The union of texts, no two of which are the same; `never` where there is none. */
export function literals(values: readonly string[]): Type {
  return unionOfTexts(values.map(stringLiteral));
}

/** Lists that the client gives are the caller's own. */
function sent(type: PortableType): Type {
  return sentScalar(type, array);
}
