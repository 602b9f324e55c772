import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WireKind } from '../language/index.ts';
import { generatedCode } from '../optimize/generated-code/generate.ts';
import { ByteWriter } from './byte-writer.ts';
import { oftenUsed, useWriterCode } from './fields.ts';
import type { Shape, ShapeField } from './shape.ts';
import { array, int2, int4, int8, record, row, text } from './testing/binary.ts';
import { createTranscoder } from './transcode.ts';

useWriterCode(generatedCode);

function transcode(fields: readonly ShapeField[], bytes: Buffer): string {
  const out = new ByteWriter();
  createTranscoder(fields)(bytes, 0, out);
  return out.takeBytes().toString('utf8');
}

function one(shape: Shape, bytes: Buffer | null): string {
  const json = transcode([{ key: 'x', shape }], row(bytes));
  expect(json.startsWith('{"x":') && json.endsWith('}')).toBe(true);
  return json.slice(5, -1);
}

function scalar(wire: WireKind, bytes: Buffer | null): string {
  return one({ kind: 'scalar', wire }, bytes);
}

const kinds: readonly WireKind[] = ['bool', 'i2', 'i4', 'i8', 'number', 'text', 'json', 'jsonb', 'date', 'time'];
const moreKinds: readonly WireKind[] = ['timestamp', 'timestamptz', 'uuid', 'bytes', 'csv', 'masked'];

describe('scalars', () => {
  test.each([...kinds, ...moreKinds])('a null %s is null', (wire) => expect(scalar(wire, null)).toBe('null'));

  test('booleans', () => {
    expect(scalar('bool', Buffer.from([1]))).toBe('true');
    expect(scalar('bool', Buffer.from([0]))).toBe('false');
  });

  test('smallint and integer are numbers', () => {
    fc.assert(fc.property(fc.integer({ min: -32_768, max: 32_767 }), (n) => scalar('i2', int2(n)) === String(n)));
    fc.assert(fc.property(fc.integer(), (n) => scalar('i4', int4(n)) === String(n)));
    for (const n of [0, -1, 9, 10, 2_147_483_647, -2_147_483_648]) expect(scalar('i4', int4(n))).toBe(String(n));
  });

  test('bigint is a string with every digit', () => {
    const all = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    fc.assert(fc.property(all, (n) => scalar('i8', int8(n)) === `"${n}"`));
    const edges = [0n, 1n, 10n ** 9n, 2n ** 32n, 2n ** 53n + 1n, 10n ** 18n, 2n ** 63n - 1n];
    for (const n of edges.flatMap((edge) => [edge, edge - 1n, -edge, -edge - 1n])) {
      expect(scalar('i8', int8(n))).toBe(`"${n}"`);
    }
  });

  test.each(['0', '-0', '1.5', '-1e+20', '123456789012345678901234567890'])('the number %s is not quoted', (n) => {
    expect(scalar('number', text(n))).toBe(n);
  });

  test.each(['NaN', 'Infinity', '-Infinity'])('the number %s is quoted', (n) => {
    expect(scalar('number', text(n))).toBe(`"${n}"`);
  });

  test('text is escaped as JSON.stringify escapes it', { timeout: 30_000 }, () => {
    const any = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(fc.property(any, (s) => scalar('text', text(s)) === JSON.stringify(s)));
    const all = Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)).join('');
    expect(scalar('text', text(all))).toBe(JSON.stringify(all));
    expect(scalar('text', text('\u2028\u007f😀'))).toBe('"\u2028\u007f😀"');
  });

  test.each(['x', '"', '\u0001', 'é', '0123456789\n'])('a text of many %j', (piece) => {
    const long = piece.repeat(100_000);
    expect(scalar('text', text(long))).toBe(JSON.stringify(long));
  });

  test('json passes through, jsonb without its version', () => {
    expect(scalar('json', text('{ "a" : [1, 2] }'))).toBe('{ "a" : [1, 2] }');
    expect(scalar('jsonb', Buffer.concat([Buffer.from([1]), text('{"a": 1}')]))).toBe('{"a": 1}');
  });

  test('uuid, bytes, masked', () => {
    const uuid = Buffer.from('00112233445566778899AABBCCDDEEFF', 'hex');
    expect(scalar('uuid', uuid)).toBe('"00112233-4455-6677-8899-aabbccddeeff"');
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(fc.property(bytes, (b) => scalar('bytes', Buffer.from(b)) === `"${Buffer.from(b).toString('base64')}"`));
    expect(scalar('masked', text('secret'))).toBe('"**********"');
  });

  test('csv reads as an array of strings', () => {
    for (const list of ['', 'a', 'a,b', ',', 'a,,b,', ' a "b",c']) {
      expect(scalar('csv', text(list))).toBe(JSON.stringify(list === '' ? [] : list.split(',')));
    }
    const long = 'tag,'.repeat(5_000);
    expect(scalar('csv', text(long))).toBe(JSON.stringify(long.split(',')));
  });
});

