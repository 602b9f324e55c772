import { expect, test } from 'vitest';
import { parseSchema, printSchema } from './schema-file.ts';
import { resolve } from './testing/resolve.ts';

const permissions = 'permissions: { public: { a: { read: true } } }';
const { schema } = resolve({ a: { columns: ['id!', '__proto__'], key: ['id'] } }, { permissions });

test('what is printed reads back the same', () => {
  const parsed = parseSchema(printSchema(schema));
  expect(parsed).toEqual({ schema });
});

test('prints sorted keys, two spaces and a newline at the end', () => {
  const text = printSchema(schema);
  expect(text.endsWith('}\n')).toBe(true);
  expect(text.startsWith('{\n  "collections": [\n')).toBe(true);
  const reordered = Object.fromEntries(Object.entries(schema).reverse());
  expect(printSchema({ ...schema, ...reordered })).toBe(text);
});

test.each([
  ['', 'The file is not JSON.'],
  ['[]', 'The file does not hold a schema.'],
  ['{}', 'The file has version none, not 1.'],
  ['{"version": 2}', 'The file has version 2, not 1.'],
  ['{"version": 1, "dialect": "oracle"}', 'The file is of a dialect that is none of postgres, mysql, mariadb.'],
  [
    '{"version": 1, "dialect": "postgres"}',
    'The file does not hold a whole schema: "tables" is not as it was written.',
  ],
])('%j: %s', (text, message) => {
  expect(parseSchema(text)).toMatchObject({ diagnostic: { code: 'schema-file', severity: 'error', message } });
});

test('names the part that was cut out of a file', () => {
  const text = printSchema(schema).replace('"nativeType": "text",', '');
  expect(parseSchema(text)).toMatchObject({
    diagnostic: { message: expect.stringContaining('"tables[0].columns[0].nativeType"') },
  });
});
