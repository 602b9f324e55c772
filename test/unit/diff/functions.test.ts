/** What a change of the functions of a database means to roles: the six rules about them. */
import type { CallPermission, Routine, Schema } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { diffSchemas, ruleIds } from '../../../packages/compiler/src/diff/diff-schemas.ts';
import {
  collectionOf,
  columnOf,
  schemaOf,
  tableOf,
  typeOf,
} from '../../../packages/compiler/src/testing/build-schema.ts';

const integer = typeOf('int4', 'integer');
const shops = tableOf('shops', [columnOf('id', integer), columnOf('name', typeOf('text', 'text'))]);

const argument = (name: string, optional = false, type = integer) => ({
  name,
  nativeType: type.base,
  type,
  optional,
});

type Fixed = CallPermission['args'][number];

const plain: Routine = {
  schema: 'public',
  name: 'total',
  signature: 'public.total(int4)',
  kind: 'function',
  reads: true,
  arguments: [argument('shop')],
  returns: { kind: 'value', many: false, value: { name: 'value', nativeType: 'int4', type: integer } },
  comment: null,
};

const fixed = (value: number): readonly Fixed[] => [{ name: 'shop', value: { kind: 'literal', value } }];

function world(change: Partial<Routine> | null, granted = true, args: readonly Fixed[] = []): Schema {
  const schema = schemaOf([shops], [collectionOf(shops)], {
    roles: [{ name: 'clerk', description: null, admin: false, app: false }],
  });
  if (change === null) return schema;
  const calls = granted ? [{ role: 'clerk', function: 'total', args }] : [];
  return { ...schema, functions: [{ name: 'total', routine: { ...plain, ...change } }], calls };
}

const text = typeOf('text', 'text');
const oneOf = (...values: readonly string[]) => ({ ...typeOf('public.state', 'enum'), values });
const place = (...names: readonly string[]) => ({
  ...typeOf('public.place', 'composite'),
  attributes: names.map((name) => ({ name, nativeType: 'text', type: text })),
});
const cases: Readonly<Record<string, readonly [Schema, Schema, string, string]>> = {
  removed: [world({}), world(null), 'function-removed', 'breaking'],
  'taken away': [world({}), world({}, false), 'function-removed', 'breaking'],
  added: [world(null), world({}), 'function-added', 'dangerous'],
  'with an optional argument': [
    world({}),
    world({ arguments: [argument('shop'), argument('year', true)] }),
    'function-argument-added',
    'safe',
  ],
  'with a required argument': [
    world({}),
    world({ arguments: [argument('shop'), argument('year')] }),
    'function-argument-added',
    'breaking',
  ],
  'without an argument': [world({}), world({ arguments: [] }), 'function-argument-removed', 'breaking'],
  'with an argument of another type': [
    world({}),
    world({ arguments: [argument('shop', false, text)] }),
    'function-argument-removed',
    'breaking',
  ],
  'with an argument of more values': [
    world({ arguments: [argument('shop', false, oneOf('a', 'b'))] }),
    world({ arguments: [argument('shop', false, oneOf('b', 'a', 'c'))] }),
    'function-argument-added',
    'safe',
  ],
  'with an argument of fewer values': [
    world({ arguments: [argument('shop', false, oneOf('a', 'b'))] }),
    world({ arguments: [argument('shop', false, oneOf('b', 'c'))] }),
    'function-argument-removed',
    'breaking',
  ],
  'with a result of more values': [
    world({ returns: { kind: 'value', many: false, value: argument('value', false, oneOf('a')) } }),
    world({ returns: { kind: 'value', many: false, value: argument('value', false, oneOf('a', 'b')) } }),
    'values-added',
    'dangerous',
  ],
  'with a result of other values': [
    world({ returns: { kind: 'value', many: false, value: argument('value', false, oneOf('a')) } }),
    world({ returns: { kind: 'value', many: false, value: argument('value', false, oneOf('b')) } }),
    'function-result-changed',
    'breaking',
  ],
  'with another member of an argument': [
    world({ arguments: [argument('shop', false, place('city'))] }),
    world({ arguments: [argument('shop', false, place('city', 'street'))] }),
    'function-argument-removed',
    'breaking',
  ],
  'with another member of its result': [
    world({ returns: { kind: 'value', many: false, value: argument('value', false, place('city')) } }),
    world({ returns: { kind: 'value', many: false, value: argument('value', false, place('town')) } }),
    'function-result-changed',
    'breaking',
  ],
  'with a member more of its result': [
    world({ returns: { kind: 'value', many: false, value: argument('value', false, place('city')) } }),
    world({ returns: { kind: 'value', many: false, value: argument('value', false, place('city', 'street')) } }),
    'field-members-added',
    'safe',
  ],
  'with another result': [world({}), world({ returns: { kind: 'nothing' } }), 'function-result-changed', 'breaking'],
  'with another fixed argument': [world({}, true, fixed(1)), world({}, true, fixed(2)), 'preset-changed', 'dangerous'],
  'that begins to write': [world({}), world({ reads: false }), 'function-volatility-changed', 'breaking'],
};

test.each(Object.entries(cases))('a function %s', (_, [before, after, rule, severity]) => {
  const found = diffSchemas(before, after).changes.filter(({ roles }) => roles.includes('clerk'));
  expect(found.map((change) => [change.rule, change.severity])).toEqual([[rule, severity]]);
});

test('an argument that the server begins to set', () => {
  const { changes } = diffSchemas(world({}), world({}, true, fixed(1)));
  expect(changes.map(({ rule, message }) => [rule, message])).toEqual([
    ['function-argument-removed', '"total" has no argument "shop" any more.'],
    ['preset-added', 'The server sets "shop" to 1 (call).'],
  ]);
});

test('every rule about functions has its case', () => {
  const met = new Set(Object.values(cases).map(([, , rule]) => rule));
  expect(ruleIds().filter((id) => id.startsWith('function-') && !met.has(id))).toEqual([]);
});
