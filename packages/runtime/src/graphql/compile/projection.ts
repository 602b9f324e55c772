/** Selection of a document from a value that is JSON already. */
import { type GraphQLNamedType, getNamedType, isObjectType, type SelectionSetNode } from 'graphql';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { type Collecting, collectFields } from './collect.ts';

/** Makes what takes the selected parts of values of a type. Members that a value lacks are null. */
export function compileProjection(
  to: Collecting,
  type: GraphQLNamedType,
  sets: readonly (SelectionSetNode | undefined)[],
): (value: JsonValue) => JsonValue {
  if (!isObjectType(type)) return (value) => value;
  const parts = collectFields(to, type, sets).map(({ key, name, nodes }) => {
    const declared = type.getFields()[name];
    if (declared === undefined) return { key, take: () => (name === '__typename' ? type.name : null) };
    const below = nodes.map(({ selectionSet }) => selectionSet);
    const project = compileProjection(to, getNamedType(declared.type), below);
    const read = (value: { readonly [name: string]: JsonValue }): JsonValue => project(value[name] ?? null);
    return { key, take: read };
  });
  return function project(value): JsonValue {
    if (Array.isArray(value)) return value.map(project);
    return isObject(value) ? Object.fromEntries(parts.map(({ key, take: accept }) => [key, accept(value)])) : null;
  };
}