describe('dates and times', () => {
  const day = 86_400_000_000n;
  const epoch = Date.UTC(2000, 0, 1);
  /** What `Date` says about years 1 to 9999, with six digits of fraction. */
  function spell(microseconds: bigint): string {
    const milliseconds = Number(microseconds / 1_000n) - (microseconds % 1_000n < 0n ? 1 : 0);
    const rest = ((microseconds % 1_000n) + 1_000n) % 1_000n;
    const iso = new Date(epoch + milliseconds).toISOString().slice(0, -1) + String(rest).padStart(3, '0');
    return iso.replace(/\.?0*$/, (zeros) => (zeros.startsWith('.') ? '' : zeros.replace(/0*$/, '')));
  }

  test('timestamps of the years 1 to 9999', () => {
    const range = { min: -730_119n * day, max: 2_921_940n * day - 1n };
    fc.assert(
      fc.property(fc.bigInt(range), (us) => {
        const expected = spell(us);
        expect(scalar('timestamp', int8(us))).toBe(`"${expected}"`);
        expect(scalar('timestamptz', int8(us))).toBe(`"${expected}+00:00"`);
      }),
      { numRuns: 1_000 },
    );
  });

  test('every day of 800 years has the date that Date gives it', { timeout: 30_000 }, () => {
    for (let i = -146_097; i <= 146_097; i++) {
      const expected = new Date(epoch + i * 86_400_000).toISOString().slice(0, 10);
      const json = transcode([{ key: 'x', shape: { kind: 'scalar', wire: 'date' } }], row(int4(i)));
      if (json !== `{"x":"${expected}"}`) expect(json).toBe(`{"x":"${expected}"}`);
    }
  });

  test.each([
    ['timestamp', 0n, '2000-01-01T00:00:00'],
    ['timestamp', 1n, '2000-01-01T00:00:00.000001'],
    ['timestamp', -1n, '1999-12-31T23:59:59.999999'],
    ['timestamp', 120_000n, '2000-01-01T00:00:00.12'],
    ['timestamp', 2n ** 63n - 1n, 'infinity'],
    ['timestamptz', -(2n ** 63n), '-infinity'],
    ['timestamp', 252_455_615_999_999_999n, '9999-12-31T23:59:59.999999'],
    ['timestamp', 252_455_616_000_000_000n, '10000-01-01T00:00:00'],
    // The first and last microsecond that PostgreSQL can store.
    ['timestamp', 9_223_371_331_199_999_999n, '294276-12-31T23:59:59.999999'],
    ['timestamptz', -211_813_488_000_000_000n, '4714-11-24T00:00:00+00:00 BC'],
    ['time', 0n, '00:00:00'],
    ['time', 86_400_000_000n, '24:00:00'],
    ['time', 86_399_999_999n, '23:59:59.999999'],
    ['time', 45_296_500_000n, '12:34:56.5'],
  ] as const)('%s %s', (wire, microseconds, expected) => {
    expect(scalar(wire, int8(microseconds))).toBe(`"${expected}"`);
  });

  test.each([
    [0x7fff_ffff, 'infinity'],
    [-0x8000_0000, '-infinity'],
    [-730_119, '0001-01-01'],
    [-730_120, '0001-12-31 BC'],
    [2_921_940, '10000-01-01'],
    [60, '2000-03-01'],
    [59, '2000-02-29'],
  ])('date %s', (days, expected) => expect(scalar('date', int4(days))).toBe(`"${expected}"`));
});

