/** Field types → GraphQL types. Source: API specification, section 6. */
import type { GraphqlEnum } from '@tablewright/introspect/schema';
import { type FieldDescriptor, types } from '@tablewright/runtime/language';
import { sdlScalar } from '../print/sdl.ts';

/**
 * The type of a field's values, null aside; `key` tells that the field is all of its collection's key. Values, or those
 * of an array, are of an enum where there is one.
 */
export function valueType(
  { type, element = 'unknown', wire }: Pick<FieldDescriptor, 'type' | 'element' | 'wire'>,
  key: boolean,
  graphqlEnum: GraphqlEnum | null = null,
): string {
  if (wire.kind === 'masked') return 'Hash';
  if (graphqlEnum !== null) return type === 'array' ? `[${graphqlEnum.name}]` : graphqlEnum.name;
  const { graphql } = types[type];
  if (type !== 'array') return key ? (graphql.key ?? graphql.value) : graphql.value;
  const { value } = types[element].graphql;
  // Lists within lists have no type of their own.
  return element === 'array' || value.startsWith('[') ? graphql.value : `[${value}]`;
}

/** With an exclamation mark where null does not stand. */
export function nonNull(type: string, nullable: boolean): string {
  return nullable ? type : `${type}!`;
}

/** The scalars that GraphQL does not have of itself. */
export function scalarTypes(): string {
  return [
    sdlScalar('Date', 'A date, or a date and time, as text in ISO 8601.'),
    sdlScalar('Decimal', 'A number with a fraction, exact: text that is sent, text or a number that is taken.'),
    sdlScalar('GraphQLBigInt', 'A whole number of 64 bits: text that is sent, text or a whole number that is taken.'),
    sdlScalar('GraphQLStringOrFloat', 'A number, or text that stands for one.'),
    sdlScalar('Hash', 'A secret. It is written plain and read masked.'),
    sdlScalar('JSON', 'Any JSON value.'),
    sdlScalar('Void', 'Nothing: always null.'),
  ].join('');
}
