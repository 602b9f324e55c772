import { type AccessClass, graphqlTypeNames, indexGraphql, type JsonValue } from '@tablewright/runtime/language';
import { graphqlServiceRoots } from '@tablewright/runtime/operations';
import { GraphQLInputObjectType, GraphQLObjectType, GraphQLUnionType } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Api } from '../api.ts';
import { emitOpenApi } from '../openapi/index.ts';
import { accessTo, magazine, propertiesOf, sampleApi, writingAccess } from '../openapi/testing/sample-api.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import { blogSchema } from '../testing/blog.ts';
import { distinctTexts, hostileSchema } from '../testing/hostile.ts';
import { emitGraphql } from './index.ts';
import { faultsOf, schemasOf } from './testing/schemas.ts';

const blog = resolveApi(blogSchema());
const hostile = resolveApi(hostileSchema(distinctTexts));
const sample = sampleApi(magazine);

function textOf(api: Api, access: AccessClass): string {
  return emitGraphql(api, access, roleViewOf(api, access));
}

function adminOf(api: Api): AccessClass {
  const collections = api.collections.map(({ descriptor }) => {
    const rule = { fields: [...descriptor.fields, ...descriptor.relations].map(({ name }) => name), where: always };
    const write = { ...rule, check: null, presets: [] };
    return { collection: descriptor.name, read: [rule], create: [write], update: [write], delete: [rule] };
  });
  return { name: 'admin', roles: ['admin'], admin: true, collections };
}

const always = { kind: 'and', of: [] } as const;

/** The fields of a type as they are written: `{ title: 'String!' }`; null where there is no such type. */
function fieldsOf(text: string, type: string): Readonly<Record<string, string>> | null {
  const { items, system } = schemasOf(text);
  const found = items.getType(type) ?? system.getType(type);
  if (!(found instanceof GraphQLObjectType || found instanceof GraphQLInputObjectType)) return null;
  return Object.fromEntries(Object.values(found.getFields()).map(({ name, type: own }) => [name, String(own)]));
}

const everyone = [
  ['blog', blog],
  ['hostile', hostile],
  ['sample', { ...sample, access: [{ access: adminOf(sample), constant: 'adminAccess' }] }],
] as const;

describe.each(everyone)('the schemas of %s', (_, api) => {
  it.each(api.access.map(({ access }) => [access.name, access] as const))('are valid for %s', (_name, access) => {
    expect(faultsOf(textOf(api, access))).toEqual([]);
  });

  it('have no name that stands for nothing', () => {
    const index = indexGraphql(
      api.collections.map(({ descriptor }) => descriptor),
      graphqlServiceRoots,
    );
    const text = textOf(api, adminOf(api));
    for (const { descriptor } of api.collections) {
      const names = index.byName(descriptor.name);
      const types = graphqlTypeNames(descriptor.name);
      expect(index.byType(types.item)).toBe(names);
      expect(Object.keys(fieldsOf(text, types.item) ?? {}).sort()).toEqual([...(names?.output.keys() ?? [])].sort());
      const requested = Object.keys(fieldsOf(text, types.filter) ?? {});
      expect(requested.filter((name) => !names?.filter.has(name))).toEqual(requested.length > 0 ? ['_and', '_or'] : []);
      const given = [types.create, types.update].flatMap((type) => Object.keys(fieldsOf(text, type) ?? {}));
      expect(given.filter((name) => !names?.input.has(name))).toEqual([]);
    }
    for (const [scope, schema] of Object.entries(schemasOf(text))) {
      const roots = index.roots[scope === 'items' ? 'items' : 'system'];
      expect(Object.keys(schema.getQueryType()?.getFields() ?? {}).filter((name) => !roots.query.has(name))).toEqual(
        [],
      );
      const mutations = Object.keys(schema.getMutationType()?.getFields() ?? {});
      expect(mutations.filter((name) => !roots.mutation.has(name))).toEqual([]);
    }
  });
});

const reader = accessTo({
  articles: [['id', 'title', 'status', 'author_id', 'tags', 'sections', 'shop_ledger']],
  authors: [['id', 'name'], ['id']],
  sections: [['id', 'collection', 'item']],
  tags: [['id', 'name']],
  shop_offers: [],
});

