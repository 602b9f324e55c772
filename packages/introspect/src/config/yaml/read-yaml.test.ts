import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readWhole, readYaml } from './read-yaml.ts';
import type { SourceNode } from './source.ts';

/** What a text says, without who repeats whom. */
function said({ root, diagnostics }: ReturnType<typeof readYaml>) {
  return { root: root && plain(root), diagnostics };
}

function plain(node: SourceNode): SourceNode {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'list') return { ...node, items: node.items.map(plain) };
  return { ...node, entries: node.entries.map(({ key, value }) => ({ key, value: plain(value) })) };
}

/** Entries of which is known what they repeat. */
function repeatsIn({ root }: ReturnType<typeof readYaml>): readonly string[] {
  const sections = root?.kind === 'map' ? root.entries : [];
  return sections.flatMap(({ value }) =>
    value.kind === 'map' ? value.entries.flatMap(({ key, repeats }) => (repeats ? [key.name] : [])) : [],
  );
}

const read = (text: string) => readYaml(text, 'file');
const whole = (text: string) => said(readWhole(text, 'file'));

const blocks = `# Who may do what
roles:
  a: {}
permissions:
  # The first
  a:
    articles: # all of it
      read: true

    tags:
      read: { fields: [id,
        name] }
  "b c":
    articles: # all of it
      read: true

    tags:
      read: { fields: [id,
        name] }
  d: { articles: { read: true } }

  e: # as a
    articles: # all of it
      read: true

    tags:
      read: { fields: [id,
        name] }
# The end
`;

test.each(['\n', '\r\n'])(
  'blocks that repeat earlier ones have their values, at places of their own (%j)',
  (lineBreak) => {
    const text = blocks.replaceAll('\n', lineBreak);
    expect(repeatsIn(read(text))).toEqual(['b c', 'e']);
    expect(said(read(text))).toEqual(whole(text));
    expect(JSON.stringify(whole(text))).toContain('"kind":"scalar","place":"file:24:13","value":true');
  },
);

test.each([
  ['an alias', 'x:\n  a:\n    k: &n 1\n  b:\n    k: &n 1\n  c: { k: *n }\n'],
  ['a comment within', 'x:\n  a:\n    k: 1 # one\n  b:\n    k: 1 # two\n'],
  ['other spaces', 'x:\n  a:\n    k: 1\n  b:\n     k: 1\n'],
  ['a text of several lines', 'x: "\n  a:\n    k: 1\n  b:\n    k: 1\n  "\n'],
  ['a block in braces', 'x: {\n  a:\n    k,\n  b:\n    k }\n'],
  ['no line break at the end', 'x:\n  a:\n    k: |\n      t\n  b:\n    k: |\n      t'],
  ['a literal text of empty lines', 'x:\n  a:\n    k: |+\n      t\n\n  b:\n    k: |+\n      t\n'],
  ['an error within', 'x:\n  a:\n    k: [\n  b:\n    k: [\n'],
  ['a tag within', 'x:\n  a:\n    k: !no 1\n  b:\n    k: !no 1\n'],
  ['a key that is no text', 'x:\n  a:\n    1: 1\n  b:\n    1: 1\n'],
  ['one key twice', 'x:\n  a:\n    k: 1\n  a:\n    k: 1\n'],
  ['a list in place of the value', 'x:\n  a:\n    k: 1\n  b:\n  - 1\n'],
  ['two documents', 'x:\n  a:\n    k: 1\n  b:\n    k: 1\n---\nx: 1\n'],
])('%s is read as it stands', (_, text) => {
  expect(repeatsIn(read(text))).toEqual([]);
  expect(said(read(text))).toEqual(whole(text));
});

/** Parts of a block whose keys stand in column 5. */
const parts = [
  ['    a: 1', '   # said so', '    a2: "*"'],
  ['    b: { m: [1, x], n: &n 2 }'],
  ['    c:', '      - |', '        - text: "', '      - 0x10'],
  ['    d: >-', '      one', '', '      two'],
  ["    e: 'one", "      two'", '# far out'],
  ['    f: [a, # c', '      b ]'],
  ['    ? g', '    : !!str 1'],
  ['    h:', '    - ~', '    - plain', '      text'],
  ['', '    i: true # yes', '  # between'],
  ['    j: |+', '      end', '', ''],
];

/** Blocks that are no mappings. */
const values = [
  ['    |1', '     text'],
  ['    # nothing'],
  ['    [a', '   ]'],
  ['    "a', '', '    "'],
  ['    - a', '    - b: 1', '      c: 2'],
];