describe('shapes that are used often', () => {
  interface Value {
    readonly shape: Shape;
    readonly bytes: Buffer | null;
  }
  const scalars: fc.Arbitrary<Value> = fc.oneof(
    cell('i4', fc.integer().map(int4)),
    cell('i8', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(int8)),
    cell('text', fc.string({ unit: 'binary', maxLength: 40 }).map(text)),
    cell('timestamptz', fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }).map(int8)),
  );
  const field = fc.tuple(
    fc.oneof(fc.string({ maxLength: 30 }), fc.constant('k'.repeat(100))),
    fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2 },
        scalars,
        fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 4 }).map(recordOf),
      ),
    })).value,
  );

  function cell(wire: WireKind, bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Value> {
    return fc.option(bytes).map((value) => ({ shape: { kind: 'scalar', wire }, bytes: value }));
  }

  function recordOf(fields: readonly (readonly [string, Value])[]): Value {
    return {
      shape: { kind: 'record', fields: fields.map(([key, { shape }]) => ({ key, shape })) },
      bytes: record(...fields.map(([, { bytes }]) => bytes)),
    };
  }

  test('keep their bytes', { timeout: 30_000 }, () => {
    const shapes = fc.array(field, { maxLength: 6 });
    fc.assert(
      fc.property(shapes, (values) => {
        const transcoder = createTranscoder(values.map(([key, { shape }]) => ({ key, shape })));
        const bytes = row(...values.map(([, value]) => value.bytes));
        const write = (): string => {
          const out = new ByteWriter();
          transcoder(bytes, 0, out);
          return out.takeBytes().toString('utf8');
        };
        const first = write();
        for (let use = 0; use < oftenUsed; use++) write();
        expect(write()).toBe(first);
      }),
      { numRuns: 40 },
    );
  });

  test('are served where code from strings is forbidden', async () => {
    const source = `
      const { createTranscoder } = await import(${JSON.stringify(new URL('./transcode.ts', import.meta.url).href)});
      const { useWriterCode } = await import(${JSON.stringify(new URL('./fields.ts', import.meta.url).href)});
      const { generatedCode } = await import(${JSON.stringify(new URL('../optimize/generated-code/generate.ts', import.meta.url).href)});
      useWriterCode(generatedCode);
      const { ByteWriter } = await import(${JSON.stringify(new URL('./byte-writer.ts', import.meta.url).href)});
      const out = new ByteWriter();
      const write = createTranscoder([{ key: 'a', shape: { kind: 'scalar', wire: 'bool' } }]);
      for (let use = 0; use <= ${oftenUsed}; use++) write(Buffer.from([0, 0, 0, 1, 1]), 0, out);
      console.log(out.takeBytes().toString().slice(-10));`;
    const flags = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', source];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(stdout).toBe('{"a":true}\n');
  });
});