describe('the schema of an access class', () => {
  const text = textOf(sample, reader);

  it('has exactly what the class reads', () => {
    expect(fieldsOf(text, 'articles')).toEqual({
      id: 'GraphQLBigInt!',
      title: 'String!',
      status: 'String!',
      author_id: 'authors!',
      tags: '[tags!]!',
      tags_func: 'count_functions',
      sections: '[sections!]!',
      sections_func: 'count_functions',
    });
    expect(fieldsOf(text, 'authors')).toEqual({ id: 'Int!', name: 'String' });
    expect(faultsOf(text)).toEqual([]);
  });

  it('names nothing hidden', () => {
    const hidden = ['shop_ledger', 'shop_offers', 'turnover', 'offer_text', 'margin_cents', 'mrg_c', 'home_address'];
    const more = ['preview_token', 'rating', 'published_at', 'articles_tags', 'Money.'];
    for (const name of [...hidden, ...more]) expect(text.toLowerCase()).not.toContain(name.toLowerCase());
  });

  it('does not depend on what is hidden', () => {
    const samples = magazine
      .filter(({ name }) => ['articles', 'authors', 'sections', 'tags'].includes(name))
      .map((one) => ({
        ...one,
        relations: (one.relations ?? []).filter(
          ({ target }) => !target.startsWith('shop_') && target !== 'articles_tags',
        ),
      }));
    // A note that names something hidden is no name once that does not exist.
    const plain = (schema: string): string => schema.replaceAll(/^ *".*"\n/gm, '');
    expect(plain(textOf(sampleApi(samples), reader))).toBe(plain(text));
  });

  it('has a link as a union of what can be read', () => {
    const { items } = schemasOf(text);
    const union = items.getType('sections_item_union');
    expect(union instanceof GraphQLUnionType ? union.getTypes().map(({ name }) => name) : null).toEqual(['tags']);
    expect(fieldsOf(text, 'sections')).toEqual({ id: 'Int!', collection: 'String!', item: 'sections_item_union' });
    expect(fieldsOf(text, 'sections_link_filter')).toMatchObject({ item__tags: 'tags_filter' });
    expect(fieldsOf(text, 'sections_filter')).not.toHaveProperty('item__tags');
    const alone = textOf(sample, accessTo({ sections: [['id', 'item']], tags: [['id']] }));
    expect(fieldsOf(alone, 'sections')).toEqual({ id: 'Int!', item: 'String!' });
  });

  it('has the key in the place of an item that is hidden', () => {
    const alone = textOf(sample, accessTo({ articles: [['id', 'author_id']] }));
    expect(fieldsOf(alone, 'articles')).toEqual({ id: 'GraphQLBigInt!', author_id: 'Int!' });
    expect(fieldsOf(alone, 'articles_filter')).toMatchObject({ author_id: 'number_filter_operators' });
    expect(alone).not.toContain('authors');
  });

  it('asks a key and its item in one place', () => {
    expect(fieldsOf(text, 'articles_filter')).toMatchObject({ author_id: 'authors_filter_with_number_operators' });
    const requested = fieldsOf(text, 'authors_filter_with_number_operators');
    expect(requested).toMatchObject({ _eq: 'GraphQLStringOrFloat', _in: '[GraphQLStringOrFloat]', _null: 'Boolean' });
    expect(requested).toMatchObject(
      fieldsOf(text, 'authors_filter') === null ? {} : { name: 'string_filter_operators' },
    );
  });

  it('has no item by a key that cannot be read', () => {
    const half = textOf(sample, accessTo({ tags: [['name']] }));
    expect(Object.keys(fieldsOf(half, 'Query') ?? {})).toEqual(['tags', 'tags_aggregated']);
  });

  it('says so when there is nothing', () => {
    const nothing = textOf(sample, accessTo({}));
    expect(fieldsOf(nothing, 'Query')).toEqual({ _empty: 'Void' });
    expect(nothing).not.toContain('type Mutation');
    expect(faultsOf(nothing)).toEqual([]);
  });

  it('has a type without fields where only a hidden relation is granted', () => {
    const empty = textOf(sample, accessTo({ articles: [['shop_ledger']] }));
    expect(fieldsOf(empty, 'articles')).toEqual({ _empty: 'Void' });
    expect(faultsOf(empty)).toEqual([]);
  });
});

describe('the mutations of an access class', () => {
  const access = writingAccess({ articles: ['title', 'status', 'author_id', 'tags'], settings: ['theme'] }, ['status']);

  it('answer whether it worked where nothing can be read', () => {
    const text = textOf(sample, access);
    expect(fieldsOf(text, 'Mutation')).toEqual({
      create_articles_item: 'Boolean',
      create_articles_items: 'Boolean',
      update_articles_item: 'Boolean',
      update_articles_items: 'Boolean',
      delete_articles_item: 'delete_one',
      delete_articles_items: 'delete_many',
      update_settings: 'Boolean',
    });
    expect(fieldsOf(text, 'Query')).toEqual({ _empty: 'Void' });
    expect(faultsOf(text)).toEqual([]);
  });

  it('take items where items can be linked, and need what no rule gives', () => {
    const admin = classOf(blog, 'admin');
    expect(fieldsOf(textOf(blog, admin), 'create_articles_input')).toMatchObject({
      title: 'String!',
      status: 'String',
      author_id: 'update_authors_input',
      tags: '[update_tags_input!]',
      tags_changes: 'changes_tags_input',
      blocks: '[link_blocks_input!]',
      blocks_changes: 'link_changes_blocks_input',
    });
    expect(fieldsOf(textOf(blog, admin), 'link_blocks_input')).toMatchObject({ collection: 'String!', item: 'JSON' });
    const given = admin.collections.map((one) => ({
      ...one,
      ...(one.create && { create: one.create.map((rule) => ({ ...rule, presets: [titled] })) }),
    }));
    const preset = { ...admin, admin: false, collections: given };
    expect(fieldsOf(textOf(blog, preset), 'create_articles_input')).toMatchObject({ title: 'String' });
  });
});

