import { describe, expect, it } from 'vitest';
import { parseBody } from '../../json/body.ts';
import { createKnownBodyParser } from './fast-path.ts';

const headers = { 'content-type': 'application/json' };
const bodies = [
  '{"query":"{ a }","variables":{"id":1}}',
  '{"query":"{ a }","variables":{"id":2},"operationName":null}',
  '{"query":"{ a }","variables":{"n":12345678901234567890}}',
  '{"query":"{ a }","variables":{"n":123456789012345}}',
  '{"query":"{ a }","variables":{"n":1234567890123456}}',
  '{"query":"{ a }","variables":{"n":-5,"m":0,"id":"5"}}',
  '{"query":"{ a }","variables":{"n":-0}}',
  '{"query":"{ a }","variables":{"n":01}}',
  '{"query":"{ a }","variables":{"n":-}}',
  '{"query":"{ a }","variables":{"n":1.5}}',
  '{"query":"{ a }","variables":{"n":1e2}}',
  '{"query":"{ a }","variables":{"yes":true,"no":false,"none":null}}',
  '{"query":"{ a }","variables":{"yes":truE}}',
  '{"query":"{ a }","variables":{"yes":trueish}}',
  '{"query":"{ a }","variables":{"a":"","b":"x y","c":"~"}}',
  '{"query":"{ a }","variables":{"a":"é"}}',
  '{"query":"{ a }","variables":{"a":"\t"}}',
  '{"query":"{ a }","variables":{"a":"\u007f"}}',
  '{"query":"{ a }","variables":{"a":"\\n"}}',
  '{"query":"{ a }","variables":{"a":1,"a":2}}',
  '{"query":"{ a }","variables":{"a":1,"\\u0061":2}}',
  '{"query":"{ a }","variables":{"a":1,}}',
  '{"query":"{ a }","variables":{,"a":1}}',
  '{"query":"{ a }","variables":{"a":1 "b":2}}',
  '{"query":"{ a }","variables":{"a" :1}}',
  '{"query":"{ a }","variables":{"":1}}',
  '{"query":"{ a }","variables":{"2":1,"1":2}}',
  '{"query":"{ a }","variables":{"constructor":1,"toString":"x"}}',
  '{"query":"{ a }","variables":{"ab":1,"a":2}}',
  '{"query":"{ a }","variables":{"a":{"b":1}}}',
  '{"query":"{ a }","variables":{"a":[1]}}',
  '{"query":"{ a }","variables":{}}',
  '{"query":"{ a }","variables":{}}}',
  '{"query":"{ a }","variables":{}} ',
  '{"query":"{ a }","variables":{"a":"b',
  '{"query":"{ a }","variables":{"a":"b"',
  '{"query":"{ a }","variables":{"a":"b"}',
  '{"query":"{ a }","variables":{"a',
  `{"query":"{ a }","variables":{"a":"${'x'.repeat(2_000)}"}}`,
  `{"query":"{ a }","variables":{"a":"${'x'.repeat(2_000)}","a":1}}`,
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
    // Its members may stand in another order.
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
