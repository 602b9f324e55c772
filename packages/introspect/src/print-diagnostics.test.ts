import { expect, test } from 'vitest';
import { type Diagnostic, printDiagnostics } from './diagnostic.ts';

const note: Diagnostic = { code: 'choice', severity: 'info', place: 'table a', message: 'A note.', hint: null };
const error: Diagnostic = { code: 'wrong', severity: 'error', place: 'x.yaml:1:2', message: 'No.', hint: 'Do this.' };

test('prints errors first, each with place, message and hint', () => {
  expect(printDiagnostics([note, error], { color: false })).toBe(
    ['error wrong at x.yaml:1:2', '  No.', '  Do this.', 'info choice at table a', '  A note.'].join('\n'),
  );
  expect(printDiagnostics([], { color: true })).toBe('');
});

test('colours the severity', () => {
  expect(printDiagnostics([error], { color: true })).toContain('\u001b[31merror\u001b[0m wrong');
});

test('control characters of names do not reach the terminal', () => {
  const message = 'The table "a\u001b[2J\nb\u2028c\u202ed".';
  const printed = printDiagnostics([{ ...note, message }], { color: false });
  expect(printed).toContain('"a\\u{1b}[2J\\u{a}b\\u{2028}c\\u{202e}d"');
  expect(printed.split('\n')).toHaveLength(2);
});
