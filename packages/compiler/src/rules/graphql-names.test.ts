import type { Relation, Schema } from '@tablewright/introspect/schema';
import { describe, expect, it } from 'vitest';
import { resolveApi } from '../passes/resolve-api.ts';
import { blogSchema } from '../testing/blog.ts';
import { collectionOf, columnOf, schemaOf, tableOf, typeOf } from '../testing/build-schema.ts';
import { compileFixture } from '../testing/compile-fixture.ts';
import { distinctTexts, hostileSchema } from '../testing/hostile.ts';
import { checkGraphqlNames } from './graphql-names.ts';

const text = typeOf('text', 'text');

function check(schema: Schema): readonly string[] {
  return checkGraphqlNames(resolveApi(schema)).map(({ place, message }) => `${place}: ${message}`);
}

/** Tables of these names, each with a key and these further columns. */
function tables(...named: readonly (readonly [name: string, ...columns: readonly string[]])[]): Schema {
  const all = named.map(([name, ...columns]) =>
    tableOf(name, [columnOf('id', text), ...columns.map((column) => columnOf(column, typeOf('jsonb', 'json')))]),
  );
  return schemaOf(
    all,
    all.map((table) => collectionOf(table)),
  );
}

describe('names in GraphQL', () => {
  it.each([
    [tables(['a b'], ['a_b']), 'schema: In GraphQL collection "a b" and collection "a_b" would all be called "a_b".'],
    [
      tables(['articles'], ['articles_filter']),
      'schema: In GraphQL collection "articles" and collection "articles_filter" would all be called "articles_filter".',
    ],
    [
      tables(['posts'], ['posts_by_id']),
      'schema: In GraphQL collection "posts" and collection "posts_by_id" would all be called "posts_by_id".',
    ],
    [
      tables(['Query']),
      'schema: In GraphQL a type of every schema and collection "Query" would all be called "Query".',
    ],
    [tables(['JSON']), 'schema: In GraphQL a type of every schema and collection "JSON" would all be called "JSON".'],
    [
      tables(['number_filter_operators']),
      'schema: In GraphQL a type of every schema and collection "number_filter_operators" would all be called "number_filter_operators".',
    ],
    [tables(['x', 'a-b', 'a b']), 'collection x: In GraphQL field "a-b" and field "a b" would all be called "a_b".'],
    [
      tables(['x', 'tags', 'tags_func']),
      'collection x: In GraphQL field "tags_func" and the functions of "tags" would all be called "tags_func".',
    ],
    [tables(['x', '_and']), 'collection x: In GraphQL field "_and" and a word of filters would all be called "_and".'],
  ])('are one thing each: %#', (schema, complaint) => {
    expect(check(schema)).toEqual([complaint]);
  });

  it('are those of composite types and their members as well', () => {
    const place = (base: string, ...names: readonly string[]) => ({
      ...typeOf(base, 'composite'),
      attributes: names.map((name) => ({ name, nativeType: 'text', type: text })),
    });
    const schema = (...types: readonly ReturnType<typeof place>[]) => {
      const all = [
        tableOf('shops', [columnOf('id', text), ...types.map((type, index) => columnOf(`c${index}`, type))]),
        tableOf('place_composite', [columnOf('id', text)]),
      ];
      return schemaOf(
        all,
        all.map((table) => collectionOf(table)),
      );
    };
    expect(check(schema(place('public.spot', 'a b'), place('public.spot', 'a b')))).toEqual([]);
    expect(check(schema(place('public.place', 'city')))).toEqual([
      'schema: In GraphQL collection "place_composite" and composite type "public.place" would all be called "place_composite".',
    ]);
    expect(check(schema(place('public.a_b', 'city'), place('a.b', 'city')))).toEqual([
      'schema: In GraphQL composite type "public.a_b" and composite type "a.b" would all be called "a_b_composite".',
    ]);
    expect(check(schema(place('public.spot', 'a b', 'a_b')))).toEqual([
      'schema: In GraphQL member "a b" and member "a_b" would all be called "a_b".',
    ]);
  });

  it('leave room for the changes of a relation', () => {
    const schema = tables(['a', 'bs_changes'], ['b']);
    const many: Relation = {
      kind: 'o2m',
      name: 'bs',
      target: 'b',
      on: [{ from: 'id', to: 'id' }],
      inverse: 'id',
      single: false,
      sort: null,
      onDeselect: 'nullify',
      language: null,
    };
    const collections = schema.collections.map((one) => (one.name === 'a' ? { ...one, relations: [many] } : one));
    expect(check({ ...schema, collections })).toEqual([
      'collection a: In GraphQL field "bs_changes" and the changes of "bs" would all be called "bs_changes".',
    ]);
  });

  it.each([
    ['ordinary names', blogSchema()],
    ['hostile names that differ', hostileSchema(distinctTexts)],
    ['names that differ in case', tables(['User'], ['user'], ['users'])],
  ])('raise no complaint: %s', (_, schema) => {
    expect(check(schema)).toEqual([]);
  });

  it('may be those of connections, where there are none', () => {
    const named = tables(['articles'], ['articles_connection'], ['articles_edge'], ['PageInfo']);
    expect(check(named)).toEqual([]);
    expect(check({ ...named, graphqlConnections: true })).toEqual([
      'schema: In GraphQL collection "articles_connection" and the connection of "articles" would all be called "articles_connection".',
      'schema: In GraphQL collection "articles_edge" and the connection of "articles" would all be called "articles_edge".',
      'schema: In GraphQL collection "PageInfo" and a type of every schema would all be called "PageInfo".',
    ]);
  });

  it('stop the compilation, unless there is no GraphQL', () => {
    const refused = compileFixture(tables(['a b'], ['a_b']));
    expect(refused.files).toEqual([]);
    expect(refused.diagnostics).toMatchObject([{ code: 'graphql-name', severity: 'error' }]);
    const { files, diagnostics } = compileFixture({ ...tables(['a b'], ['a_b']), graphql: false });
    expect(diagnostics).toEqual([]);
    expect(files.filter(({ path }) => path.startsWith('graphql/'))).toEqual([]);
    expect(files.find(({ path }) => path === 'server.js')?.contents).not.toContain('graphql');
  });
});