describe('composed shapes', () => {
  const numbers: Shape = { kind: 'array', element: 'i4' };
  const pair: readonly ShapeField[] = [
    { key: 'id', shape: { kind: 'scalar', wire: 'i8' } },
    { key: 'name', shape: { kind: 'scalar', wire: 'text' } },
  ];

  test('arrays of one and more dimensions, with nulls', () => {
    expect(one(numbers, null)).toBe('null');
    expect(one(numbers, array([], []))).toBe('[]');
    expect(one(numbers, array([3], [int4(1), null, int4(3)]))).toBe('[1,null,3]');
    expect(one(numbers, array([2, 2], [1, 2, 3, 4].map(int4)))).toBe('[[1,2],[3,4]]');
    expect(one(numbers, array([2, 1, 2], [1, 2, 3, 4].map(int4)))).toBe('[[[1,2]],[[3,4]]]');
    const many = Array.from({ length: 50_000 }, (_, i) => i);
    expect(one(numbers, array([many.length], many.map(int4)))).toBe(JSON.stringify(many));
  });

  test('a record, null or with null columns', () => {
    const shape: Shape = { kind: 'record', fields: pair };
    expect(one(shape, null)).toBe('null');
    expect(one(shape, record(int8(7n), text('a')))).toBe('{"id":"7","name":"a"}');
    expect(one(shape, record(null, null))).toBe('{"id":null,"name":null}');
  });

  test('records: a list, or null where the caller may not read the cell', () => {
    const shape: Shape = { kind: 'records', fields: pair };
    expect(one(shape, null)).toBe('null');
    expect(one(shape, array([], []))).toBe('[]');
    const two = array([2], [record(int8(1n), text('a')), record(int8(2n), null)]);
    expect(one(shape, two)).toBe('[{"id":"1","name":"a"},{"id":"2","name":null}]');
    expect(one(shape, array([1], [null]))).toBe('[null]');
  });

  test('records as a record of arrays, one for each column', () => {
    const shape: Shape = {
      kind: 'records',
      fields: [
        ...pair,
        { key: 'same', shape: { kind: 'constant', json: '{"x":1}' } },
        { key: 'one', shape: { kind: 'record', fields: pair } },
      ],
    };
    expect(one(shape, record(null, null, null))).toBe('[]');
    const ids = array([3], [int8(1n), null, int8(3n)]);
    const names = array([3], [text('a'), text('b"'), null]);
    const ones = array([3], [record(int8(7n), text('c')), null, record(null, text('d'.repeat(100)))]);
    expect(one(shape, record(ids, names, ones))).toBe(
      `[{"id":"1","name":"a","same":{"x":1},"one":{"id":"7","name":"c"}},{"id":null,"name":"b\\"","same":{"x":1},"one":null},` +
        `{"id":"3","name":null,"same":{"x":1},"one":{"id":null,"name":"${'d'.repeat(100)}"}}]`,
    );
    expect(() => one(shape, record(ids, names))).toThrow('A record has 2 columns; its shape has 3.');
  });

  test('paths: keys of several fields in path form', () => {
    const shape: Shape = { kind: 'paths', parts: ['i8', 'text'] };
    expect(one(shape, array([], []))).toBe('[]');
    const two = array([2], [record(int8(17n), text('a')), record(int8(-3n), text('b,"%/ü'))]);
    expect(one(shape, two)).toBe('["17,a","-3,b%2C%22%25%2F%C3%BC"]');
    for (const value of [
      '',
      'a-b_c.d',
      '0b1c-9F',
      "~!*'()",
      '/:@[`{',
      '\\"',
      'x'.repeat(200_000),
      'é'.repeat(50_000),
    ]) {
      const path = array([1], [record(int8(5n), text(value))]);
      expect(one(shape, path)).toBe(`["5,${encodeURIComponent(value)}"]`);
    }
  });

  test('first: the first alternative that is there, without the record around it', () => {
    const shape: Shape = {
      kind: 'first',
      of: [
        { kind: 'record', fields: pair },
        { kind: 'scalar', wire: 'text' },
      ],
    };
    expect(one(shape, record(null, text('key')))).toBe('"key"');
    expect(one(shape, record(null, null))).toBe('null');
    expect(one(shape, record(record(int8(1n), text('a')), text('key')))).toBe(
      one({ kind: 'record', fields: pair }, record(int8(1n), text('a'))),
    );
    const list: Shape = {
      kind: 'records',
      fields: [
        { key: 'a', shape },
        { key: 'b', shape },
      ],
    };
    const rows = array(
      [2],
      [record(record(null, text('x')), record(null, null)), record(null, record(null, text('y')))],
    );
    expect(one(list, rows)).toBe('[{"a":"x","b":null},{"a":null,"b":"y"}]');
  });

  test('records within records within records, with columns after them', () => {
    const leaf: Shape = { kind: 'records', fields: pair };
    const middle: Shape = { kind: 'record', fields: [{ key: 'leaves', shape: leaf }, ...pair] };
    const fields: readonly ShapeField[] = [
      { key: 'top', shape: { kind: 'records', fields: [{ key: 'middle', shape: middle }] } },
      { key: 'after', shape: { kind: 'scalar', wire: 'i4' } },
    ];
    const leaves = array([1], [record(int8(1n), text('leaf'))]);
    const bytes = row(array([1], [record(record(leaves, int8(2n), text('middle')))]), int4(5));
    expect(transcode(fields, bytes)).toBe(
      '{"top":[{"middle":{"leaves":[{"id":"1","name":"leaf"}],"id":"2","name":"middle"}}],"after":5}',
    );
  });

  test('any text is a key', () => {
    const keys = ['__proto__', 'constructor', 'a"b', 'ключ', '\u0000', 'k'.repeat(5_000)];
    const fields = keys.map((key): ShapeField => ({ key, shape: { kind: 'scalar', wire: 'i4' } }));
    const expected = `{${keys.map((key, i) => `${JSON.stringify(key)}:${i}`).join(',')}}`;
    expect(transcode(fields, row(...keys.map((_, i) => int4(i))))).toBe(expected);
  });

  test('no fields at all', () => expect(transcode([], row())).toBe('{}'));

  test('a record that does not fit its shape is refused', () => {
    expect(() => one({ kind: 'record', fields: pair }, record(int8(1n)))).toThrow('1 columns');
  });
});
