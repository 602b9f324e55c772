import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readRawJson } from '../../packages/runtime/src/export/raw-json.ts';
import { yaml } from '../../packages/runtime/src/export/writer.ts';

test('YAML reads back as the JSON it was made of', () => {
  fc.assert(
    fc.property(fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 5 }))), (rows) => {
      const clean: unknown = JSON.parse(JSON.stringify(rows).replaceAll('"__proto__"', '"proto"'));
      const items = Array.isArray(clean) ? clean : [];
      const file = items.map((row) => yaml.row(readRawJson(JSON.stringify(row)))).join('') + yaml.end(items.length);
      expect(parse(file, { maxAliasCount: -1 })).toEqual(items);
    }),
  );
});
