import type { PortableType, WireKind } from '@tablewright/runtime/language';
import { describe, expect, it } from 'vitest';
import { aboutValue, briefSchema, orNull, scalarInput, type Valued, valueSchema, valueSchemas } from './values.ts';

function schemaOf(type: PortableType, more: Partial<Valued> = {}): ReturnType<typeof valueSchema> {
  return valueSchema({ type, native: 'text', wire: { kind: 'text' }, ...more }, null);
}

function pattern(type: PortableType, more: Partial<Valued> = {}): RegExp {
  return new RegExp(String(schemaOf(type, more).pattern), 'u');
}

describe('patterns', () => {
  it.each<[PortableType, WireKind, string]>([
    ['bigInteger', 'i8', '-9223372036854775808'],
    ['decimal', 'text', '12345678901234567890.000'],
    ['decimal', 'text', 'NaN'],
    ['decimal', 'text', '-Infinity'],
    ['date', 'date', '2026-11-20'],
    ['date', 'date', '5874897-12-31'],
    ['date', 'date', '0044-03-15 BC'],
    ['date', 'date', 'infinity'],
    ['time', 'time', '24:00:00'],
    ['time', 'time', '10:00:00.000001'],
    ['time', 'text', '10:00:00.5+05:30'],
    ['dateTime', 'timestamp', '2026-11-20T10:00:00.123'],
    ['dateTime', 'timestamp', '-infinity'],
    ['timestamp', 'timestamptz', '2026-11-20T10:00:00+00:00'],
    ['timestamp', 'timestamptz', '0044-03-15T10:00:00.5+00:00 BC'],
    ['interval', 'text', 'P1Y2M-3DT4H5M6.7S'],
    ['interval', 'text', 'PT0S'],
  ])('%s (%s) admits %s', (type, kind, value) => {
    expect(pattern(type, { wire: { kind } }).test(value)).toBe(true);
  });

  it.each<[PortableType, WireKind, string]>([
    ['bigInteger', 'i8', '1.0'],
    ['bigInteger', 'i8', ''],
    ['decimal', 'text', '1e5'],
    ['date', 'date', '2026-11-20T00:00:00'],
    ['time', 'time', '10:00:00+00'],
    ['dateTime', 'timestamp', '2026-11-20T10:00:00+00:00'],
    ['timestamp', 'timestamptz', '2026-11-20T10:00:00Z'],
    ['timestamp', 'timestamptz', '2026-11-20T10:00:00+01:00'],
    ['timestamp', 'timestamptz', 'infinity\n'],
    ['interval', 'text', '1 day'],
  ])('%s (%s) refuses %s', (type, kind, value) => {
    expect(pattern(type, { wire: { kind } }).test(value)).toBe(false);
  });

  it('writes decimals with a scale to it', () => {
    expect(pattern('decimal', { precision: 4, scale: 2 }).test('1.50')).toBe(true);
    expect(pattern('decimal', { precision: 4, scale: 2 }).test('1.5')).toBe(false);
    expect(pattern('decimal', { precision: 4, scale: 0 }).test('15')).toBe(true);
    expect(pattern('decimal', { precision: 4, scale: -2 }).test('1500')).toBe(true);
    expect(pattern('decimal', { precision: 4, scale: 2 }).test('Infinity')).toBe(false);
  });
});

describe('forms', () => {
  it('promises no format that a value can break', () => {
    for (const type of ['date', 'time', 'dateTime', 'timestamp', 'interval'] as const) {
      expect(schemaOf(type)).not.toHaveProperty('format');
    }
    expect(schemaOf('uuid')).toEqual({ type: 'string', format: 'uuid' });
  });

  it('lists the values of text, except of padded text', () => {
    const labels = (native: string) => valueSchema({ type: 'string', native, wire: { kind: 'text' } }, ['a', 'b', 'a']);
    expect(labels('text')).toEqual({ type: 'string', enum: ['a', 'b'] });
    expect(labels('bpchar')).toEqual({ type: 'string' });
  });

  it('admits null elements in arrays and labels of their enum', () => {
    const field: Valued = { type: 'array', element: 'enum', native: '"e"[]', wire: { kind: 'text', array: true } };
    expect(valueSchema(field, ['a'])).toEqual({
      type: 'array',
      items: { anyOf: [{ type: ['string', 'null'], enum: ['a', null] }, { $ref: '#/components/schemas/Dimension' }] },
    });
  });

  it('masks whatever arrives masked', () => {
    expect(schemaOf('json', { wire: { kind: 'masked' } })).toEqual({ type: 'string', enum: ['**********'] });
  });
});

it('admits null by the list of types, and by an alternative where there is none', () => {
  expect(orNull({ type: 'integer' })).toEqual({ type: ['integer', 'null'] });
  expect(orNull({ anyOf: [{ type: 'number' }] })).toEqual({ anyOf: [{ type: 'number' }, { type: 'null' }] });
  expect(orNull({})).toEqual({});
});

describe('long schemas', () => {
  const moment = orNull(schemaOf('timestamp'));

  it('are components, to which fields refer by a text that is shorter', () => {
    const components = new Map(valueSchemas());
    const key = scalarInput({ type: 'integer', native: 'int4', wire: { kind: 'i4' } }, null);
    for (const [name, schema] of [['TimestampOrNull', moment] as const, ['IntegerInput', key] as const]) {
      const reference = { $ref: `#/components/schemas/${name}` };
      expect(briefSchema(schema)).toEqual(reference);
      expect(components.get(name)).toEqual(schema);
      expect(JSON.stringify(reference).length).toBeLessThan(JSON.stringify(schema).length);
    }
  });

  it('stand where they are if something is said of the field, or if its type has facts of its own', () => {
    expect(aboutValue(moment, 'When it was read.', null)).toEqual({ ...moment, description: 'When it was read.' });
    expect(aboutValue(moment, null, '')).toEqual({ ...moment, deprecated: true });
    expect(aboutValue(moment, null, null)).toEqual({ $ref: '#/components/schemas/TimestampOrNull' });
    const price = orNull(schemaOf('decimal', { precision: 4, scale: 2 }));
    expect(briefSchema(price)).toBe(price);
  });
});
