import { expect, it } from 'vitest';
import { oneSpelling } from '../values/values.ts';

it.each([
  ['decimal', '1.00', '1'],
  ['decimal', '+01.50', '1.5'],
  ['decimal', '-0.0', '0'],
  ['decimal', '-00.10', '-0.1'],
  ['decimal', '100', '100'],
  ['decimal', '1e2', '1e2'],
  ['decimal', '123456789012345678901234567890.10', '123456789012345678901234567890.1'],
  ['integer', '0', '0'],
  ['integer', '-0010', '-10'],
  ['bigInteger', '00018446744073709551615', '18446744073709551615'],
  ['timestamp', '2024-01-01 01:00:00+01:00', '2024-01-01 00:00:00+00:00'],
  ['timestamp', '2024-01-01 00:00:00.1230+00:00', '2024-01-01 00:00:00.123+00:00'],
  ['timestamp', '2024-01-01 00:30:00.000001+05:30', '2023-12-31 19:00:00.000001+00:00'],
  ['timestamp', '0044-03-15 00:00:00+00:00 BC', '0044-03-15 00:00:00+00:00 BC'],
  ['timestamp', 'infinity', 'infinity'],
  ['text', '1.00', '1.00'],
] as const)('a %s %s is %s', (type, text, expected) => {
  expect(oneSpelling({ type }, text)).toBe(expected);
});
