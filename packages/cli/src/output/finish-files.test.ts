import { classFiles, classHeader } from '@tablewright/runtime/language';
import { expect, test } from 'vitest';
import { typeDocuments } from './finish-files.ts';

test('makes types of a document whose tables lead from one to another for long', { timeout: 60_000 }, async () => {
  const length = 2000;
  const schemas = Array.from({ length }, (_, at) => {
    const next = at + 1 < length ? { $ref: `#/components/schemas/Table${at + 1}` } : { type: 'string' };
    return [`Table${at}`, { type: 'object', properties: { next } }] as const;
  });
  const document = {
    openapi: '3.1.0',
    info: { title: 'Chain', version: '1' },
    paths: {},
    components: { schemas: Object.fromEntries(schemas) },
  };
  const contents = `${classHeader(['admin'], '//')}\n${JSON.stringify(document)}\n`;
  const [, typed] = await typeDocuments([{ path: classFiles.openapi, contents }]);
  expect(typed?.path).toBe('openapi/admin.d.ts');
  expect(typed?.contents).toContain('next?: components["schemas"]["Table1999"];');
});
