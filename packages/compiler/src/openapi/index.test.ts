import { readFileSync } from 'node:fs';
import { type AccessClass, always, type JsonValue } from '@tablewright/runtime/language';
import { describe, expect, it } from 'vitest';
import { productVersion } from '../print/libraries.ts';
import { emitOpenApi } from './index.ts';
import { accessTo, hostile, hostileNames, magazine, propertiesOf, sampleApi } from './testing/sample-api.ts';

const api = sampleApi([...magazine, ...hostile]);

/** What stands behind names in a document; undefined when one is missing. */
function at(document: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}

/** Every string of a document, keys included. */
function stringsOf(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, JsonValue]) => [key, ...stringsOf(inner)]);
}

function pathsOf(document: JsonValue): readonly string[] {
  return Object.keys(at(document, 'paths') ?? {});
}

const serverPaths = [
  ...['/server/ping', '/server/health', '/server/ready', '/server/info', '/server/specs/oas'],
  ...['/graphql', '/graphql/system'],
  ...['/server/specs/graphql', '/server/specs/graphql/items', '/server/specs/graphql/system'],
  ...['/utils/random/string', '/utils/hash/generate', '/utils/hash/verify'],
];

const modelPaths = [
  ...['/collections', '/collections/{name}'],
  ...['/fields', '/relations'].flatMap((path) => [path, `${path}/{collection}`, `${path}/{collection}/{field}`]),
];

const dimension = { $ref: '#/components/schemas/Dimension' };

