import { jsonOfClass, sdlOfClass } from '@tablewright/runtime/language';
import { expect, it } from 'vitest';
import { joinChunks } from './chunks.ts';
import { type ClassDocument, jsonParts, printClassDocuments } from './class-document.ts';

const division = { layoutAt: () => ({ levels: 4 }), opened: ['/paths'], split: false };

function fileOf(documents: Readonly<Record<string, Parameters<typeof jsonParts>[0]>>): string {
  const parts = Object.entries(documents).map(([name, document]): ClassDocument => {
    return { name, parts: jsonParts(document, division) };
  });
  return joinChunks(printClassDocuments(parts, { sign: '//', before: '' }));
}

const documents = {
  admin: { title: 'x // editor', paths: { a: { get: { by: 1, to: 2 } }, b: { get: { by: 1 } }, c: {} }, end: [] },
  editor: { title: 'x // editor', paths: { a: { get: { by: 3, to: 2 } }, b: { get: { by: 1 } } }, end: [] },
  public: { title: 'x', paths: { b: { get: { by: 1, of: { x: '{' } } }, a: { get: { to: 2 } } } },
};

it('has each line once, with the classes that have it too', () => {
  expect(fileOf(documents).split('\n').slice(2)).toEqual([
    '// Access classes: admin editor public',
    '{ // editor public',
    '  "title": "x", // !admin public',
    '  "title": "x // editor", // editor',
    '  "paths": { // editor public',
    '    "a": { // editor',
    '      "get": { // editor',
    '        "by": 3, // !admin editor',
    '        "by": 1,',
    '        "to": 2 // editor',
    '      } // editor',
    '    }, // editor',
    '    "b": { // editor public',
    '      "get": { // editor public',
    '        "by": 1, // editor public',
    '        "of": {"x":"{"} // !admin public',
    '      } // editor public',
    '    }, // editor public',
    // A line that stands in two orders is printed at both places.
    '    "a": { // !admin public',
    '      "get": { // !admin public',
    '        "to": 2 // !admin public',
    '      } // !admin public',
    '    }, // !admin public',
    '    "c": {},',
    '  }, // editor public',
    '  "end": [], // editor',
    '} // editor public',
    '',
  ]);
});

it('gives each class its document', () => {
  const file = fileOf(documents);
  for (const [name, document] of Object.entries(documents)) {
    expect(JSON.stringify(JSON.parse(jsonOfClass(file, name)))).toBe(JSON.stringify(document));
    expect(jsonOfClass(file, name)).toBe(jsonOfClass(fileOf({ [name]: document }), name));
  }
  expect(() => jsonOfClass(file, 'edit')).toThrow('"edit" is not the name of an access class.');
});

it('puts an empty line between types, and keeps a description at its field', () => {
  const schemas = {
    admin: ['type A {\n  "Note."\n  a: Int\n  "Note."\n  b: Int\n}', 'scalar B', 'scalar C'],
    public: ['type A {\n  "Note."\n  b: Int\n}', 'scalar C'],
  };
  const parts = Object.entries(schemas).map(([name, texts]): ClassDocument => {
    return { name, parts: texts.map((text) => ({ name: text.slice(0, 8), text: [text] })) };
  });
  const file = joinChunks(printClassDocuments(parts, { sign: '#', before: '\n' }));
  expect(file.split('\n').slice(3)).toEqual([
    '',
    'type A { # public',
    '  "Note."',
    '  a: Int',
    '  "Note." # public',
    '  b: Int # public',
    '} # public',
    '',
    'scalar B',
    '',
    'scalar C # public',
    '',
  ]);
  for (const [name, texts] of Object.entries(schemas)) expect(sdlOfClass(file, name)).toBe(`${texts.join('\n\n')}\n`);
});
