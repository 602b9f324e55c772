import { Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { PlatformError } from '../../errors.ts';
import { parseExactly } from '../../language/values/parse-text.ts';
import { documentErrorBody } from '../documents/document-errors.ts';
import { library } from '../testing/library.ts';
import { coerceVariables, createCoercion, type SentVariables } from './input.ts';

function operationOf(text: string): OperationDefinitionNode {
  const [operation] = parse(text).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('There is no operation.');
  return operation;
}

function coerce(definitions: string, json: string) {
  const sent = parseExactly(json);
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw new Error('Variables are an object.');
  const variables: SentVariables = Object.fromEntries(Object.entries(sent));
  const operation = operationOf(`query (${definitions}) { __typename }`);
  const shortly = outcome(() => createCoercion(library.items.schema, operation)(variables));
  // Both ways must come to the same.
  expect(shortly).toEqual(outcome(() => coerceVariables(library.items.schema, operation, variables)));
  if ('thrown' in shortly) throw shortly.thrown;
  return shortly.value;
}

function outcome<T>(run: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: run() };
  } catch (thrown) {
    return { thrown };
  }
}

const huge = '123456789012345678901234567890';

describe('values', () => {
  test.each([
    ['$a: GraphQLBigInt', '"9007199254740993"', '9007199254740993'],
    ['$a: GraphQLBigInt', '9007199254740993', '9007199254740993'],
    ['$a: GraphQLBigInt', '5', '5'],
    ['$a: Decimal', '1.10', '1.1'],
    ['$a: Decimal', '1.1000000000000000000001', '1.1000000000000000000001'],
    ['$a: Float', '1.1000000000000000000001', 1.1],
    ['$a: [Float]', '[0.12345678901234567890]', [0.12345678901234568]],
    ['$a: GraphQLStringOrFloat', '2.5', 2.5],
    ['$a: GraphQLStringOrFloat', huge, huge],
    ['$a: Date', '"$NOW(-1 day)"', '$NOW(-1 day)'],
    ['$a: JSON', '{"a":[1,null]}', { a: [1, null] }],
    ['$a: JSON', huge, JSON.rawJSON(huge)],
    ['$a: Int = 3', undefined, 3],
    ['$a: Int = 3', '4', 4],
    ['$a: Int!', '-2147483648', -2147483648],
    ['$a: Int', 'null', null],
    ['$a: String!', '"x"', 'x'],
    ['$a: ID!', '"5"', '5'],
    ['$a: ID', '5', '5'],
    ['$a: Boolean', 'false', false],
    ['$a: [Int!]', '[1]', [1]],
    ['$a: create_books_input', `{"title":"x","isbn":${huge}}`, { title: 'x', isbn: huge }],
  ])('%s takes %s', (definition, json, expected) => {
    const sent = json === undefined ? '{}' : `{"a":${json}}`;
    expect(JSON.stringify(coerce(definition, sent).a)).toBe(JSON.stringify(expected));
  });

  test('what was not given is absent, null is null', () => {
    expect(coerce('$a: Int', '{}')).toEqual({});
    expect(coerce('$a: Int', '{"a":null,"b":1}')).toEqual({ a: null });
  });
});

test.each([
  ['$a: Int!', '{}'],
  ['$a: Int!', '{"a":null}'],
  ['$a: Int', '{"a":"canary7"}'],
  ['$a: Int', '{"a":3000000000}'],
  ['$a: Int', `{"a":${huge}}`],
  ['$a: String', `{"a":${huge}7}`],
  ['$a: String', '{"a":{"b":"canary7"}}'],
  ['$a: Boolean', '{"a":"canary7"}'],
  ['$a: ID', '{"a":["canary7"]}'],
  ['$a: Float', '{"a":"canary7"}'],
  ['$a: GraphQLBigInt', '{"a":1.5}'],
  ['$a: Decimal', '{"a":{"canary7":1}}'],
  ['$a: Date', '{"a":77777777}'],
  ['$a: Hash', '{"a":{"b":"canary7"}}'],
  ['$a: Void', '{"a":"canary7"}'],
  ['$a: auth_mode', '{"a":"canary7"}'],
  ['$a: create_books_input', '{"a":{"title":["canary7"]}}'],
  ['$a: create_books_input', '{"a":{"title":"x","zz":"canary7"}}'],
  ['$a: create_books_input', '{"a":{"price":"canary7"}}'],
  ['$a: create_books_input', '{"a":"canary7"}'],
])('%s refuses %s without repeating it', (definition, sent) => {
  let body = '';
  try {
    coerce(definition, sent);
  } catch (error) {
    if (error instanceof PlatformError) body = documentErrorBody(error);
  }
  expect(body).toContain('"code":"INVALID_QUERY"');
  expect(body).not.toMatch(/canary7|77777777|did you mean/i);
});