describe('the document of everything', () => {
  const document = emitOpenApi(api, null);

  it('lists every collection, by key where there is one', () => {
    const paths = pathsOf(emitOpenApi(sampleApi(magazine), null));
    expect(paths).toEqual([
      ...['articles', 'articles_tags', 'authors', 'sections'].flatMap(both),
      '/items/settings',
      ...['shop_ledger', 'shop_offers'].flatMap(both),
      '/items/statistics',
      ...both('tags'),
      ...serverPaths,
      '/utils/cache/clear',
      '/utils/explain',
      ...modelPaths,
    ]);
  });

  it('encodes names in paths', () => {
    expect(pathsOf(document)).toContain('/items/%7Bkey%7D/{key}');
    expect(pathsOf(document)).toContain('/items/a%2Fb%3Fc%23d%25');
    expect(pathsOf(document)).toContain('/items/__proto__');
  });

  it('documents search, alias and deep for lists, the last two for items', () => {
    const refs = (path: string) =>
      [['parameters'], ['get', 'parameters']].flatMap((place) =>
        Object.values(at(document, 'paths', path, ...place) ?? {}).map((one) => at(one, '$ref')),
      );
    const [search, alias, deep] = ['search', 'alias', 'deep'].map((name) => `#/components/parameters/${name}`);
    expect(refs('/items/articles')).toEqual(expect.arrayContaining([search, alias, deep]));
    expect(refs('/items/articles/{key}')).toEqual(expect.arrayContaining([alias, deep]));
    expect(refs('/items/articles/{key}')).not.toContain(search);
    expect(at(document, 'components', 'parameters', 'deep', 'style')).toBe('deepObject');
  });

  it('documents SEARCH beside GET', () => {
    const search = at(document, 'paths', '/items/articles', 'x-platform-search');
    expect(at(search, 'operationId')).toBe('searchItemsArticles');
    expect(at(search, 'requestBody', 'content', 'application/json', 'schema')).toEqual({
      $ref: '#/components/schemas/SearchArticles',
    });
    // The rest is the same as of GET, which the description of the document says; a singleton has a tag for its answers.
    expect(Object.keys(search ?? {})).toEqual(['operationId', 'requestBody', 'responses']);
    expect(at(search, 'responses')).toEqual({ default: { $ref: '#/components/responses/SearchFailure' } });
    expect(at(document, 'info', 'description')).toContain('has its members where it names none');
    const single = at(document, 'paths', '/items/settings', 'x-platform-search');
    expect(Object.keys(at(single, 'responses') ?? {})).toEqual(['200', 'default']);
  });

  it('has parameters of all answers once for each path where there is no DELETE, which would seem to take them', () => {
    const refs = (access: AccessClass | null, path: string, ...place: readonly string[]) =>
      Object.values(at(emitOpenApi(api, access), 'paths', path, ...place, 'parameters') ?? {}).map((one) =>
        String(at(one, '$ref')).replace('#/components/parameters/', ''),
      );
    expect(refs(null, '/items/tags')).toEqual([]);
    expect(refs(null, '/items/tags', 'patch')).toContain('fields');
    expect(refs(null, '/items/tags/{key}')).toEqual(['KeyIdInteger']);
    expect(refs(null, '/items/tags/{key}', 'get')).toContain('fields');
    expect(refs(null, '/items/tags/{key}', 'delete')).toEqual(['IfMatch']);
    expect(refs(null, '/items/settings')).toEqual(['fields', 'FilterSettings', 'alias', 'deep']);
    expect(refs(accessTo({ tags: [['id', 'name']] }), '/items/tags')).toEqual([]);
  });

  it('describes parts of times, and conditions on related items, once where several collections have them', () => {
    const fields = [
      { name: 'id', type: 'integer' },
      { name: 'made_at', type: 'timestamp' },
    ] as const;
    const times = (name: string) => ({ name, key: ['id'], fields });
    const relation = { kind: 'o2m', name: 'parts', target: 'a', inverse: 'id', on: [], onDeselect: 'nullify' } as const;
    const related = (name: string) => ({ ...times(name), relations: [relation] });
    const several = emitOpenApi(sampleApi([times('a'), related('b'), related('c')]), null);
    const names = ['PartsMadeAtTimestamp', 'PartConditionsMadeAtTimestamp'];
    const [values, conditions] = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    expect(at(several, 'components', 'schemas', 'ValuesA', 'allOf')).toEqual([values]);
    expect(at(several, 'components', 'schemas', 'ConditionsA', 'allOf')).toEqual([conditions]);
    expect(at(several, 'components', 'schemas', 'FilterB')).toMatchObject({
      allOf: [conditions],
      unevaluatedProperties: false,
    });
    expect(propertiesOf(several, names[0] ?? '')).toHaveProperty('made_at_year');
    expect(propertiesOf(several, names[1] ?? '')).toHaveProperty(['year(made_at)']);
    expect(at(propertiesOf(several, 'FilterB'), 'parts')).toEqual({ $ref: '#/components/schemas/RelatedA' });
    expect(propertiesOf(several, 'RelatedA')).toHaveProperty('_some');
    // One collection alone has them in their place, and so has one with a field of the name.
    const alone = emitOpenApi(sampleApi([related('a')]), null);
    expect(propertiesOf(alone, 'ValuesA')).toHaveProperty('made_at_year');
    expect(at(propertiesOf(alone, 'ConditionsA'), 'parts', 'properties')).toHaveProperty('_some');
    const taken = { name: 'made_at_year', type: 'text' } as const;
    const clashing = emitOpenApi(
      sampleApi([times('a'), times('b'), { ...times('c'), fields: [...fields, taken] }]),
      null,
    );
    expect(at(clashing, 'components', 'schemas', 'ValuesA', 'properties')).not.toHaveProperty('made_at_year');
    expect(at(propertiesOf(clashing, 'AggregateC'), 'made_at_year', 'anyOf')).toHaveLength(2);
  });

  it('tells the codes of every status of a failure', () => {
    const failure = at(document, 'components', 'responses', 'SearchFailure');
    const codes = at(failure, 'x-platform-codes');
    expect(Object.keys(codes ?? {})).toEqual(['400', '401', '403', '404', '415', '429', '500', '503']);
    expect(at(codes, '400')).toEqual(['INVALID_PAYLOAD', 'INVALID_QUERY']);
    expect(at(failure, 'description')).toContain('- 415: The body is not sent as application/json.');
    expect(at(document, 'paths', '/server/ping', 'get', 'responses', '500')).toEqual({
      $ref: '#/components/responses/InternalServerError',
    });
    // Failures that no operation names by itself have no component.
    expect(at(document, 'components', 'responses', 'MailedTokenExpired')).toBeUndefined();
  });

  it('has unique operation ids', () => {
    const operations = Object.values(at(document, 'paths') ?? {}).flatMap((item: JsonValue) =>
      Object.values(item ?? {}),
    );
    const ids = operations.map((one) => at(one, 'operationId')).filter((id) => typeof id === 'string');
    expect(ids.length).toBeGreaterThan(hostileNames.length * 3);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('keeps fields of every name', () => {
    const names = Object.keys(propertiesOf(document, 'ItemsThen') ?? {});
    expect(new Set(names)).toEqual(new Set(['id', ...hostileNames, 'of then', 'of then_count']));
  });

  it('describes values as they are sent', () => {
    expect(propertiesOf(document, 'ItemsArticles')).toMatchObject({
      id: { type: 'string', pattern: '^-?[0-9]{1,19}$' },
      title: { type: 'string', maxLength: 200, description: 'As printed; shop_ledger keeps the price.' },
      status: { type: 'string', enum: ['draft', 'published'] },
      rating: { type: ['string', 'null'] },
      metadata: {},
      keywords: { type: 'array', items: { anyOf: [{ type: ['string', 'null'] }, dimension] } },
      preview_token: { type: ['string', 'null'], enum: ['**********', null] },
    });
  });

  it('describes relations as keys or items', () => {
    expect(propertiesOf(document, 'ItemsArticles')).toMatchObject({
      author_id: { anyOf: [{ type: ['integer', 'null'] }, { $ref: '#/components/schemas/ItemsAuthors' }] },
      tags: {
        type: 'array',
        items: {
          anyOf: [
            { type: 'integer' },
            { $ref: '#/components/schemas/ItemsTags' },
            { $ref: '#/components/schemas/AggregateTags' },
          ],
        },
      },
    });
    expect(at(propertiesOf(document, 'ItemsTags'), 'articles_tags', 'items', 'anyOf')).toEqual([
      { type: 'string' },
      { $ref: '#/components/schemas/ItemsArticlesTags' },
      { $ref: '#/components/schemas/AggregateArticlesTags' },
    ]);
    expect(propertiesOf(document, 'ItemsShopLedger')).toMatchObject({
      articles_tags: { anyOf: [{ $ref: '#/components/schemas/ItemsArticlesTags' }, { type: 'null' }] },
    });
    expect(at(propertiesOf(document, 'ItemsSections'), 'item', 'anyOf')).toHaveLength(3);
  });

  it('describes what items and aggregate rows have in common once', () => {
    const names = ['ItemsArticles', 'AggregateArticles'].map((name) => at(document, 'components', 'schemas', name));
    const values = { $ref: '#/components/schemas/ValuesArticles' };
    expect(names.map((schema) => at(schema, 'allOf'))).toEqual([[values], [values]]);
    // Keys of related items, and JSON, are described where they differ.
    expect(Object.keys(propertiesOf(document, 'ValuesArticles') ?? {})).not.toEqual(
      expect.arrayContaining(['author_id']),
    );
    expect(at(propertiesOf(document, 'AggregateArticles'), 'author_id')).toEqual({ type: 'integer', format: 'int32' });
    // A field of the name of a function is described in both, because rows have either.
    const counting = sampleApi([
      {
        name: 'a',
        key: ['id'],
        fields: [
          { name: 'id', type: 'integer' },
          { name: 'sum', type: 'text' },
        ],
      },
    ]);
    const counted = emitOpenApi(counting, null);
    expect(Object.keys(propertiesOf(counted, 'ValuesA') ?? {})).toEqual(['id']);
    expect(at(propertiesOf(counted, 'AggregateA'), 'sum', 'anyOf')).toEqual([
      { type: 'string' },
      { $ref: '#/components/schemas/SumsA' },
    ]);
    expect(at(propertiesOf(counted, 'ItemsA'), 'sum')).toEqual({ type: 'string' });
  });

  it('describes composite keys as the path writes them', () => {
    const name = 'KeyArticleIdBigInteger_TagIdInteger';
    const [used] = Object.values(at(document, 'paths', '/items/articles_tags/{key}', 'parameters') ?? {});
    expect(used).toEqual({ $ref: `#/components/parameters/${name}` });
    const key = at(document, 'components', 'parameters', name);
    expect(key).toMatchObject({ name: 'key', in: 'path', style: 'simple', explode: false });
    expect(at(key, 'schema')).toMatchObject({ type: 'array', minItems: 2, maxItems: 2 });
    expect(at(key, 'schema', 'items', 'anyOf')).toMatchObject([{ type: 'string' }, { type: 'integer' }]);
    expect(at(propertiesOf(document, 'SearchArticlesTags'), 'keys', 'items')).toEqual({
      $ref: `#/components/schemas/${name}`,
    });
    expect(at(document, 'components', 'schemas', name, 'anyOf')).toMatchObject([
      { type: 'string' },
      { required: ['article_id', 'tag_id'] },
    ]);
  });

  it('filters by type, and no secret', () => {
    const filter = propertiesOf(document, 'ConditionsArticles');
    expect(at(filter, 'rating')).toEqual({ $ref: '#/components/schemas/NumberCondition' });
    expect(at(filter, 'author_id', 'anyOf')).toHaveLength(2);
    expect(at(filter, 'preview_token')).toBeUndefined();
    const own = ['item:shop_offers', 'item:tags'];
    expect(Object.keys(at(filter, 'sections', 'properties') ?? {})).toEqual([...own, '_some', '_none']);
    expect(Object.keys(at(filter, 'sections', 'properties', '_none', 'properties') ?? {})).toEqual(own);
    expect(at(filter, 'year(published_at)')).toEqual({ $ref: '#/components/schemas/NumberCondition' });
    expect(at(filter, 'count(tags)')).toEqual({ $ref: '#/components/schemas/NumberCondition' });
    expect(at(propertiesOf(document, 'ConditionsTags'), 'articles_tags', 'properties')).toHaveProperty('_none');
    expect(at(document, 'components', 'schemas', 'FilterArticles')).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/ConditionsArticles' }],
      unevaluatedProperties: false,
    });
  });

  it('answers lists with items or with aggregate rows', () => {
    const list = at(document, 'paths', '/items/articles', 'get', 'responses', '200');
    const forms = at(list, 'content', 'application/json', 'schema', 'anyOf');
    const rows = { $ref: '#/components/schemas/RowsArticles' };
    // With `export=json` nothing stands around them.
    expect(forms).toMatchObject([{ properties: { data: rows }, required: ['data'] }, rows]);
    expect(at(document, 'components', 'schemas', 'RowsArticles', 'anyOf')).toEqual([
      { type: 'array', items: { $ref: '#/components/schemas/ItemsArticles' } },
      { type: 'array', items: { $ref: '#/components/schemas/AggregateArticles' } },
    ]);
    const integer = { type: ['integer', 'null'] };
    const count = { type: 'integer', minimum: 0 };
    const row = propertiesOf(document, 'AggregateArticles');
    expect(row).toMatchObject({
      status: { type: 'string', enum: ['draft', 'published'] },
      published_at_year: integer,
      keywords_count: integer,
      tags_count: count,
      countAll: count,
      count: { anyOf: [count, { propertyNames: { $ref: '#/components/schemas/CountedArticles' } }] },
      avg: { $ref: '#/components/schemas/SumsArticles' },
      max: { $ref: '#/components/schemas/ExtremesArticles' },
      sumDistinct: { $ref: '#/components/schemas/SumsArticles' },
    });
    expect(propertiesOf(document, 'SumsArticles')).toMatchObject({
      rating: { $ref: '#/components/schemas/DecimalOrNull' },
      author_id: { type: ['number', 'null'] },
    });
    expect(propertiesOf(document, 'ExtremesArticles')).toMatchObject({
      id: { type: ['string', 'null'] },
      title: { type: ['string', 'null'] },
    });
    expect(Object.keys(propertiesOf(document, 'SumsArticles') ?? {})).toEqual([
      'id',
      'rating',
      'weight',
      'author_id',
      'margin_cents',
    ]);
    expect(Object.keys(row ?? {})).not.toContain('preview_token');
    expect(Object.keys(row ?? {})).not.toContain('metadata');
  });

  it('takes the names that can be aggregated', () => {
    const parameters = at(document, 'paths', '/items/articles', 'get', 'parameters');
    const named = Object.values(parameters ?? {}).map((one) => at(one, 'name'));
    expect(named).toEqual(expect.arrayContaining(['aggregate', 'groupBy']));
    expect(parameters).toContainEqual({ $ref: '#/components/parameters/having' });
    const groups = at(document, 'components', 'schemas', 'GroupsArticles', 'enum');
    expect(groups).toEqual(expect.arrayContaining(['status', 'year(published_at)', 'count(metadata)', 'count(tags)']));
    expect(groups).not.toContain('metadata');
    expect(JSON.stringify(groups)).not.toContain('preview_token');
    const summed = { type: ['array', 'string'], items: { type: 'string', enum: ['id'] } };
    expect(at(document, 'components', 'schemas', 'SummedAuthors')).toEqual(summed);
    const search = at(document, 'components', 'schemas', 'SearchArticles', 'properties', 'query', 'properties');
    expect(search).toMatchObject({
      aggregate: { $ref: '#/components/schemas/FunctionsArticles' },
      groupBy: { type: ['array', 'string'], items: { $ref: '#/components/schemas/GroupsArticles' } },
    });
    expect(at(propertiesOf(document, 'Query'), 'having')).toEqual({ $ref: '#/components/schemas/Having' });
    expect(Object.keys(propertiesOf(document, 'Having') ?? {})).toContain('avgDistinct');
    expect(at(propertiesOf(document, 'Having'), 'max', 'additionalProperties', 'anyOf')).toContainEqual({
      $ref: '#/components/schemas/TimeCondition',
    });
    expect(propertiesOf(document, 'Deep')).toHaveProperty('_aggregate');
    // A singleton is no list.
    expect(at(document, 'components', 'schemas', 'FunctionsSettings')).toBeUndefined();
    expect(
      at(document, 'components', 'schemas', 'SearchSettings', 'properties', 'query', 'properties'),
    ).not.toHaveProperty('aggregate');
  });

  it('reads a singleton as one item whose values can be missing', () => {
    const operation = at(document, 'paths', '/items/settings', 'get');
    const [item] = Object.values(
      at(operation, 'responses', '200', 'content', 'application/json', 'schema', 'anyOf') ?? {},
    );
    expect(at(item, 'properties', 'data')).toEqual({ $ref: '#/components/schemas/ItemsSettings' });
    expect(at(propertiesOf(document, 'ItemsSettings'), 'theme')).toEqual({ type: ['string', 'null'] });
    // Nothing lists it, so nothing aggregates it.
    expect(at(document, 'components', 'schemas', 'AggregateSettings')).toBeUndefined();
  });

  it('tells the codes of errors, and when to come back', () => {
    const responses = at(document, 'components', 'responses');
    expect(at(responses, 'ServerFailure', 'headers')).toHaveProperty('Retry-After');
    expect(at(responses, 'InternalServerError', 'x-platform-codes')).toEqual({ 500: ['INTERNAL_SERVER_ERROR'] });
    const schema = { $ref: '#/components/schemas/Failure' };
    expect(at(responses, 'InternalServerError', 'content', 'application/json', 'schema')).toEqual(schema);
    expect(JSON.stringify(at(responses, 'RequestFailure'))).toContain('"403":["FORBIDDEN","INVALID_TOKEN"]');
  });
});

