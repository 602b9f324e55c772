/** Typed document nodes: their types, and the texts that they are. */
import { type DocumentNode, print } from 'graphql';
import { expect, it } from 'vitest';
import { compile } from '../compile.ts';
import { blogSchema } from '../testing/blog.ts';
import { templates } from '../testing/compile-fixture.ts';
import { typeErrors } from '../testing/parse-output.ts';

const text = `
  query Articles($filter: articles_filter, $limit: Int, $deep: Boolean!) {
    articles(filter: $filter, limit: $limit) {
      ...card
      headline: title
      tags @include(if: $deep) { name }
      blocks { item { __typename ... on authors { name } ... on tags { id } } }
    }
  }
  fragment card on articles { id status author_id { name } }
  mutation Create($data: create_articles_input!) { create_articles_item(data: $data) { id } }
`;

const client = `
  import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
  import { ArticlesDocument, CreateDocument } from './admin.js';

  declare function ask<Data, Variables>(document: TypedDocumentNode<Data, Variables>, variables: NoInfer<Variables>): Promise<Data>;

  export async function use(): Promise<string> {
    const { articles } = await ask(ArticlesDocument, { deep: true, filter: { title: { _icontains: 'a' }, author_id: { _in: [1, '2'] } } });
    const [first] = articles;
    const status: string | undefined = first?.status;
    const name: string | undefined = first?.author_id?.name;
    const tags: string[] | undefined = first?.tags?.map((tag) => tag.name);
    const item = first?.blocks[0]?.item;
    const linked: string | number | undefined = item?.__typename === 'authors' ? item.name : item?.id;
    // @ts-expect-error: an author can be missing
    first?.author_id.name;
    // @ts-expect-error: a directive may leave it out
    first?.tags.length;
    // @ts-expect-error: it was not asked for
    first?.rating;
    // @ts-expect-error: a variable is missing
    await ask(ArticlesDocument, {});
    // @ts-expect-error: an article has no such field
    await ask(ArticlesDocument, { deep: true, filter: { nothing: { _eq: 1 } } });
    await ask(CreateDocument, { data: { title: 'T', tags: [{ id: 1 }, { name: 'b' }] } });
    // @ts-expect-error: a title is required
    await ask(CreateDocument, { data: { status: 'draft' } });
    return [status, name, tags, linked, first?.headline].join();
  }
`;

const { files, diagnostics } = compile(blogSchema(), {
  templates,
  documents: [{ path: 'admin/articles.graphql', text }],
});
const fileAt = (path: string): string => files.find((one) => one.path === `client/admin/${path}`)?.contents ?? '';

it('types what operations answer and take', { timeout: 60_000 }, () => {
  expect(diagnostics).toEqual([]);
  const sources = new Map([
    ['admin.d.ts', fileAt('documents/admin.d.ts')],
    ['client.ts', client],
  ]);
  expect(typeErrors(sources, 'export {};')).toEqual([]);
});

it('are the documents that the server keeps', async () => {
  const script = `data:text/javascript,${encodeURIComponent(fileAt('documents/admin.js'))}`;
  const nodes: Readonly<Record<string, DocumentNode>> = await import(script);
  const kept: object = JSON.parse(files.find(({ path }) => path === 'graphql/documents.json')?.contents ?? '{}');
  expect(Object.values(nodes).map(print).toSorted()).toEqual(Object.values(kept).toSorted());
});

it('belong to the package where there are any', () => {
  expect(JSON.parse(fileAt('package.json'))).toMatchObject({
    exports: { './documents/*': { types: './documents/*.d.ts', default: './documents/*.js' } },
    peerDependencies: { '@graphql-typed-document-node/core': '^3.2.0' },
  });
  expect(JSON.parse(files.find(({ path }) => path === 'client/public/package.json')?.contents ?? '{}').exports).toEqual(
    {
      '.': { types: './index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
  );
});
