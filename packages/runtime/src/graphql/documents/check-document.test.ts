import { getIntrospectionQuery } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { DocumentLimits } from '../../environment/requests.ts';
import { PlatformError } from '../../errors.ts';
import { library, usualLimits } from '../testing/library.ts';
import { checkDocument, type DocumentRequest } from './check-document.ts';
import { documentErrorBody } from './document-errors.ts';

function check(text: string, requested: Partial<DocumentRequest> = {}, limits: Partial<DocumentLimits> = {}) {
  const whole = { text, operationName: null, queriesOnly: false, ...requested };
  return checkDocument(library.items, whole, { ...usualLimits, ...limits });
}

function refusal(...args: Parameters<typeof check>): PlatformError {
  try {
    check(...args);
  } catch (error) {
    if (error instanceof PlatformError) return error;
    throw error;
  }
  throw new Error('The document was taken.');
}

describe('operations', () => {
  test('the only one, or the one that is named', () => {
    expect(check('{ shelf { id } }').operation.operation).toBe('query');
    const two = 'query A { shelf { id } } query B { books { id } }';
    expect(check(two, { operationName: 'B' }).operation.name?.value).toBe('B');
    expect(refusal(two).message).toContain('several operations');
    expect(refusal(two, { operationName: 'C' }).message).toContain('no such operation');
    expect(refusal('fragment f on books { id }').message).toContain('no operation');
  });

  test('mutations only where they may run', () => {
    const text = 'mutation { delete_books_item(id: 1) }';
    expect(check(text).operation.operation).toBe('mutation');
    expect(refusal(text, { queriesOnly: true })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  });
});

describe('what is not valid', () => {
  test.each([
    ['syntax', '{'],
    ['an empty selection', '{ shelf { } }'],
    ['a selection of nothing', '{ }'],
    ['an unknown field', '{ shelf { zz } }'],
    ['a subscription', 'subscription { shelf { id } }'],
    ['a definition of a type', 'type Query { a: Int } { shelf { id } }'],
    ['an unknown directive', '{ shelf @defer { id } }'],
    ['a fragment that spreads itself', '{ shelf { ...a } } fragment a on shelf { ...b } fragment b on shelf { ...a }'],
    ['two fields under one name', '{ a: books { id } a: shelf { id } }'],
    ['U+0000', '{ books(filter: {title: {_eq: "\\u0000"}}) { id } }'],
    ['text that is none', '{ books(filter: {title: {_eq: "\\uD800"}}) { id } }'],
  ])('%s', (_what, text) => {
    expect(refusal(text)).toMatchObject({ code: 'INVALID_QUERY', status: 400 });
  });

  test('errors say where, and stay few', () => {
    const error = refusal(`{ ${'zz '.repeat(60)} }`, {}, { rootFields: 60 });
    expect(error.others.length).toBeLessThan(25);
    expect(JSON.parse(documentErrorBody(error)).errors[0]).toEqual({
      message: 'Cannot query field "zz" on type "Query".',
      locations: [{ line: 1, column: 3 }],
      extensions: { code: 'INVALID_QUERY' },
    });
  });

  test('nothing is suggested', () => {
    for (const text of [
      '{ shelv { id } }',
      '{ books { titel } }',
      '{ books(limt: 1) { id } }',
      '{ ... on shelv { id } }',
    ]) {
      const error = refusal(text);
      expect(documentErrorBody(error)).not.toMatch(/did you mean|suggest/i);
    }
  });

  test.each([
    'create_books_item(data: {title: 5, price: ["canary7"]})',
    'create_books_item(data: {title: "canary7", zz: 1})',
    'create_books_item(data: {title: "x", weight: "canary7"})',
    'create_books_item(data: {title: "x", pages: "canary7"})',
    'create_books_item(data: {title: "x", isbn: {a: "canary7"}})',
    'create_books_item(data: {title: "x", published: {a: "canary7"}})',
    'create_books_item(data: {title: "x", secret: ["canary7"]})',
    'create_books_item(data: {title: "x", mode: "canary7"})',
    'create_books_item(data: {title: "x", mode: canary7})',
    'create_books_item(data: "canary7")',
    'create_books_item(data: {pages: 1, extra: "canary7"})',
    'delete_books_item(id: {a: "canary7"})',
    'delete_books_item(id: 1, a: "canary7")',
    'delete_books_item(id: "a" "canary7")',
    'delete_books_item("canary7")',
    'delete_books_item(id: 1 {"canary7"})',
    'delete_books_item(id: """a""" """canary7""")',
    'delete_books_item(id: 1, 77777.7canary7)',
  ])('no value is repeated: %s', (field) => {
    let body = '';
    try {
      check(`mutation { ${field} { id } }`);
    } catch (error) {
      if (error instanceof PlatformError) body = documentErrorBody(error);
    }
    expect(body).toContain('INVALID_QUERY');
    expect(body).not.toContain('canary7');
  });
});

describe('limits', () => {
  const nested = (depth: number): string =>
    `{ books ${'{ reviews { book '.repeat(depth)}{ id }${' } }'.repeat(depth)} }`;

  test.each<[string, string, Partial<DocumentLimits>]>([
    ['tokens', `{ ${'shelf { id } '.repeat(1_250)} }`, {}],
    ['depth', nested(8), {}],
    ['depth through fragments', '{ books { ...a } } fragment a on books { reviews { book { id } } }', { depth: 3 }],
    ['root fields', `{ ${'shelf { id } '.repeat(21)} }`, {}],
    ['root fields in fragments', `{ ${'...a '.repeat(21)} } fragment a on Query { shelf { id } }`, {}],
    ['aliases', `{ shelf { ${Array.from({ length: 101 }, (_, i) => `a${i}: id`).join(' ')} } }`, {}],
    ['cost', '{ books { reviews { book { reviews { id } } } } }', { cost: 43 }],
    ['nesting of the parser', `${'{ books '.repeat(200_000)}`, { tokens: 1_000_000 }],
    ['nesting of values', `{ books(filter: {title: ${'['.repeat(200_000)}`, { tokens: 1_000_000 }],
  ])('%s', (_what, text, limits) => {
    expect(refusal(text, {}, limits)).toMatchObject({ code: 'INVALID_QUERY', status: 400 });
  });

  test('what just fits is taken', () => {
    const lists = '{ books { reviews { book { reviews { id } } } } }';
    expect(() => check(lists, {}, { cost: 45, depth: 5, rootFields: 1, aliases: 0 })).not.toThrow();
    expect(refusal(lists, {}, { cost: 44 }).message).toContain('costs more than 44');
    expect(() => check(`{ ${'shelf { id } '.repeat(20)} }`)).not.toThrow();
    expect(() => check(nested(6), {}, { depth: 14 })).not.toThrow();
    expect(refusal(nested(6), {}, { depth: 13 }).message).toContain('nests deeper than 13');
  });

  test('fragments that double each other are measured once each', () => {
    const fragments = Array.from(
      { length: 200 },
      (_, i) => `fragment f${i} on books { ...f${i + 1} reviews { book { ...f${i + 1} } } }`,
    );
    const before = process.cpuUsage();
    const error = refusal(`{ books { ...f0 } } ${fragments.join(' ')} fragment f200 on books { id }`);
    expect(error.code).toBe('INVALID_QUERY');
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(200);
  });

  test('one field many times costs what comparing it would', () => {
    expect(refusal(`{ books { ${'reviews { id } '.repeat(1_000)} } }`).message).toContain('costs more');
    expect(refusal(`{ books { ${'...a '.repeat(200)} } } fragment a on books { id }`).message).toContain('costs more');
    expect(() => check(`{ books { ${'id '.repeat(50)} } }`)).not.toThrow();
  });

  const chosen = { operationName: 'a' };
  const large = `{ books { ${'id '.repeat(4_900)} } }`;
  test.each([
    ['an operation that does not run', `query a { shelf { id } } query b ${large}`],
    ['a fragment that nothing spreads', `query a { shelf { id } } fragment f on Query ${large}`],
    [
      'one of two fragments of one name',
      `query a { ...f } fragment f on Query ${large} fragment f on Query { shelf { id } }`,
    ],
  ])('%s is validated as well, so it may cost no more', (_what, text) => {
    const before = process.cpuUsage();
    expect(refusal(text, chosen).message).toContain('costs more than 5000');
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
  });

  test('many operations of a usual size are taken', () => {
    const others = Array.from({ length: 50 }, (_, i) => `query b${i} { books { id title reviews { id } } }`);
    expect(() => check(`query a { shelf { id } } ${others.join(' ')}`, chosen)).not.toThrow();
  });

  test('measuring ends where the limit does', () => {
    const names = Array.from({ length: 2_400 }, (_, i) => `zz${i}`);
    const before = process.cpuUsage();
    const error = refusal(`{ books { ${'...f '.repeat(1_200)} } } fragment f on books { ${names.join(' ')} }`);
    expect(error.message).toContain('costs more than 5000');
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(100);
  });

  test('fragments are compared with each other, so there are not too many', () => {
    const chain = (name: string, count: number): string =>
      Array.from({ length: count }, (_, i) => `fragment ${name}${i} on books { id ...${name}${i + 1} }`)
        .concat(`fragment ${name}${count} on books { title }`)
        .join(' ');
    const text = (count: number): string => `{ books { ...a0 ...b0 } } ${chain('a', count)} ${chain('b', count)}`;
    expect(refusal(text(100), {}, { cost: 100_000 }).message).toContain('more than 200 fragments');
    expect(() => check(text(20))).not.toThrow();
  });
});

describe('introspection', () => {
  test('the query of usual tools is taken, at any depth, however little else is', () => {
    expect(() => check(getIntrospectionQuery(), {}, { depth: 1 })).not.toThrow();
    expect(() => check('{ __type(name: "books") { fields { name type { ofType { name } } } } }')).not.toThrow();
  });

  test('more than tools need is refused', () => {
    const inner = 'fields { name description args { name description type { name kind } } }';
    const types = `types { name fields { name type { name ${inner} } } }`;
    const text = `{ ${Array.from({ length: 15 }, (_, i) => `a${i}: __schema { ${types} }`).join(' ')} }`;
    expect(refusal(text).message).toContain('tools need');
    expect(refusal('{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }').code).toBe(
      'INVALID_QUERY',
    );
  });

  test('it can be switched off; __typename stays', () => {
    expect(refusal('{ __schema { types { name } } }', {}, { introspection: false }).code).toBe('INVALID_QUERY');
    expect(refusal('{ __type(name: "books") { name } }', {}, { introspection: false }).code).toBe('INVALID_QUERY');
    expect(() => check('{ __typename shelf { __typename } }', {}, { introspection: false })).not.toThrow();
  });
});