/** Lines that are an error nearly everywhere, or change what the lines around them are. */
const disturbances = [
  ...[
    '    k: *n',
    '    a: 1',
    '    1: 1',
    '    q: "',
    '    r: [',
    '    s: {',
    '    t: !no 1',
    '    u: |',
    '    "',
    '    ]',
  ],
  ...[
    '    \tv: 1',
    '\t',
    '  \t# c',
    '   w: 1',
    ' w: 1',
    '     w: 1',
    '  - x',
    '  ? x',
    '  : x',
    '  text',
    '  }',
    '  }: x',
  ],
  ...[
    '  "y": |',
    "  'y': '",
    '  y: [',
    '  y: "',
    '  &y z:',
    '  *n :',
    '  1:',
    '  <<:',
    '  y: # c',
    '- x',
    'x: 1',
    'y:',
    '}',
    '"',
    '# "',
  ],
  ...['---', '...', '%YAML 1.2', '\uFEFF', '  # c', '', '      ', '    z: >2', '  y:\r', '  y:\u2028', '  y:\u00a0'],
];

/** Mappings in a mapping, of which many say the same, with or without a line that disturbs them. */
const texts = fc
  .array(fc.oneof({ weight: 4, arbitrary: fc.subarray(parts) }, fc.constantFrom(...values.map((value) => [value]))), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((bodies) =>
    fc.record({
      entries: fc.array(fc.constantFrom(...bodies.map((body) => body.flat())), { minLength: 2, maxLength: 5 }),
      behind: fc.constantFrom([], [], [''], ['  # c'], ['# c', '']),
      head: fc.constantFrom(
        ['x:'],
        ['x:'],
        ['---', 'x: # c'],
        ['z: {}', 'x:', ''],
        ['x: {'],
        ['x: "'],
        ['x: &n'],
        ['z:', '  - a', 'x:'],
      ),
      tail: fc.constantFrom(
        [],
        [],
        ['z: 1'],
        ['z:', '  r0:', ...(bodies[0] ?? []).flat()],
        ['z:', '   r0:', ...(bodies[0] ?? []).flat()],
      ),
      disturbance: fc.option(fc.tuple(fc.constantFrom(...disturbances), fc.nat()), { freq: 1 }),
      lineBreak: fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', '\r\n', '\r'),
      end: fc.boolean(),
    }),
  )
  .map(({ entries, behind, head, tail, disturbance, lineBreak, end }) => {
    const all = [...head, ...entries.flatMap((body, at) => [`  r${at}:`, ...body, ...behind]), ...tail];
    if (disturbance !== null) all.splice(disturbance[1] % (all.length + 1), 0, disturbance[0]);
    return all.join(lineBreak) + (end ? lineBreak : '');
  });

test('any text means what it means when it is parsed as it stands', () => {
  let repeated = 0;
  const numRuns = Number(process.env.YAML_TEXTS ?? 1000);
  fc.assert(
    fc.property(texts, (text) => {
      const reading = read(text);
      repeated += repeatsIn(reading).length > 0 ? 1 : 0;
      expect(said(reading)).toEqual(whole(text));
    }),
    { numRuns },
  );
  expect(repeated).toBeGreaterThan(numRuns / 10);
});

test('as many aliases as a file of many rules has take no longer than the rules themselves', () => {
  const lines = Array.from(
    { length: 2_000 },
    (_, at) => `  ${at % 50 > 0 ? '  ' : `r${at}:\n    `}k${at}: { read: *rule }`,
  );
  const { root, diagnostics } = read(`first: &rule { fields: [id] }\nx:\n${lines.join('\n')}\n`);
  expect(diagnostics).toEqual([]);
  expect(JSON.stringify(root).match(/"fields"/g)).toHaveLength(2_001);
});

test('an alias stands for the last anchor of its name before it', () => {
  const { root, diagnostics } = read('a: &n 1\nb: *n\nc: &n 2\nd: [*n, *m]\ne: &m 3\n');
  expect(diagnostics.map(({ message, place }) => `${place} ${message}`)).toEqual([
    'file:4:9 The alias names no anchor.',
  ]);
  const values = root?.kind === 'map' ? root.entries.map(({ value }) => value) : [];
  expect(values.map((value) => (value.kind === 'list' ? value.items : value))).toMatchObject([
    { value: 1 },
    { value: 1 },
    { value: 2 },
    [{ value: 2 }],
    { value: 3 },
  ]);
});
