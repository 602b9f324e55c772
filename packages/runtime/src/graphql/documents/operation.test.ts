import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { anyDocument, trustedDocuments } from './operation.ts';

const text = '{ articles { id } }';
const id = hash('sha256', text);
const find = trustedDocuments({ [id]: text });
const refused = expect.objectContaining({ code: 'INVALID_QUERY', status: 400 });

test('a trusted document is found by its text and by its hash', () => {
  expect(find({ query: text, documentId: null })).toBe(text);
  expect(find({ query: null, documentId: id })).toBe(text);
  expect(find({ query: null, documentId: `sha256:${id}` })).toBe(text);
});

test.each([
  ['{ articles { id title } }', null],
  [`${text} `, null],
  ['{ articles { title } }', id],
  [null, 'abc'],
  [null, '__proto__'],
  [null, id.toUpperCase()],
])('%s, %s is refused', (query, documentId) => {
  expect(() => find({ query, documentId })).toThrow(refused);
});

test('without trust any text is taken, and no hash', () => {
  expect(anyDocument({ query: '{ a }', documentId: null })).toBe('{ a }');
  expect(anyDocument({ query: '{ a }', documentId: id })).toBe('{ a }');
  expect(() => anyDocument({ query: null, documentId: id })).toThrow(refused);
});
