/** What others make of a schema: types and documents by @graphql-codegen, and a client that is checked against them. */
import { codegen } from '@graphql-codegen/core';
import * as documents from '@graphql-codegen/typed-document-node';
import * as typescript from '@graphql-codegen/typescript';
import * as operations from '@graphql-codegen/typescript-operations';
import { classFiles, sdlOfClass } from '@tablewright/runtime/language';
import { type DocumentNode, Kind, parse, print } from 'graphql';
import { expect, it } from 'vitest';
import { compile } from '../compile/compile.ts';
import { blogSchema } from '../testing/blog.ts';
import { compileFixture, templates } from '../testing/compile-fixture.ts';
import { typeErrors } from '../testing/parse-output.ts';

const written = `
  query Articles($filter: articles_filter, $limit: Int) {
    articles(filter: $filter, sort: ["-published_at"], limit: $limit) {
      id title published_at author_id { name articles_func { count } }
      tags(filter: { name: { _starts_with: "a" } }) { name }
      blocks(filter: { item__tags: { name: { _eq: "x" } } }) {
        item { __typename ... on authors { name } ... on tags { id } }
      }
    }
    articles_aggregated(groupBy: ["status"]) { group count { id } avg { rating } max { published_at } }
  }
  mutation Create($data: create_articles_input!) { create_articles_item(data: $data) { id } }
  mutation Delete($ids: [ID!]!) { delete_articles_items(ids: $ids) { ids } }
`;

const client = `
  import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
  import { ArticlesDocument, CreateDocument, DeleteDocument } from './documents.ts';

  declare function ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: NoInfer<Variables>): Promise<Data>;

  export async function use(): Promise<string> {
    const { articles, articles_aggregated: rows } = await ask(ArticlesDocument, {
      filter: { title: { _icontains: 'a' }, author_id: { _in: [1, '2'], name: { _eq: 'Ann' } }, tags: { _none: { id: { _eq: 1 } } } },
      limit: 3,
    });
    const titles: string[] = articles.map(({ title }) => title);
    const name: string | undefined = articles[0]?.author_id?.name;
    const tags: string[] = articles.flatMap((article) => article.tags.map((tag) => tag.name));
    const linked = articles[0]?.blocks[0]?.item;
    const text: string | number | undefined = linked?.__typename === 'authors' ? linked.name : linked?.id;
    const counted: number | null | undefined = rows[0]?.count?.id;
    // @ts-expect-error: an author can be missing
    articles[0]?.author_id.name;
    // @ts-expect-error: it was not asked for
    articles[0]?.status;
    const blocks = [{ collection: 'tags', item: { name: 'new' } }];
    await ask(CreateDocument, { data: { title: 'T', author_id: { id: 1 }, tags: [{ id: 1 }, { name: 'b' }], blocks } });
    await ask(CreateDocument, { data: { title: 'T', tags_changes: { create: [{ name: 'c' }], delete: ['1'] } } });
    // @ts-expect-error: a title is required
    await ask(CreateDocument, { data: { status: 'draft' } });
    // @ts-expect-error: a generated column is in no input
    await ask(CreateDocument, { data: { title: 'T', minutes: 3 } });
    // @ts-expect-error: an article has no such field
    await ask(ArticlesDocument, { filter: { nothing: { _eq: 1 } } });
    const removed = await ask(DeleteDocument, { ids: ['1', '2'] });
    return [...titles, ...tags, name, text, counted, ...(removed.delete_articles_items?.ids ?? [])].join();
  }
`;

const { files } = compileFixture(blogSchema());
const schema = parse(sdlOfClass(files.find(({ path }) => path === classFiles.graphql)?.contents ?? '', 'admin'));

const config = {
  enumsAsTypes: true,
  useTypeImports: true,
  strictScalars: true,
  scalars: {
    Date: 'string',
    Decimal: { input: 'string | number', output: 'string' },
    GraphQLBigInt: { input: 'string | number', output: 'string' },
    GraphQLStringOrFloat: 'string | number',
    Hash: 'string',
    JSON: 'unknown',
    Void: 'null',
  },
};

