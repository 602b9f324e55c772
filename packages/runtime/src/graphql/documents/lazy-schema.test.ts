/** Types that are made one by one are those that graphql-js makes of the whole text. */
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isUnionType,
  parse,
  printType,
  validate,
} from 'graphql';
import { expect, test } from 'vitest';
import { library } from '../testing/library.ts';

const { schema, described } = library.items;

test('each type is the one of the whole schema, without its descriptions', () => {
  const types = Object.values(described().getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  expect(types.length).toBeGreaterThan(20);
  for (const type of types) {
    const lazy = schema.getType(type.name);
    expect(lazy?.constructor.name.replace('RootType', 'GraphQLObjectType'), type.name).toBe(type.constructor.name);
    if (isObjectType(type) && isObjectType(lazy)) {
      for (const [name, field] of Object.entries(type.getFields())) {
        const made = lazy.getFields()[name];
        expect(`${made?.type}`, name).toBe(`${field.type}`);
        expect(made?.args.map(({ name, type }) => `${name}: ${type}`)).toEqual(
          field.args.map(({ name, type }) => `${name}: ${type}`),
        );
        expect(made && getNamedType(made.type)).toBe(schema.getType(getNamedType(field.type).name));
      }
    }
    if (isUnionType(type) && isUnionType(lazy)) {
      expect(lazy.getTypes().map(({ name }) => name)).toEqual(type.getTypes().map(({ name }) => name));
    }
    if (isInputObjectType(type) || isEnumType(type)) {
      const text = lazy === undefined ? '' : printType(lazy);
      expect(text, type.name).toBe(printType(type));
    }
  }
});

test('there is nothing else', () => {
  for (const name of ['SystemQuery', 'SystemMutation', 'nothing', '__proto__', 'constructor', 'Printed']) {
    expect(schema.getType(name), name).toBeUndefined();
  }
  expect(library.system.schema.getType('SystemQuery')).toBe(library.system.schema.getQueryType());
  for (const name of ['zz', '__proto__', 'constructor', 'toString']) {
    expect(schema.getQueryType()?.getFields()[name], name).toBeUndefined();
  }
});

test('documents are valid, or not, as by the whole schema', () => {
  for (const text of [
    '{ books(filter: {title: {_eq: "a"}}) { id item { ... on reviews { text } } } }',
    'query ($f: books_filter) { books(filter: $f) { author { books { title } } } }',
    'mutation { create_books_item(data: {title: "a", mode: json}) { id } }',
    'mutation { create_books_item(data: {mode: zz}) { id } }',
    '{ users { id } }',
    '{ books { item { ... on shelf { id } } } }',
    'query ($f: zz) { books(filter: $f) { id } }',
    '{ __schema { types { name } } }',
    'fragment f on SystemQuery { users { id } } { ...f }',
  ]) {
    const messages = [schema, described()].map((one) =>
      validate(one, parse(text), undefined, { hideSuggestions: true }).map(({ message }) => message),
    );
    expect(messages[0], text).toEqual(messages[1]);
  }
});
