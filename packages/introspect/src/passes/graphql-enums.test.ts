import { expect, test } from 'vitest';
import type { GraphqlConfig } from '../config/config.ts';
import type { ColumnType } from '../schema.ts';
import { table } from '../testing/facts.ts';
import { notes, resolveFacts } from '../testing/resolve.ts';

const typesOfColumns: Readonly<Record<string, Partial<ColumnType>>> = {
  state: { portable: 'enum', enum: 'public.state', values: ['on', 'off'] },
  mood: { portable: 'enum', enum: 'shop.mood', values: ['calm'] },
  odd: { portable: 'enum', enum: 'public.odd', values: ['a b'] },
  none: { portable: 'enum', enum: 'public.none', values: [] },
  word: { portable: 'enum', enum: 'public.word', values: ['null'] },
  own: { portable: 'enum', values: ['a', 'b', 'a'] },
  listed: { portable: 'text', values: ['x', 'y'] },
};

/** Enums of a table with the given columns, and why others are strings. */
function enumsOf(enums: GraphqlConfig['enums'], columns: readonly string[], others: readonly string[] = []) {
  const things = table('things', { columns: ['id!=:integer', ...columns], key: ['id'] });
  const typed = things.columns.map((column) => ({
    ...column,
    type: { ...column.type, ...typesOfColumns[column.name] },
  }));
  const named = Object.values(typesOfColumns).flatMap(({ enum: id, values }) => {
    const [schema = '', name = ''] = id?.split('.') ?? [];
    return id ? [{ schema, name, labels: values ?? [], comment: null }] : [];
  });
  const tables = [{ ...things, columns: typed }, ...others.map((name) => table(name, { columns: ['id!=:integer'] }))];
  const { schema, diagnostics } = resolveFacts(
    { tables, enums: named, diagnostics: [] },
    { config: { graphql: enums === undefined ? true : { enums } } },
  );
  return { enums: schema.graphqlEnums?.map(({ name }) => name), strings: notes(diagnostics, 'enum-as-string') };
}

test('enum types are enums where the configuration says so', () => {
  expect(enumsOf(undefined, ['state'])).toEqual({ enums: undefined, strings: [] });
  expect(enumsOf(false, ['state'])).toEqual({ enums: undefined, strings: [] });
  expect(enumsOf('types', ['state', 'mood', 'own', 'listed']).enums).toEqual([
    'shop_mood_enum',
    'state_enum',
    'things_own_enum',
  ]);
  expect(enumsOf('all', ['listed']).enums).toEqual(['things_listed_enum']);
});

test('a type that GraphQL cannot have stays a string, which is told', () => {
  const told = (source: string, why: string) => `In GraphQL the values of "${source}" are strings: ${why}.`;
  expect(enumsOf('types', ['odd', 'none', 'word'])).toEqual({
    enums: undefined,
    strings: [
      told('public.none', 'it has no labels'),
      told('public.odd', '"a b" is no name in GraphQL'),
      told('public.word', '"null" is no name in GraphQL'),
    ],
  });
  const taken = told('public.state', 'another type would be called "state_enum", too');
  expect(enumsOf('types', ['state'], ['state_enum'])).toEqual({ enums: undefined, strings: [taken] });
});