it('gives a client its types', { timeout: 60_000 }, async () => {
  const generated = await codegen({
    schema,
    documents: [{ location: 'documents.graphql', document: parse(written) }],
    filename: 'documents.ts',
    config,
    pluginMap: { operations, documents },
    plugins: [{ operations: {} }, { documents: {} }],
  });
  const sources = new Map([
    ['documents.ts', generated],
    ['client.ts', client],
  ]);
  expect(typeErrors(sources, 'export {};')).toEqual([]);
});

it('gives a client the labels of enums', { timeout: 60_000 }, async () => {
  const labels = ['draft', 'published'];
  const blog = blogSchema();
  const graphqlEnums = [{ name: 'article_status_enum', source: 'public.article_status', labels }];
  const text = `
    query Drafts($is: article_status_enum!) {
      articles(filter: { status: { _eq: $is, _in: [draft] } }) { status }
    }
    mutation Write($data: create_articles_input!) { create_articles_item(data: $data) { status } }
  `;
  const schemaText = compileFixture({ ...blog, graphqlEnums }).files.find(({ path }) => path === classFiles.graphql);
  const generated = await codegen({
    schema: parse(sdlOfClass(schemaText?.contents ?? '', 'admin')),
    documents: [{ location: 'documents.graphql', document: parse(text) }],
    filename: 'documents.ts',
    config,
    pluginMap: { operations, documents },
    plugins: [{ operations: {} }, { documents: {} }],
  });
  const kept = compile({ ...blog, graphqlEnums }, { templates, documents: [{ path: 'admin/a.graphql', text }] });
  const use = `
    import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
    import { DraftsDocument, WriteDocument } from './documents.ts';

    declare function ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: NoInfer<Variables>): Promise<Data>;

    export async function use(): Promise<'draft' | 'published' | null | undefined> {
      const { articles } = await ask(DraftsDocument, { is: 'draft' });
      await ask(WriteDocument, { data: { title: 'T', status: 'published' } });
      // @ts-expect-error: it is no label
      await ask(DraftsDocument, { is: 'other' });
      // @ts-expect-error: it is no label
      await ask(WriteDocument, { data: { title: 'T', status: 'other' } });
      return articles[0]?.status;
    }
  `;
  expect(
    typeErrors(
      new Map([
        ['documents.ts', generated],
        ['client.ts', use],
      ]),
      'export {};',
    ),
  ).toEqual([]);
  const nodes = kept.files.find(({ path }) => path === 'graphql/nodes/admin.d.ts')?.contents ?? '';
  const named = new Map([
    ['nodes.d.ts', nodes],
    ['client.ts', use.replace('./documents.ts', './nodes.js')],
  ]);
  expect(typeErrors(named, 'export {};')).toEqual([]);
});

it('gives a client the types of nodes that the compiler prints', { timeout: 60_000 }, () => {
  const kept = compile(blogSchema(), { templates, documents: [{ path: 'admin/a.graphql', text: written }] });
  const nodes = kept.files.find(({ path }) => path === 'graphql/nodes/admin.d.ts')?.contents ?? '';
  const sources = new Map([
    ['nodes.d.ts', nodes],
    ['client.ts', client.replace('./documents.ts', './nodes.js')],
  ]);
  expect(typeErrors(sources, 'export {};')).toEqual([]);
});

it('prints floats as the server answers them, not as numbers alone', () => {
  const text = 'query Sums { tags_aggregated { sum { id } } articles_aggregated { sum { score } } }';
  const kept = compile(blogSchema(), { templates, documents: [{ path: 'admin/a.graphql', text }] });
  const nodes = kept.files.find(({ path }) => path === 'graphql/nodes/admin.d.ts')?.contents ?? '';
  expect(nodes).toContain("export type FloatValue = number | 'NaN' | 'Infinity' | '-Infinity';");
  expect(nodes).toContain('sum: { score: FloatValue | null } | null');
  // A sum of integers is a float only because it outgrows the integers of GraphQL.
  expect(nodes).toContain('sum: { id: number | null } | null');
});

