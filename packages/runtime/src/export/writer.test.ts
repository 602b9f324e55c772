import { describe, expect, test } from 'vitest';
import type { ShapeField } from '../json/shape.ts';
import { readRawJson } from './raw-json.ts';
import { createCsv, xml } from './writer.ts';

const text: ShapeField['shape'] = { kind: 'scalar', wire: 'text' };

describe('CSV', () => {
  const csv = createCsv([
    { key: 'a', shape: text },
    { key: 'b', shape: { kind: 'record', fields: [{ key: 'c,d', shape: { kind: 'scalar', wire: 'jsonb' } }] } },
    { key: 'list', shape: { kind: 'records', fields: [{ key: 'x', shape: text }] } },
  ]);

  test.each([
    ['{"a":"x","b":{"c,d":"y"},"list":[]}', 'x,"""y""",[]\r\n'],
    ['{"a":null,"b":null,"list":null}', ',,\r\n'],
    ['{"a":"","b":{"c,d":null},"list":[{"x":"1"}]}', '"",,"[{""x"":""1""}]"\r\n'],
    ['{"a":"1\\n2\\r","b":{"c,d":1.50},"list":[]}', '"1\n2\r",1.50,[]\r\n'],
  ])('%s', (row, line) => {
    expect(csv.row(readRawJson(row))).toBe(line);
  });

  test('the header names the columns', () => {
    expect(csv.start).toBe('a,"b.c,d",list\r\n');
  });
});

test('XML names that are none stand in an attribute', () => {
  expect(xml.row(readRawJson('{"1 a":"x","xmlThing":1,"q\\"<":null,"e":{"f":[]}}'))).toBe(
    '  <item><field name="1 a">x</field><field name="xmlThing">1</field><field name="q&quot;&lt;" xsi:nil="true"/><e><f/></e></item>\n',
  );
});
