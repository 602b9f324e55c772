import { describe, expect, it } from 'vitest';
import { compile } from '../compile/compile.ts';
import { sha256 } from '../print/json.ts';
import { blogSchema } from '../testing/blog.ts';
import { templates } from '../testing/compile-fixture.ts';

function compileWith(...files: readonly (readonly [path: string, text: string])[]) {
  return compile(blogSchema(), { templates, documents: files.map(([path, text]) => ({ path, text })) });
}

/** What was complained about. */
function faultsIn(...files: readonly (readonly [path: string, text: string])[]): readonly string[] {
  return compileWith(...files).diagnostics.map(({ code, place, message }) => `${code} ${place}: ${message}`);
}

describe('documents', () => {
  it('hold the fragments that they use, wherever these stand', () => {
    const { files, diagnostics } = compileWith(
      ['editor/a.graphql', 'query New { articles(limit: 3) { ...card } }\nquery Ids { articles { id } }'],
      ['editor/cards.graphql', 'fragment card on articles { title ...state }\nfragment state on articles { status }'],
    );
    expect(diagnostics).toEqual([]);
    const kept: Readonly<Record<string, string>> = JSON.parse(
      files.find(({ path }) => path === 'graphql/documents.json')?.contents ?? '{}',
    );
    expect(Object.values(kept).toSorted()).toEqual([
      'query Ids {\n  articles {\n    id\n  }\n}',
      'query New {\n  articles(limit: 3) {\n    ...card\n  }\n}\n\nfragment state on articles {\n  status\n}\n\nfragment card on articles {\n  title\n  ...state\n}',
    ]);
    for (const [hash, text] of Object.entries(kept)) expect(hash).toBe(sha256(text));
    expect(files.find(({ path }) => path === 'server.js')?.contents).toContain(
      "graphqlDocuments: graphqlDocuments(new URL('./graphql/documents.json', import.meta.url)),",
    );
  });

  it('are one where two roles ask the same', () => {
    const text = 'query Ids { articles { id } }';
    const { files } = compileWith(['editor/a.graphql', text], ['public/b.gql', text]);
    expect(
      Object.keys(JSON.parse(files.find(({ path }) => path === 'graphql/documents.json')?.contents ?? '{}')),
    ).toHaveLength(1);
  });

  it('are judged by what their role sees', () => {
    const text = 'query Ratings { articles { rating } }';
    expect(faultsIn(['admin/a.graphql', text])).toEqual([]);
    expect(faultsIn(['editor/a.graphql', text])).toEqual([
      'graphql-document documents/editor/a.graphql:1:28: Cannot query field "rating" on type "articles".',
    ]);
  });

  it.each([
    ['query A { articles { id }', 'documents/admin/a.graphql:1:26: Syntax Error: Expected Name, found <EOF>.'],
    ['{ articles { id } }', 'documents/admin/a.graphql:1:1: The operation has no name.'],
    [
      'query A { articles { id } }\nquery A { tags { id } }',
      'documents/admin/a.graphql:2:1: There is another operation "A" of the role.',
    ],
    ['query A { articles { ...missing } }', 'documents/admin/a.graphql:1:25: Unknown fragment "missing".'],
  ])('are refused: %s', (text, complaint) => {
    expect(faultsIn(['admin/a.graphql', text])).toEqual([`graphql-document ${complaint}`]);
  });

  it('lie in folders of roles', () => {
    expect(faultsIn(['a.graphql', 'query A { articles { id } }'])).toEqual([
      'graphql-document documents/a.graphql: The file lies in no folder of a role, so no role sends its operations.',
    ]);
    expect(compileWith(['stranger/a.graphql', '']).diagnostics).toMatchObject([
      { hint: 'Move it into documents/<role>/; the roles are admin, owner, public, editor, reviewer.' },
    ]);
  });

  it('can ask the system', () => {
    expect(faultsIn(['public/a.graphql', 'query A { server_ping }'])).toEqual([]);
    expect(faultsIn(['public/a.graphql', 'query A { ...ping }\nfragment ping on SystemQuery { server_ping }'])).toEqual(
      [],
    );
    expect(faultsIn(['public/a.graphql', 'query A { ... { ... on SystemQuery { server_ping } } }'])).toEqual([]);
    expect(faultsIn(['public/a.graphql', 'query A { ...a }\nfragment a on Query { ...a }'])).toEqual([
      'graphql-document documents/public/a.graphql:2:23: Cannot spread fragment "a" within itself.',
    ]);
    expect(faultsIn(['public/a.graphql', 'query A { server_ping articles { id } }'])).toEqual([
      'graphql-document documents/public/a.graphql:1:23: Cannot query field "articles" on type "SystemQuery".',
    ]);
  });
});

it('says nothing of documents where there are none', () => {
  const { files } = compileWith();
  expect(files.find(({ path }) => path === 'graphql/documents.json')).toBeUndefined();
  expect(files.find(({ path }) => path === 'server.js')?.contents).not.toContain('graphqlDocuments');
});