it('prints what directives and fragments leave open', () => {
  const text = `
    query Open($with: Boolean!, $all: Boolean = true) {
      tags { id @include(if: $with) ...more name @skip(if: $all) ... on tags { name } }
      some: tags { id } some: tags @include(if: $with) { name }
      articles(limit: 1) { blocks { item { __typename ...words } } }
    }
    fragment more on tags { alias: id }
    fragment words on articles_blocks_item_union { ... on tags { name @include(if: $with) } }
    query Ping { server_ping }
  `.replace('articles_blocks_item_union', unionOf(schema));
  const kept = compile(blogSchema(), { templates, documents: [{ path: 'admin/a.graphql', text }] });
  expect(kept.diagnostics).toEqual([]);
  const [types = '', values = ''] = ['d.ts', 'js'].map(
    (kind) => kept.files.find(({ path }) => path === `graphql/nodes/admin.${kind}`)?.contents,
  );
  expect(types).toContain('tags: ({ id?: number; alias: number; name: string })[]');
  expect(types).toContain('some: ({ id: number; name?: string })[]');
  expect(types).toContain('{ __typename: "tags"; name?: string }');
  expect(types).toContain('export type OpenVariables = { with: boolean; all?: boolean | null | undefined };');
  expect(types).toContain('export type PingVariables = { [name: string]: never };');
  const [, json = ''] = /^export const PingDocument = (.*);$/m.exec(values) ?? [];
  const document: DocumentNode = JSON.parse(json);
  expect(print(document)).toBe('query Ping {\n  server_ping\n}');
});

function unionOf({ definitions }: DocumentNode): string {
  const union = definitions.find(({ kind }) => kind === Kind.UNION_TYPE_DEFINITION);
  return union?.kind === Kind.UNION_TYPE_DEFINITION ? union.name.value : '';
}

it('has a type for every type', { timeout: 60_000 }, async () => {
  const whole = { schema, documents: [], config, pluginMap: { typescript }, plugins: [{ typescript: {} }] };
  const generated = await codegen({ ...whole, filename: 'schema.ts' });
  expect(generated).toContain('export type Link_Blocks_Input = {');
  expect(typeErrors(new Map([['schema.ts', generated]]), 'export {};')).toEqual([]);
});

it('asks by texts that the compiler keeps', async () => {
  const text = `
    query Both($id: ID!) { articles_by_id(id: $id) { ...card author_id { ...name } } tags { id } }
    query Cards { articles { ...card } }
    fragment name on authors { name }
    fragment card on articles { title author_id { ...name } ...state }
    fragment state on articles { ...last status }
    fragment zed on articles { id }
    fragment last on articles { rating }
    query All { articles { ...zed ...state ...card } }
  `;
  const kept = compile(blogSchema(), { templates, documents: [{ path: 'admin/a.graphql', text }] });
  const texts: unknown = JSON.parse(kept.files.find(({ path }) => path === 'graphql/documents.json')?.contents ?? '');
  const generated = await codegen({
    schema,
    documents: [{ location: 'a.graphql', document: parse(text) }],
    filename: 'documents.ts',
    config,
    pluginMap: { operations, documents },
    plugins: [{ operations: {} }, { documents: {} }],
  });
  const nodes = [...generated.matchAll(/^export const (?:Both|Cards|All)Document = (.*) as unknown as/gm)];
  const sent = nodes.map(([, node = '']): string => {
    const document: DocumentNode = JSON.parse(node);
    return print(document);
  });
  expect(sent).toHaveLength(3);
  expect(Object.values(texts ?? {}).toSorted()).toEqual(sent.toSorted());
});