describe('the document of an access class', () => {
  const access = accessTo({
    articles: [['id', 'title', 'status', 'author_id', 'tags', 'sections', 'shop_ledger']],
    authors: [['id', 'name'], ['id']],
    sections: [['id', 'collection', 'item']],
    tags: [['name']],
    shop_offers: [],
  });
  const document = emitOpenApi(api, access);
  const hidden = ['shop_ledger', 'shop_offers', 'turnover', 'offer_text', 'margin_cents', 'mrg_c', 'home_address'];
  const more = ['preview_token', 'rating', 'published_at', 'articles_tags', 'ShopLedger', 'ArticlesTags', 'Money.'];

  it('names nothing hidden in any string', () => {
    const strings = stringsOf(document);
    for (const name of [...hidden, ...more, ...hostileNames.slice(0, 3)]) {
      expect(strings.filter((text) => text.toLowerCase().includes(name.toLowerCase()))).toEqual([]);
    }
  });

  it('does not depend on what is hidden', () => {
    const samples = magazine
      .filter(({ name }) => ['articles', 'authors', 'sections', 'tags'].includes(name))
      .map((sample) => ({
        ...sample,
        relations: (sample.relations ?? []).filter(
          ({ target }) => !target.startsWith('shop_') && target !== 'articles_tags',
        ),
      }));
    const without = emitOpenApi(sampleApi(samples), access);
    expect(pathsOf(document)).toEqual(pathsOf(without));
    expect(at(document, 'tags', '0', 'name')).toEqual(at(without, 'tags', '0', 'name'));
    expect(Object.keys(at(document, 'components', 'schemas') ?? {})).toEqual(
      Object.keys(at(without, 'components', 'schemas') ?? {}),
    );
  });

  it('leaves out notes that name something hidden, and keeps the others', () => {
    const articles = propertiesOf(document, 'ItemsArticles');
    expect(at(articles, 'title')).toBeDefined();
    expect(at(articles, 'title', 'description')).toBeUndefined();
    expect(at(articles, 'status', 'description')).toBe('Where it stands.');
    expect(at(document, 'components', 'schemas', 'ItemsAuthors', 'description')).toBeUndefined();
  });

  it('aggregates what can be read', () => {
    const counted = at(document, 'components', 'schemas', 'CountedArticles', 'enum');
    expect(counted).toEqual(['id', 'title', 'status', 'author_id']);
    expect(at(document, 'components', 'schemas', 'GroupsArticles', 'enum')).toEqual([
      ...['id', 'title', 'status', 'author_id'],
      ...['count(tags)', 'count(sections)'],
    ]);
    // Secrets only, and nothing at all to group by.
    const secret = emitOpenApi(api, accessTo({ articles: [['preview_token']] }));
    expect(Object.keys(propertiesOf(secret, 'AggregateArticles') ?? {})).toEqual(['count', 'countAll']);
    expect(at(secret, 'components', 'schemas', 'GroupsArticles')).toBeUndefined();
    expect(Object.keys(propertiesOf(secret, 'FunctionsArticles') ?? {})).toEqual(['count', 'countAll']);
    expect(JSON.stringify(at(secret, 'paths'))).not.toContain('groupBy"');
  });

  it('has no failures of writes where nothing is written', () => {
    expect(at(document, 'components', 'responses', 'WriteFailure')).toBeUndefined();
    expect(at(emitOpenApi(api, null), 'components', 'responses')).toHaveProperty('WriteFailure');
  });

  it('names no item by a key that cannot be read', () => {
    expect(pathsOf(document)).not.toContain('/items/tags/{key}');
    expect(pathsOf(document)).toContain('/items/authors/{key}');
    const half = emitOpenApi(api, accessTo({ articles_tags: [['article_id']] }));
    expect(pathsOf(half)).toEqual(['/items/articles_tags', ...serverPaths, ...modelPaths]);
    expect(at(document, 'components', 'schemas', 'SearchTags', 'properties', 'keys')).toBeUndefined();
  });

  it('admits null where a rule hides a cell or a row', () => {
    expect(at(propertiesOf(document, 'ItemsAuthors'), 'name', 'type')).toEqual(['string', 'null']);
    expect(at(propertiesOf(document, 'ItemsAuthors'), 'id', 'type')).toBe('integer');
    const partial = emitOpenApi(api, accessTo({ articles: [['author_id']], authors: [['id']] }));
    expect(at(propertiesOf(partial, 'ItemsArticles'), 'author_id', 'anyOf', '0', 'type')).toEqual(['integer', 'null']);
  });

  it('keeps the key where the related collection is hidden', () => {
    const alone = emitOpenApi(api, accessTo({ articles: [['id', 'author_id']] }));
    expect(at(propertiesOf(alone, 'ItemsArticles'), 'author_id')).toEqual({ type: 'integer', format: 'int32' });
    expect(stringsOf(alone).filter((text) => /authors/i.test(text))).toEqual([]);
  });

  it('needs a token unless requests without one are of the class', () => {
    expect(at(document, 'security', '0')).toEqual({});
    expect(at(emitOpenApi(api, accessTo({}, 'editor')), 'security')).toHaveProperty('length', 2);
  });

  it('serves a class that may read nothing', () => {
    expect(pathsOf(emitOpenApi(api, accessTo({})))).toEqual([...serverPaths, ...modelPaths]);
  });
});

it('shows an administrator the same as everyone together', () => {
  const collections = api.collections.map(({ descriptor }) => {
    const rule = { fields: [...descriptor.fields, ...descriptor.relations].map(({ name }) => name), where: always };
    const write = { ...rule, check: null, presets: [] };
    return { collection: descriptor.name, read: [rule], create: [write], update: [write], delete: [rule] };
  });
  const admin: AccessClass = { name: 'admin', roles: ['admin'], admin: true, collections };
  expect(JSON.stringify(emitOpenApi(api, admin))).toBe(JSON.stringify(emitOpenApi(api, null)));
});

it('prints the same bytes again', () => {
  const again = sampleApi([...hostile, ...magazine].reverse());
  expect(JSON.stringify(emitOpenApi(again, null))).toBe(JSON.stringify(emitOpenApi(api, null)));
});

it('carries the version of the product', () => {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  expect(productVersion).toBe(manifest.version);
});

function both(name: string): readonly string[] {
  return [`/items/${name}`, `/items/${name}/{key}`];
}
