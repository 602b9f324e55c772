import type { JsonValue } from '@tablewright/runtime/language';
import { describe, expect, it } from 'vitest';
import { emitOpenApi } from './index.ts';
import { accessTo, magazine, manyTables, sampleApi, writingAccess } from './testing/sample-api.ts';

const api = sampleApi(magazine);

/** What stands behind names in a document; undefined when one is missing. */
function at(document: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

function methodsOf(document: JsonValue, path: string): readonly string[] {
  return Object.keys(at(document, 'paths', path) ?? {});
}

describe('operations that write', () => {
  it('stand beside those that read', () => {
    const document = emitOpenApi(api, null);
    const all = ['get', 'x-platform-search', 'post', 'patch', 'delete'];
    expect(methodsOf(document, '/items/tags')).toEqual(all);
    expect(methodsOf(document, '/items/tags/{key}')).toEqual(['parameters', 'get', 'patch', 'delete']);
    expect(methodsOf(document, '/items/settings')).toEqual(['parameters', 'get', 'x-platform-search', 'patch']);
    expect(methodsOf(document, '/items/statistics')).toEqual(['get', 'x-platform-search']);
  });

  it('are those that the class may use', () => {
    expect(methodsOf(emitOpenApi(api, accessTo({ tags: [['id', 'name']] })), '/items/tags')).toEqual([
      'get',
      'x-platform-search',
    ]);
    const writing = emitOpenApi(api, writingAccess({ tags: ['name'] }));
    expect(methodsOf(writing, '/items/tags')).toEqual(['post', 'patch', 'delete']);
    expect(methodsOf(writing, '/items/tags/{key}')).toEqual(['parameters', 'patch', 'delete']);
    expect(Object.keys(at(writing, 'paths', '/items/tags', 'post', 'responses') ?? {})).not.toContain('200');
    expect(at(writing, 'components', 'schemas', 'ItemsTags')).toBeUndefined();
  });

  it('take exactly the fields that can be written, and name no other', () => {
    const document = emitOpenApi(api, writingAccess({ articles: ['title', 'rating', 'preview_token'] }));
    const create = at(document, 'components', 'schemas', 'CreateArticles');
    expect(create).toEqual({
      type: 'object',
      allOf: [{ $ref: '#/components/schemas/PayloadArticles' }],
      unevaluatedProperties: false,
    });
    expect(at(document, 'components', 'schemas', 'PayloadArticles', 'properties')).toEqual({
      title: { type: 'string', maxLength: 200 },
      rating: { type: ['string', 'number', 'null'], pattern: '^(-?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|NaN)$' },
      preview_token: { type: ['string', 'null'], writeOnly: true },
    });
    expect(JSON.stringify(document)).not.toMatch(/author_id|metadata|mrg_c|shop_ledger/);
  });

  it('ask for what is required, unless a rule sets it', () => {
    const [sample] = api.collections;
    if (sample === undefined) throw new Error('There is no collection.');
    const fields = sample.fields.map((field) => ({ ...field, required: field.descriptor.name === 'title' }));
    const required = { ...api, collections: [{ ...sample, fields }] };
    const names = { articles: ['title', 'rating'] };
    const of = (preset: readonly string[], name: string) =>
      at(emitOpenApi(required, writingAccess(names, preset)), 'components', 'schemas', name, 'required');
    expect(of([], 'CreateArticles')).toEqual(['title']);
    expect(of(['title'], 'CreateArticles')).toBeUndefined();
    expect(of([], 'UpdateArticles')).toBeUndefined();
  });
});

describe('upsert', () => {
  const unique = (name: string, fields: readonly string[]) => ({ name, type: 'unique' as const, fields });
  const collections = api.collections.map((one) => {
    const constraints = [unique('a', ['id']), unique('b', ['title', 'rating']), unique('c', ['preview_token'])];
    return one.descriptor.name === 'articles' ? { ...one, descriptor: { ...one.descriptor, constraints } } : one;
  });
  const keyed = { ...api, collections };
  const parameter = (document: JsonValue): string => JSON.stringify(at(document, 'paths', '/items/articles', 'post'));

  it('takes the unique keys that are no secrets, and items without what is required', () => {
    const document = emitOpenApi(keyed, null);
    expect(parameter(document)).toContain('`id`, `title,rating`.');
    const schema = at(document, 'components', 'schemas', 'UpsertArticles');
    expect(at(schema, 'allOf')).toContainEqual({ anyOf: [{ required: ['id'] }, { required: ['title', 'rating'] }] });
    expect(Object.keys(at(schema, 'properties') ?? {})).toEqual(['id']);
    const common = at(document, 'components', 'schemas', 'PayloadArticles', 'properties');
    expect(Object.keys(common ?? {})).toContain('title');
  });

  it('is for those who may read the key, create and update', () => {
    const document = emitOpenApi(keyed, writingAccess({ articles: ['id', 'title', 'rating'] }));
    expect(parameter(document)).not.toContain('on_conflict');
    expect(JSON.stringify([at(document, 'paths'), at(document, 'components')])).not.toContain('Upsert');
  });
});

describe('related items', () => {
  const schema = (document: JsonValue, name: string) => JSON.stringify(at(document, 'components', 'schemas', name));

  it('stand in payloads, by key and as objects of their own', () => {
    const document = emitOpenApi(api, null);
    expect(schema(document, 'PayloadAuthors')).toContain('#/components/schemas/ManyArticles');
    const authors = schema(document, 'ManyArticles');
    expect(authors).toContain('#/components/schemas/CreateArticles');
    expect(authors).toContain('#/components/schemas/ChangeArticles');
    expect(authors).toMatch(/"create".*"update".*"upsert"/);
    expect(schema(document, 'PayloadArticles')).toContain('#/components/schemas/LinkArticles_Sections');
    expect(at(document, 'components', 'schemas', 'ChangeArticles', 'required')).toEqual(['id']);
  });

  it('are described once where several relations take the same', () => {
    const document = emitOpenApi(sampleApi(manyTables(4)), null);
    const many = { $ref: '#/components/schemas/ManyTable_001' };
    const of = (table: string, relation: string) =>
      at(document, 'components', 'schemas', `Payload${table}`, 'properties', relation);
    expect(of('Table_000', 'table_001_by_first_id')).toEqual(many);
    expect(of('Table_000', 'table_001_by_second_id')).toEqual(many);
    expect(schema(document, 'ManyTable_001')).toMatch(/"create".*"update".*"upsert"/);
  });

  it('are those that the class may write, and only where it may write the relation', () => {
    const tags = emitOpenApi(api, writingAccess({ articles: ['title', 'tags', 'shop_ledger'], tags: ['name'] }));
    expect(schema(tags, 'CreateArticles') + schema(tags, 'PayloadArticles')).not.toMatch(/tags|shop_ledger/);
    const joined = writingAccess({ articles: ['tags'], tags: ['name'], articles_tags: ['article_id', 'tag_id'] });
    const document = emitOpenApi(api, joined);
    expect(at(document, 'components', 'schemas', 'PayloadArticles', 'properties', 'tags', 'anyOf', '1')).toEqual({
      type: 'object',
      properties: { create: { type: 'array', items: { $ref: '#/components/schemas/CreateTags' } } },
      additionalProperties: false,
    });
    expect(schema(document, 'UpdateTags') + schema(document, 'PayloadTags')).not.toContain('articles');
  });
});
