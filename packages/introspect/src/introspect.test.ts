import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePermissions } from './config/permissions/parse-permissions.ts';
import { resolveSchema } from './introspect.ts';
import { parseSchema, printSchema } from './schema-file.ts';
import type { TableSketch } from './testing/facts.ts';
import { facts } from './testing/facts.ts';
import { resolve } from './testing/resolve.ts';

const { document: none } = parsePermissions('', 'permissions.yaml');

const hostile = [
  '__proto__',
  'constructor',
  'then',
  'toString',
  'a"b',
  'a.b',
  'ünïcode',
  '1st',
  'select',
  '*/ x /*',
  "o'k",
];

/** Tables of hostile names that reference each other in a ring, twice, and a junction of each with the next. */
function hostileTables(): Readonly<Record<string, TableSketch>> {
  const rows = hostile.map((name, index): [string, TableSketch] => {
    const next = hostile[(index + 1) % hostile.length] ?? name;
    // The sketch writes references as `table.column`, so names with a dot are told apart by their table id.
    const id = /[."]/.test(next) ? null : next;
    return [
      name,
      {
        columns: ['id!=:integer', 'constructor:integer', '__proto__:integer', 'then'],
        key: ['id'],
        foreignKeys: id === null ? [] : [`constructor > ${id}.id`, `__proto__ > ${id}.id`],
      },
    ];
  });
  return Object.fromEntries(rows);
}

test('names of any spelling resolve, and are only ever values', () => {
  const { schema, diagnostics } = resolve(hostileTables());
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(schema.collections.map(({ name }) => name).sort()).toEqual([...hostile].sort());
  // Columns named __proto__ are left out, and so are their relations.
  expect(schema.collections.flatMap(({ relations }) => relations).length).toBe(hostile.length * 2 - 4);
  expect(parseSchema(printSchema(schema))).toEqual({ schema });
});

test('a loaded schema resolves to itself', () => {
  const permissions = 'permissions: { public: { constructor: { read: true } } }';
  const { schema } = resolve(hostileTables(), { permissions });
  const { document } = parsePermissions(permissions, 'permissions.yaml');
  const again = resolveSchema({ ...schema, diagnostics: [] }, {}, document).schema;
  expect(printSchema(again)).toBe(printSchema(schema));
});

/** Databases of up to eight tables with foreign keys, unique pairs and names that are likely to collide. */
const databases: fc.Arbitrary<Readonly<Record<string, TableSketch>>> = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'a_b', 'b_a', 'a_by_b', 'a_id', 'b_id', 'as'), {
    minLength: 1,
    maxLength: 8,
  })
  .chain((names) =>
    fc
      .tuple(...names.map((name) => fc.tuple(fc.constant(name), sketchOf(names))))
      .map((rows) => Object.fromEntries(rows)),
  );

function sketchOf(names: readonly string[]): fc.Arbitrary<TableSketch> {
  const target = fc.constantFrom(...names);
  const links = fc.uniqueArray(fc.tuple(fc.constantFrom('a_id', 'b_id', 'a', 'x'), target), { maxLength: 4 });
  return fc.tuple(links, fc.constantFrom('own', 'pair', 'unique', 'none')).map(([pairs, keyed]) => {
    const columns = [...new Set(pairs.map(([column]) => column))];
    const pair = columns.slice(0, 2);
    const isPair = pair.length === 2;
    return {
      columns: ['id!=', ...columns.map((column) => `${column}!`)],
      ...(keyed !== 'none' && { key: keyed === 'pair' && isPair ? pair : ['id'] }),
      ...(keyed === 'unique' && isPair && { uniques: [pair] }),
      foreignKeys: pairs.map(([column, table]) => `${column} > ${table}.id`),
    };
  });
}

test('the order of the tables does not matter', () => {
  fc.assert(
    fc.property(databases, fc.infiniteStream(fc.nat()), (tables, order) => {
      const read = facts(tables);
      const shuffled = [...read.tables]
        .map((table) => ({ table, at: order.next().value ?? 0 }))
        .sort((left, right) => left.at - right.at)
        .map(({ table }) => table);
      const first = printSchema(resolveSchema(read, {}, none).schema);
      expect(printSchema(resolveSchema({ ...read, tables: shuffled }, {}, none).schema)).toBe(first);
    }),
  );
});

test('what is resolved without an error has one meaning per name, and every reference leads somewhere', () => {
  fc.assert(
    fc.property(databases, (tables) => {
      const { schema, diagnostics } = resolve(tables);
      const collections = new Map(schema.collections.map((item) => [item.name, item]));
      fc.pre(!diagnostics.some(({ severity }) => severity === 'error'));
      for (const { fields, relations } of schema.collections) {
        const own = relations.filter((relation) => relation.kind === 'm2o' && relation.field !== null);
        const names = [...fields, ...relations.filter((relation) => !own.includes(relation))].map(({ name }) => name);
        expect(new Set(names).size).toBe(names.length);
        for (const relation of relations) {
          const target = collections.get(relation.target);
          expect(target).toBeDefined();
          if (relation.kind !== 'm2o') expect(target?.key).not.toEqual([]);
          if (relation.kind === 'o2m') expect(target?.relations.map(({ name }) => name)).toContain(relation.inverse);
        }
      }
    }),
  );
});

test('a new table renames no relation and no collection', () => {
  fc.assert(
    fc.property(databases, (tables) => {
      const kept = Object.entries(tables).slice(0, -1);
      const names = new Set(kept.map(([name]) => name));
      // The tables that stay may only reference each other: a foreign key is a change of its own table.
      const before = Object.fromEntries(
        kept.map(([name, sketch]) => [name, { ...sketch, foreignKeys: within(sketch.foreignKeys ?? [], names) }]),
      );
      const after = { ...tables, ...before };
      const previous = resolve(before).schema;
      const { schema, diagnostics } = resolve(after, { previous });
      fc.pre(!diagnostics.some(({ severity }) => severity === 'error'));
      for (const collection of previous.collections) {
        const now = schema.collections.find(({ name }) => name === collection.name);
        for (const relation of collection.relations) expect(now?.relations).toContainEqual(relation);
      }
    }),
    { numRuns: 500 },
  );
});

function within(foreignKeys: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return foreignKeys.filter((text) => names.has(text.split('> ')[1]?.split('.')[0] ?? ''));
}
