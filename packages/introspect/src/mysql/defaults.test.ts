import { expect, test } from 'vitest';
import { defaultExpression, wholeTexts } from './columns.ts';

test.each([
  ["'plain'", "'plain'"],
  ["'It\\'s \\\\ here\\n'", "'It''s \\ here\n'"],
  ["'a''b\\\\c'", "'a''b\\c'"],
  ["_latin1'x'", "'x'"],
  ["''", "''"],
  ['-5', '-5'],
  ['uuid()', 'uuid()'],
  ["concat('a\\\\','b\\'c')", "concat('a\\\\','b''c')"],
])('%s of MariaDB is %s', (reported, expression) => expect(defaultExpression(reported, 'mariadb')).toBe(expression));

test.each([
  ["_utf8mb4\\'It\\\\\\'s \\\\\\\\ here\\'", "'It''s \\ here'"],
  ["concat(_utf8mb4\\'it\\\\\\'s\\',_utf8mb4\\'b\\')", "concat(_utf8mb4'it''s',_utf8mb4'b')"],
  ["DATE\\'2020-01-01\\'", "DATE'2020-01-01'"],
  ['uuid()', 'uuid()'],
])('%s of MySQL is %s', (reported, expression) => expect(defaultExpression(reported, 'mysql')).toBe(expression));

test('texts of MySQL are made whole, and names stay', () => {
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  const reported = `(\`é\` in (_utf8mb4\\'${bytes('é€😀')}\\',_latin1\\'é\\'))`;
  const whole = "(`é` in (_utf8mb4\\'é€😀\\',_latin1\\'é\\'))";
  expect(wholeTexts(reported, 'mysql')).toBe(whole);
  expect(wholeTexts(reported, 'mariadb')).toBe(reported);
});
