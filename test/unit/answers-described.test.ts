/** The judge of answers that all tests over HTTP have: it finds a fault at any depth, also in what it compiles later. */
import { expect, it } from 'vitest';
import { createJudge } from '../support/openapi/schemas.ts';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const judge = createJudge({
  components: {
    schemas: {
      Answer: { type: 'object', properties: { data: { type: 'array', items: reference('Book') } }, required: ['data'] },
      Book: {
        type: 'object',
        properties: {
          title: { type: 'string' },
          author: { oneOf: [reference('Author'), { type: 'null' }] },
          more: { type: 'object', additionalProperties: reference('Author') },
          strict: {
            type: 'object',
            oneOf: [reference('Person')],
            unevaluatedProperties: false,
          },
        },
      },
      Person: { type: 'object', properties: { name: { type: 'string' } } },
      Author: {
        type: 'object',
        properties: { name: { type: 'string' }, books: { type: 'array', items: reference('Book') } },
      },
    },
  },
});

const place = ['components', 'schemas', 'Answer'];

it.each([
  [{ data: [{ title: 'Tea', author: null }, { author: { name: 'Ann', books: [{ title: 'Oil' }] } }] }, []],
  [{ data: [{ author: { name: 'Ann', books: [{ title: 1 }] } }] }, ['/data/0/author/books/0/title must be string']],
  [{ data: [{ more: { first: { name: 1 } } }] }, ['/data/0/more/first/name must be string']],
  [{ data: [{ strict: { name: 'Ann' } }] }, []],
  [{ data: [{ strict: { nom: 'Ann' } }] }, ['/data/0/strict must NOT have unevaluated properties']],
])('%j', (value, faults) => {
  const found = judge('open', place, value);
  for (const fault of faults) expect(found.join('\n')).toContain(fault);
  if (faults.length === 0) expect(found).toEqual([]);
});

it('finds members that nobody described where answers are closed, and not elsewhere', () => {
  const answer = { data: [{ author: { name: 'Ann', born: 1900 } }] };
  expect(judge('closed', place, answer).join('\n')).toContain('/data/0/author must NOT have additional properties');
  expect(judge('open', place, answer)).toEqual([]);
});
