/** The judge of answers that all tests over HTTP have: it finds a fault at any depth, and the same faults as ajv. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, it } from 'vitest';
import { createInterpreter } from '../support/openapi/interpret.ts';
import { createJudge } from '../support/openapi/schemas.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const judge = createJudge({
  components: {
    schemas: {
      Answer: { type: 'object', properties: { data: { type: 'array', items: reference('Book') } }, required: ['data'] },
      Book: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          author: { oneOf: [reference('Author'), { type: 'null' }] },
          more: { type: 'object', additionalProperties: reference('Author') },
          editor: { type: 'object', allOf: [reference('Person')], properties: { since: { type: 'integer' } } },
          chief: { type: 'object', allOf: [reference('Named')], properties: { since: { type: 'integer' } } },
          strict: {
            type: 'object',
            oneOf: [reference('Person')],
            unevaluatedProperties: false,
          },
        },
      },
      Person: { type: 'object', properties: { name: { type: 'string' } } },
      Named: { type: 'object', allOf: [reference('Person')], properties: { title: { type: 'string' } } },
      Author: {
        type: 'object',
        properties: { name: { type: 'string' }, books: { type: 'array', items: reference('Book') } },
      },
    },
  },
});

const place = ['components', 'schemas', 'Answer'];

it.each([
  [{ data: [{ title: 'Tea', author: null }, { author: { name: 'Ann', books: [{ title: 'Oil' }] } }] }, []],
  [{ data: [{ author: { name: 'Ann', books: [{ title: 1 }] } }] }, ['/data/0/author/books/0/title must be string']],
  [{ data: [{ more: { first: { name: 1 } } }] }, ['/data/0/more/first/name must be string']],
  [{ data: [{ strict: { name: 'Ann' } }] }, []],
  [{ data: [{ strict: { nom: 'Ann' } }] }, ['/data/0/strict must NOT have unevaluated properties']],
])('%j', (value, faults) => {
  const found = judge('open', place, value);
  for (const fault of faults) expect(found.join('\n')).toContain(fault);
  if (faults.length === 0) expect(found).toEqual([]);
});

it('finds members that nobody described where answers are closed, and not elsewhere', () => {
  const answer = { data: [{ author: { name: 'Ann', born: 1900 } }] };
  expect(judge('closed', place, answer).join('\n')).toContain('/data/0/author must NOT have additional properties');
  expect(judge('open', place, answer)).toEqual([]);
  const edited = (editor: object) => judge('closed', place, { data: [{ editor }] });
  expect(edited({ name: 'Ann', since: 1900 })).toEqual([]);
  expect(edited({ nom: 'Ann' }).join('\n')).toContain('/data/0/editor must NOT have additional properties');
  // Parts have parts themselves.
  const led = (chief: object) => judge('closed', place, { data: [{ chief }] });
  expect(led({ name: 'Ann', title: 'Dr.', since: 1900 })).toEqual([]);
  expect(led({ nom: 'Ann' }).join('\n')).toContain('/data/0/chief must NOT have additional properties');
});

const text = { type: 'string' };
const named = { type: 'object', properties: { name: text }, required: ['name'] };
const schemas: readonly object[] = [
  ...['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'].map((type) => ({ type })),
  { type: ['string', 'null'] },
  { type: ['integer', 'null'], minimum: 1 },
  { type: 'array', items: { type: 'boolean' }, maxItems: 1 },
  { enum: ['a', null, 1, { name: 'a' }] },
  { const: 'a' },
  ...['uuid', 'date', 'date-time', 'time', 'email', 'uri', 'int32', 'password', 'duration'].map((format) => ({
    format,
  })),
  { pattern: '^[a-c]+$' },
  { minLength: 2, maxLength: 3 },
  { minimum: 1, maximum: 5 },
  { exclusiveMinimum: 1, exclusiveMaximum: 5 },
  { multipleOf: 2 },
  { minItems: 1, maxItems: 2, uniqueItems: true, items: text },
  { minProperties: 1, maxProperties: 1 },
  named,
  { ...named, additionalProperties: false },
  { properties: { name: text }, additionalProperties: { type: 'integer' } },
  { patternProperties: { '^n': text }, additionalProperties: false },
  { propertyNames: { maxLength: 3 } },
  { allOf: [named, { properties: { age: { type: 'integer' } } }], unevaluatedProperties: false },
  { anyOf: [named, text] },
  { anyOf: [named, { properties: { age: { type: 'integer' } }, required: ['age'] }], unevaluatedProperties: false },
  { oneOf: [text, { maxLength: 2 }] },
  { not: text },
  { $ref: '#/components/schemas/Named~1one' },
  { $ref: '#/components/schemas/Named~1one', unevaluatedProperties: false },
  { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
];
const values: readonly unknown[] = [
  ...[null, true, 0, 1, 2, 5, 1.5, 2 ** 40, '', 'a', 'ab', 'abcd', '😀😀😀', '2024-02-30', '2024-02-29', '10:00:00Z'],
  ...['2024-02-29T10:00:00Z', 'P1D', 'ann@example.com', 'https://example.com/', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  ...[[], ['a'], ['a', 'a'], ['a', 'b', 'c'], [1], {}, { name: 'a' }, { name: 1 }, { name: 'a', age: 3 }],
  ...[
    { name: 'a', age: 'x' },
    { age: 3 },
    { nick: 'a' },
    { other: 1 },
    [{ inner: [{ inner: [1] }] }],
    [{ inner: [{}] }],
  ],
];

/** As they come in addresses. */
const addressed: readonly unknown[] = [
  ...['', 'a', 'ab', 'abcd', '0', '1', ' 1', '1.5', '1e3', '-1', '0x1', 'NaN', 'true', 'false', 'null'],
  ...[[], ['a'], ['1'], [''], ['a', 'b'], ['1', '2'], ['true', 'false'], {}, { name: 'a' }, { name: ['a'] }],
  ...[{ name: 'a', age: '3' }, { name: 'a', age: ['3'] }, { age: 'x' }, { inner: 'a' }, { inner: [{ inner: [] }] }],
];

it.each(schemas.map((schema) => [JSON.stringify(schema), schema] as const))(
  'finds what ajv finds by %s',
  (_, schema) => {
    const tree = {
      type: 'object',
      properties: { inner: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    };
    const document = { components: { schemas: { 'Named/one': named, Tree: tree, Asked: schema } } };
    const judge = createJudge(document);
    for (const [reading, asked, options] of [
      ['open', values, {}],
      ['text', addressed, { coerceTypes: 'array' }],
    ] as const) {
      const ajv = new Ajv2020({ strict: false, ownProperties: true, ...options });
      formats.default(ajv);
      const validate = ajv
        .addSchema({ ...document, $id: 'document' })
        .compile({ $ref: 'document#/components/schemas/Asked' });
      for (const value of asked) {
        const said = `${reading} ${JSON.stringify(value)}`;
        const faults = judge(reading, ['components', 'schemas', 'Asked'], value);
        expect([said, faults.length === 0]).toEqual([said, validate(structuredClone(value))]);
      }
    }
  },
);

it('refuses a keyword that it does not know', () => {
  const interpret = createInterpreter({ asked: { contains: text } });
  expect(() => interpret(['asked'], ['a'])).toThrow('The keyword "contains" is not known to the tests.');
});
