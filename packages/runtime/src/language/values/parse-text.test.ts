import { expect, test } from 'vitest';
import { type JsonValue, parseText } from './parse-text.ts';

function repeated(text: string): string | undefined {
  return parseText(text).repeated?.path;
}

test.each([
  ['{"a":1,"a":2}', '$.a'],
  ['{"a":1,"\\u0061":2}', '$.a'],
  ['{"\\u0061":1 , "a" \n:2}', '$.a'],
  ['{"a":1,"b":{"c":[0,{"d":1,"e":2,"d":3}]}}', '$.b.c[1].d'],
  ['[{"a":1},{"a":1,"a":1}]', '$[1].a'],
  ['{"a\\"":1,"a\\u0022":1}', '$["a\\""]'],
  ['{"":1,"":2}', '$[""]'],
  ['{"1":1,"2":2,"1":3}', '$["1"]'],
  ['{"__proto__":{},"__proto__":{}}', '$.__proto__'],
  ['{"n":9007199254740993,"n":9007199254740993}', '$.n'],
  // As many numbers that wait as digits as keys that are lost.
  ['{"a":9007199254740993,"b":1,"b":2}', '$.b'],
  ['{"rawJSON":1,"rawJSON":2}', '$.rawJSON'],
  ['{"text":"\\\\","a":"\\\\\\":","a":1}', '$.a'],
  ['{"ключ":1,"ключ":2}', '$["ключ"]'],
])('%s', (text, path) => {
  expect(repeated(text)).toBe(path);
});

test.each([
  '{}',
  '[]',
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":1}}}',
  '{"a":"\\"a\\":1,\\"a\\":2"}',
  '{"a":":::::","b":"\\\\"}',
  '{"a":1,"A":2,"a ":3}',
  '{"e\\u0301":1,"\\u00e9":2}',
  '{"n":9007199254740993,"m":[1e400,{"rawJSON":"1"}]}',
  '{"constructor":1,"toString":2,"__proto__":3}',
])('%s has every key once', (text) => {
  expect(repeated(text)).toBeUndefined();
});

test('agrees with a parser that keeps every member', () => {
  let seed = 20;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  const spellings: readonly (readonly [string, string])[] = [
    ['"a"', 'a'],
    ['"\\u0061"', 'a'],
    ['"b"', 'b'],
    ['"\\""', '"'],
    // After a key with a backslash V8 takes keys with escapes for it.
    ['"\\\\"', '\\'],
    ['"a:"', 'a:'],
    ['"}"', '}'],
    ['"rawJSON"', 'rawJSON'],
  ];
  const spelling = (): readonly [string, string] => spellings[random(spellings.length)] ?? ['""', ''];
  const scalars: readonly (readonly [string, JsonValue])[] = [
    ['1', 1],
    ['9007199254740994', JSON.rawJSON('9007199254740994')],
    ['-1.5e3', -1500],
    ['null', null],
    ['true', true],
  ];
  const space = (): string => ['', '', ' ', '\n\t'][random(4)] ?? '';
  let found = 0;
  interface Made {
    readonly text: string;
    readonly value: JsonValue;
    /** Whether an object in it has a key twice. */
    readonly repeats: boolean;
  }
  function create(depth: number): Made {
    const kind = depth === 0 ? random(3) : random(5);
    if (kind < 3) {
      const [text, value] = kind === 0 ? (scalars[random(scalars.length)] ?? ['1', 1]) : spelling();
      return { text, value, repeats: false };
    }
    const parts = Array.from({ length: random(4) }, () => create(depth - 1));
    const inner = parts.some(({ repeats }) => repeats);
    if (kind === 3) {
      const text = `[${space()}${parts.map((part) => part.text).join(`${space()},${space()}`)}]`;
      return { text, value: parts.map(({ value }) => value), repeats: inner };
    }
    const keys = parts.map(spelling);
    const members = parts.map(({ text }, at) => `${space()}${keys[at]?.[0]}${space()}:${space()}${text}${space()}`);
    const value = Object.fromEntries(parts.map((part, at) => [keys[at]?.[1] ?? '', part.value]));
    const repeats = inner || Object.keys(value).length < keys.length;
    return { text: `{${members.join(',')}}`, value, repeats };
  }
  for (let round = 0; round < 5_000; round++) {
    const { text, value, repeats } = create(4);
    if (repeats) found++;
    const parsed = parseText(text);
    expect(parsed.repeated !== null, text).toBe(repeats);
    expect(parsed.value, text).toEqual(value);
  }
  expect(found).toBeGreaterThan(200);
});

test('a key with a backslash changes no other text', () => {
  const kept = Array.from({ length: 3 }, () => parseText('{"a":1,"\\\\":2}').value);
  expect(parseText('{"a":1,"\\u0062":2}').value).toEqual({ a: 1, b: 2 });
  expect(parseText('{"a":1,"\\n":2}').value).toEqual({ a: 1, '\n': 2 });
  expect(kept).toEqual(kept.map(() => ({ a: 1, '\\': 2 })));
});

test('takes time in proportion to the text, however it is built', () => {
  const size = 1_000_000;
  const hostile = [
    `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
    `${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`,
    `{"a"${' '.repeat(size)}:1,"a":2}`,
    `{"${'\\\\'.repeat(size / 2)}":1,"a":1,"a":2}`,
    `{${Array.from({ length: size / 12 }, (_, index) => `"k${index}":1`).join(',')},"k1":1}`,
    `{"${'x'.repeat(size / 2)}":1,"${'x'.repeat(size / 2)}":1}`,
  ];
  for (const text of hostile) {
    const before = process.cpuUsage();
    const { repeated: found } = parseText(text);
    const { user } = process.cpuUsage(before);
    expect(user / 1_000).toBeLessThan(2_000);
    expect((found?.key.length ?? 0) + (found?.path.length ?? 0)).toBeLessThan(200);
  }
});