const titled = { field: 'title', value: { kind: 'literal', value: 'Untitled' } } as const;

function classOf(api: Api, name: string): AccessClass {
  const found = api.access.find(({ access }) => access.name === name);
  if (found === undefined) throw new Error(`There is no class "${name}".`);
  return found.access;
}

describe('nullability', () => {
  const classes = [
    ['an administrator', adminOf(sample)],
    ['a reader of parts', reader],
    [
      'a reader of rows',
      accessTo({
        articles: [
          ['id', 'author_id', 'metadata', 'tags'],
          ['id', 'tags'],
        ],
        authors: [['id']],
        tags: [['name']],
      }),
    ],
  ] as const;

  it.each(classes)('is that of the OpenAPI document for %s', (_, access) => {
    const view = roleViewOf(sample, access);
    const document = emitOpenApi(sample, access);
    const text = textOf(sample, access);
    let compared = 0;
    for (const { name, names, fields, relations } of view.collections) {
      const own = fieldsOf(text, name);
      for (const member of [...fields, ...relations]) {
        // Conditions of REST make any item of a many-to-one null, and GraphQL has none there.
        if (member.itemNullable !== null) continue;
        const property = propertiesOf(document, names.item)?.[member.name];
        const reference = at(property, '$ref');
        const schema = typeof reference === 'string' ? at(document, ...reference.slice(2).split('/')) : property;
        // JSON admits null by admitting everything; the item of a link can be of a hidden collection.
        if (at(schema, 'description') === 'Any JSON.' || own?.[member.name]?.endsWith('_union')) continue;
        expect([name, member.name, own?.[member.name]?.endsWith('!')]).toEqual([
          name,
          member.name,
          !admitsNull(schema),
        ]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(3);
  });
});

describe('what should not be used any more', () => {
  const schema = blogSchema();
  const api = resolveApi({
    ...schema,
    collections: schema.collections.map((one) => ({
      ...one,
      ...(one.name === 'authors' && { deprecated: 'Use "people".' }),
      fields: one.fields.map((field) => ({
        ...field,
        ...(field.name === 'score' && { deprecated: 'Use rating.' }),
        ...(field.name === 'title' && { deprecated: 'As authors.password has it.' }),
      })),
      relations: one.relations.map((relation) =>
        relation.name === 'tags' ? { ...relation, deprecated: 'Too slow.' } : relation,
      ),
    })),
  });
  const text = textOf(api, classOf(api, 'admin'));

  it('says why, wherever it is', () => {
    expect(faultsOf(text)).toEqual([]);
    expect(text).toContain('  score: Float @deprecated(reason: "Use rating.")\n');
    expect(text).toContain('  score: number_filter_operators @deprecated(reason: "Use rating.")\n');
    expect(text.match(/\): \[tags!\]!\s+@deprecated\(reason: "Too slow\."\)/g)).toHaveLength(1);
  });

  it('is everything that leads to a collection', () => {
    const reason = '@deprecated(reason: "Use \\"people\\".")';
    for (const line of [
      'authors_by_id(id: ID!): authors',
      'author_id: authors',
      'delete_authors_item(id: ID!): delete_one',
    ])
      expect(text).toContain(`  ${line} ${reason}`);
  });

  it('never is what must be given', () => {
    expect(text).toContain('  title: String!\n');
    expect(text).toContain('  title: String! @deprecated(');
  });

  it('keeps a reason to itself that names what is hidden', () => {
    const hidden = textOf(api, classOf(api, 'public'));
    expect(hidden).toContain('  title: String! @deprecated\n');
    expect(hidden).not.toContain('password');
  });

  it('is marked in the OpenAPI document as well', () => {
    const document = emitOpenApi(api, null);
    const properties = propertiesOf(document, 'ItemsArticles');
    expect(properties).toMatchObject({ score: { deprecated: true }, tags: { deprecated: true } });
    expect(at(document, 'paths', '/items/authors', 'get', 'deprecated')).toBe(true);
    expect(at(document, 'paths', '/items/articles', 'get', 'deprecated')).toBeUndefined();
  });
});

it('prints the same again', () => {
  const again = sampleApi([...magazine].reverse());
  expect(textOf(again, adminOf(again))).toBe(textOf(sample, adminOf(sample)));
});

function admitsNull(schema: JsonValue | undefined): boolean {
  const type = at(schema, 'type');
  if (type === 'null' || (Array.isArray(type) && type.includes('null'))) return true;
  const forms = at(schema, 'anyOf');
  return Array.isArray(forms) && forms.some(admitsNull);
}

/** What stands behind names in a document; undefined when one is missing. */
function at(document: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = document;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = Object.entries(value).find(([key]) => key === name)?.[1];
  }
  return value;
}
