import { describe, expect, it } from 'vitest';
import { parseBody } from '../../json/body.ts';
import { createKnownBodyParser } from './fast-path.ts';

const headers = { 'content-type': 'application/json' };
const bodies = [
  '{"query":"{ a }","variables":{"id":1}}',
  '{"query":"{ a }","variables":{"id":2},"operationName":null}',
  '{"query":"{ a }","variables":{"n":12345678901234567890}}',
  '{"query":"{ a }","variables":{"text":"\\",\\"variables\\":{}"}}',
  '{"query":"{ a }","variables":{"__proto__":1}}',
  '{"query":"{ a }","variables":{"a":"\\u0000"}}',
  '{"query":"{ a }","variables":{"constructor":{"prototype":1}}}',
  '{"query":"{ a }","variables":{},"query":"{ b }"}',
  '{"query":"{ a }","variables":}',
  '{"query":"{ a }","variables":{}',
  '{"query":"{ a(x: \\"é\\") }","operationName":"X","variables":{"id":1}}',
  '{"query":"{ a }","operationName":null,"variables":{"id":1}}',
  '{"query":"\\","variables":1}',
  '{"query":"\\\\","variables":1}',
  '{"query":"a","query":"b","variables":1}',
  '{"operationName":"X","variables":{"id":1},"query":"query X { a }"}',
  '{"operationName":"Y","variables":{"id":2},"query":"query X { a }"}',
  '{"variables":{"id":1,"query":"{ b }"},"query":"query X { a }"}',
  '{"variables":{"id":1,"query":"query X { a }"}}',
  '{,"query":"query X { a }"}',
  '{ ,"query":"query X { a }"}',
  '{"query":"{ c }" , "variables":{},"query":"query X { a }"}',
  '[,"query":"query X { a }"}',
  '[1,"query":"query X { a }"]',
  '{"query":"{ a }"}',
  '{"documentId":"1","variables":{}}',
  '[]',
  'null',
  '',
];

function outcome(parse: () => unknown): unknown {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    return String(error);
  }
}

describe('bodies whose documents were met before', () => {
  const parse = createKnownBodyParser();
  it.each([...bodies, ...bodies, ...bodies])('%s is what it is without', (text) => {
    const bytes = Buffer.from(text);
    const known = outcome(() => parse(bytes, headers));
    const whole = outcome(() => parseBody(bytes, headers));
    const sorted = (json: unknown): unknown => {
      return typeof json === 'string' && json.startsWith('{') ? JSON.parse(json) : json;
    };
    expect(sorted(known)).toEqual(sorted(whole));
  });

  it('give the same text again', () => {
    const again = createKnownBodyParser();
    const [first, second] = [1, 2, 3].map((id) => {
      const body = again(Buffer.from(`{"query":"{ a }","variables":{"id":${id}}}`), headers);
      return JSON.stringify(body);
    });
    expect([first, second]).toEqual([
      '{"query":"{ a }","variables":{"id":1}}',
      '{"query":"{ a }","variables":{"id":2}}',
    ]);
  });

  it('are judged by their headers first', () => {
    expect(() => parse(Buffer.from('{"query":"{ a }","variables":{"id":1}}'), {})).toThrow('Send the body');
  });
});
