import { expect, test } from 'vitest';
import { defaultExpression } from './columns.ts';

test.each([
  ["'plain'", "'plain'"],
  ["'It\\'s \\\\ here\\n'", "'It''s \\ here\n'"],
  ["'a''b\\\\c'", "'a''b\\c'"],
  ["_utf8mb4\\'It\\\\\\'s \\\\\\\\ here\\'", "'It''s \\ here'"],
  ["_latin1'x'", "'x'"],
  ["''", "''"],
  ['-5', '-5'],
  ['uuid()', 'uuid()'],
  ["concat('a','b')", "concat('a','b')"],
])('%s is %s', (reported, expression) => expect(defaultExpression(reported)).toBe(expression));
