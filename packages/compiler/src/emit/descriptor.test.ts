/** What generated calls give is what was to be stated, whatever differs from the usual. */
import * as language from '@tablewright/runtime/language';
import { type CollectionDescriptor, dialects, type FieldDescriptor, types } from '@tablewright/runtime/language';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCalls, printValue } from '../print/expression.ts';
import { constantOf, parseOutput } from '../testing/parse-output.ts';
import { stateCollection } from './routes.ts';

const name = fc.constantFrom('id', 'Title', 'a"b', '1', '__proto__', 'größe');
const sql = fc.constantFrom('"id"', '"a""b"', 'text', '::text', 'CAST({} AS CHAR)', '({} <> 0)');
const wire = fc.record(
  { kind: fc.constantFrom('text', 'i4', 'masked'), array: fc.constant(true), cast: sql },
  { requiredKeys: ['kind'] },
);
const pairs = fc.array(fc.record({ from: sql, to: sql }), { minLength: 1, maxLength: 2 });
const lists = fc.array(name, { maxLength: 2 });
const formulas = fc.array(sql, { minLength: 1, maxLength: 3 });
const pairsOfLinks = fc.array(fc.record({ from: sql, to: sql, formula: formulas }, { requiredKeys: ['from', 'to'] }), {
  minLength: 1,
  maxLength: 2,
});

const fields = fc.record(
  {
    name,
    column: sql,
    type: fc.constantFrom(...Object.keys(types).filter(language.isPortableType)),
    native: sql,
    comparison: sql,
    wire,
    nullable: fc.boolean(),
    writable: fc.boolean(),
    filled: fc.constantFrom('default', 'identity'),
    maxLength: fc.nat(),
  },
  { requiredKeys: ['name', 'column', 'type', 'native', 'wire', 'nullable', 'writable'] },
);

const base = { name, target: name };
const relations = fc.oneof(
  fc.record(
    { kind: fc.constant('m2o'), ...base, on: pairs, field: name, nullable: fc.boolean() },
    { requiredKeys: ['kind', 'name', 'target', 'on', 'nullable'] },
  ),
  fc.record(
    {
      ...{ kind: fc.constant('o2m'), ...base, on: pairs, inverse: name, single: fc.constant(true) },
      ...{ ordered: lists, onDeselect: fc.constantFrom('nullify', 'delete') },
    },
    { requiredKeys: ['kind', 'name', 'target', 'on', 'inverse', 'onDeselect'] },
  ),
  fc.record({ kind: fc.constant('m2m'), ...base, junction: name, junctionTable: sql, near: pairs, far: pairs }),
  fc.record({ kind: fc.constant('m2a'), ...base, on: pairs, collectionField: name, itemField: name, allowed: lists }),
);

const constraints = fc.record(
  { name, type: fc.constantFrom('unique', 'foreign_key', 'check'), fields: lists },
  { requiredKeys: ['name', 'type', 'fields'] },
);

const collections = fc.record(
  {
    ...{ name, table: sql, key: lists, singleton: fc.boolean(), writable: fc.boolean(), opaque: fc.constant(true) },
    ...{ fields: fc.array(fields, { maxLength: 3 }), relations: fc.array(relations, { maxLength: 2 }) },
    constraints: fc.array(constraints, { maxLength: 2 }),
    links: fc.array(fc.record({ kind: fc.constant('m2o'), ...base, on: pairsOfLinks, nullable: fc.boolean() }), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  { requiredKeys: ['name', 'table', 'key', 'singleton', 'writable', 'fields', 'relations'] },
);

/** What the printed call gives. */
function stated(descriptor: CollectionDescriptor, dialect: language.Dialect): unknown {
  const calls = createCalls();
  const text = `export const it = ${printValue(stateCollection(descriptor, dialect, calls), 0, 0, 0)};\n`;
  const scope = new Map<string, unknown>(Object.entries(language).filter(([name]) => calls.used.has(name)));
  return constantOf(parseOutput('it.js', text), 'it', scope);
}

test('any collection is stated exactly', () => {
  fc.assert(
    fc.property(collections, fc.constantFrom(...dialects), (made, dialect) => {
      const descriptor: CollectionDescriptor = JSON.parse(JSON.stringify(made));
      // A collection that can be written always lists its constraints.
      const whole = descriptor.writable ? { constraints: [], ...descriptor } : descriptor;
      expect(stated(whole, dialect)).toStrictEqual(whole);
    }),
  );
});

test.each(dialects)('a usual field is stated by its name and type: %s', (dialect) => {
  const facts = { dialect, writable: true };
  for (const type of Object.keys(types).filter(language.isPortableType)) {
    const field: FieldDescriptor = language.usualField({ name: 'one', type }, facts);
    const calls = createCalls();
    const descriptor = {
      ...{ name: 'a', table: '"a"', key: [], singleton: false, writable: true },
      ...{ fields: [field], relations: [], constraints: [] },
    };
    expect(printValue(stateCollection(descriptor, dialect, calls), 0, 0, 0)).toContain(`[field('one', '${type}')]`);
  }
});
