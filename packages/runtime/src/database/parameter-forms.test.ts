import { expect, test } from 'vitest';
import type { ParameterForm } from './database.ts';
import { formParameters } from './parameter-forms.ts';

const form = (text: string | null, as: ParameterForm) => formParameters([text], [as])[0];

test.each<[string, ParameterForm, unknown]>([
  ['2026-01-02 10:00:00+00:00', 'instant', '2026-01-02 10:00:00'],
  ['2026-01-02 00:30:00.25+01:00', 'instant', '2026-01-01 23:30:00.25'],
  ['2026-01-02 10:00:00', 'instant', '2026-01-02 10:00:00'],
  ['2026-01-02 00:30:00.1234567+01:00', 'instant', '2026-01-01 23:30:00.123457'],
  ['2025-12-31 23:59:59.9999999+00:00', 'instant', '2026-01-01 00:00:00.000000'],
  ['9999-12-31 23:59:59.9999999+00:00', 'instant', '9999-12-31 23:59:59.999999'],
  ['true', 'boolean', '1'],
  ['false', 'boolean', '0'],
  ['{1,2}', 'text[]', '["1","2"]'],
  ['{}', 'text[]', '[]'],
  ['{"a,b","say \\"x\\"","\\\\",c}', 'text[]', '["a,b","say \\"x\\"","\\\\","c"]'],
  ['{"2026-01-02 00:30:00+01"}', 'instant[]', '["2026-01-01 23:30:00"]'],
  ['{a,"say \\"x\\"",c}', 'path:0-2', '$."a"."say \\"x\\""'],
  ['{a,"-1",c}', 'index:1', '-1'],
  ['{" +07"}', 'index:0', '7'],
  ['P-1Y2M', 'months', '-10'],
  ['P-1W', 'microseconds', '-604800000000'],
  ['PT1.5S', 'microseconds', '1500000'],
  ['P3D', 'months', '0'],
  ['-12.50', 'whole', '-12'],
  ['-12.50', 'fraction', '-0.5'],
  ['7', 'fraction', '0.0'],
  ['15e-1', 'whole', '1'],
  ['15e-3', 'fraction', '0.015'],
  ['0.15e3', 'whole', '150'],
])('%s as %s', (text, as, expected) => expect(form(text, as)).toBe(expected));

test('null stays null, and a bound is a number', () => {
  expect(form(null, 'instant')).toBeNull();
  expect(form('12', 'integer')).toBe(12n);
});

test('without forms everything is text', () => {
  expect(formParameters(['a', null], undefined)).toEqual(['a', null]);
});
