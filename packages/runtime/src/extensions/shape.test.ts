import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue, Shape } from '../language/index.ts';
import { encodeShape, fitJson, fitTexts } from './shapes.ts';

const name = fc.constantFrom('a', 'b', 'constructor', 'toString', 'é');
const scalar = fc.constantFrom<Shape>(
  { kind: 'json' },
  { kind: 'null' },
  { kind: 'string' },
  { kind: 'number' },
  { kind: 'boolean' },
  { kind: 'date' },
  { kind: 'literal', values: ['x', 1, true] },
);

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 4 },
    scalar,
    tie('shape').map((of): Shape => ({ kind: 'array', of })),
    fc.array(tie('shape'), { minLength: 1, maxLength: 3 }).map((of): Shape => ({ kind: 'union', of })),
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(name, tie('shape'), fc.boolean()), { selector: ([key]) => key, maxLength: 3 }),
        fc.option(tie('shape')),
      )
      .map(
        ([members, rest]): Shape => ({
          kind: 'object',
          members: members.map(([key, own, optional]) => ({ name: key, ...(optional && { optional }), shape: own })),
          ...(rest && { rest }),
        }),
      ),
  ),
}));

const json = fc.jsonValue({ maxDepth: 4 });

/** JSON that fits a shape, as far as it is drawn; members that may be missing are there or not. */
function fitting(of: Shape): fc.Arbitrary<unknown> {
  switch (of.kind) {
    case 'json':
      return json;
    case 'null':
      return fc.constant(null);
    case 'string':
      return fc.string();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'date':
      return fc
        .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString());
    case 'literal':
      return fc.constantFrom(...of.values);
    case 'array':
      return fc.array(fitting(of.of), { maxLength: 3 });
    case 'union':
      return fc.oneof(...of.of.map(fitting));
    case 'object':
      return fc.record(Object.fromEntries(of.members.map((member) => [member.name, fitting(member.shape)])), {
        requiredKeys: of.members.flatMap((member) => (member.optional ? [] : [member.name])),
      });
  }
}

function parse(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

describe('any shape', () => {
  it('takes what fits it, which is sent as it came', () => {
    const drawn = shape.chain((own) => fc.tuple(fc.constant(own), fitting(own).map(parse)));
    fc.assert(
      fc.property(drawn, ([own, value]) => {
        const fitted = fitJson(own, value, '');
        expect(fitted.ok ? encodeShape(own, fitted.value) : fitted.problems).toEqual(value);
      }),
    );
  });

  it('says of anything else what is wrong', () => {
    fc.assert(
      fc.property(shape, json.map(parse), fc.array(fc.string(), { maxLength: 2 }), (own, value, texts) => {
        for (const fitted of [fitJson(own, value, 'x'), fitTexts(own, texts, 'x')]) {
          expect(fitted.ok || fitted.problems.every((problem) => problem.startsWith('"x'))).toBe(true);
        }
      }),
    );
  });
});

describe('texts of an address', () => {
  const texts = (own: Shape, ...given: readonly string[]) => {
    const fitted = fitTexts(own, given, 'x');
    return fitted.ok ? fitted.value : fitted.problems;
  };

  it.each<[Shape, readonly string[], unknown]>([
    [{ kind: 'number' }, ['1.5e3'], 1500],
    [{ kind: 'number' }, ['0x10'], ['"x" must be a number.']],
    [{ kind: 'number' }, [''], ['"x" must be a number.']],
    [{ kind: 'boolean' }, ['false'], false],
    [{ kind: 'boolean' }, [''], ['"x" must be a boolean.']],
    [{ kind: 'literal', values: [1, true, 'x'] }, ['1'], 1],
    [{ kind: 'literal', values: [1, true, 'x'] }, ['true'], true],
    [{ kind: 'array', of: { kind: 'number' } }, ['1', '2'], [1, 2]],
    [{ kind: 'array', of: { kind: 'number' } }, [], []],
    [{ kind: 'union', of: [{ kind: 'number' }, { kind: 'string' }] }, ['7'], 7],
    [{ kind: 'union', of: [{ kind: 'number' }, { kind: 'string' }] }, ['seven'], 'seven'],
    [{ kind: 'date' }, ['2020-02-29T00:00:00Z'], new Date('2020-02-29T00:00:00Z')],
    [{ kind: 'date' }, ['2021-02-29T00:00:00Z'], ['"x" must be a time as in 2020-12-31T23:59:59Z.']],
    [{ kind: 'date' }, ['2020-01-01'], ['"x" must be a time as in 2020-12-31T23:59:59Z.']],
    [{ kind: 'string' }, ['a\u0000'], ['"x" holds a character that cannot be stored.']],
    [{ kind: 'string' }, ['a', 'b'], ['"x" must be one value.']],
  ])('%j of %j', (own, given, value) => {
    expect(texts(own, ...given)).toEqual(value);
  });
});

describe('what a route gives', () => {
  const own: Shape = { kind: 'object', members: [{ name: 'a', shape: { kind: 'date' } }] };

  it('loses what its type has not', () => {
    expect(encodeShape(own, { a: new Date(0), secret: 1 })).toEqual({ a: '1970-01-01T00:00:00.000Z' });
    const either: Shape = { kind: 'union', of: [{ kind: 'null' }, own] };
    expect(encodeShape(either, { a: new Date(0), secret: 1 })).toEqual({ a: '1970-01-01T00:00:00.000Z' });
  });

  it('is of the type that has most of it', () => {
    const b: Shape = { kind: 'object', members: [{ name: 'b', optional: true, shape: { kind: 'number' } }] };
    expect(encodeShape({ kind: 'union', of: [b, own] }, { a: new Date(0) })).toEqual({ a: '1970-01-01T00:00:00.000Z' });
  });

  it.each<[Shape, unknown, string]>([
    [own, {}, 'a is no time'],
    [own, { a: new Date(Number.NaN) }, 'a is no time'],
    [own, [], 'it is no object'],
    [{ kind: 'array', of: { kind: 'number' } }, [1, Number.NaN], '[1] is no number'],
    [{ kind: 'string' }, undefined, 'it is no text'],
  ])('%j is not %j', (requested, value, message) => {
    expect(() => encodeShape(requested, value)).toThrow(message);
  });
});
