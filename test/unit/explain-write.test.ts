/** What is told of a write without a database: its rules, its first statements, and the rights that are lacking. */
import type { Caller } from '@tablewright/runtime';
import { type ExplainedWrite, explainWrite, type RefusedWrite } from '@tablewright/runtime/explain';
import { describe, expect, it } from 'vitest';
import { writableApi } from '../../packages/cli/src/explain/role.ts';
import { resolve } from '../../packages/introspect/src/testing/resolve.ts';

const { schema } = resolve(
  {
    authors: { columns: ['id!:integer', 'name!', 'email'], key: ['id'] },
    articles: {
      columns: ['id!=:integer', 'title!', 'status', 'author_id:integer'],
      key: ['id'],
      foreignKeys: ['author_id > authors.id'],
    },
    comments: {
      columns: ['id!=:integer', 'article_id:integer', 'body'],
      key: ['id'],
      foreignKeys: ['article_id > articles.id'],
    },
    notes: { columns: ['text'] },
  },
  {
    permissions: `
roles: { writer: {}, reader: {} }
permissions:
  writer:
    articles:
      read: { fields: [id, title] }
      create:
        - { fields: [title, comments], validation: { title: { _neq: no } }, presets: { author_id: $CURRENT_USER } }
        - { fields: [title, comments], presets: { status: draft } }
      update: { fields: [title, status], filter: { status: draft } }
    comments: { read: true, create: { fields: [body, article_id] } }
  reader:
    articles: { read: true, create: true }
`,
  },
);
const api = writableApi(schema);

async function explain(
  request: `${'POST' | 'PATCH' | 'DELETE'} ${string}`,
  body: unknown,
  caller: Partial<Caller> = {},
): Promise<ExplainedWrite | RefusedWrite> {
  const [word = '', target = ''] = request.split(' ');
  const method = word === 'POST' || word === 'PATCH' ? word : 'DELETE';
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  const asker = { accessClass: 'writer', user: null, role: null, ...caller };
  return (await explainWrite(api, { method, target, body: text }, asker, null)).explained;
}

describe('rules', () => {
  it('are told with what they do not grant, and whether they count', async () => {
    const { rules } = await explain('POST /items/articles', [{ title: 'a' }, { title: 'b', id: 1 }]);
    expect(rules.map(({ action, lacking, usable }) => [action, lacking, usable])).toEqual([
      ['create', ['id'], false],
      ['create', ['id'], true],
    ]);
    const { rules: signedIn } = await explain('POST /items/articles', { title: 'a' }, { user: '7' });
    expect(signedIn.map(({ usable }) => usable)).toEqual([true, true]);
  });

  it('of update hold for a POST that may change items, and their rows for what is written', async () => {
    const { rules } = await explain('POST /items/articles?on_conflict=id', { title: 'a' });
    expect(rules.map(({ action }) => action)).toEqual(['create', 'create', 'update']);
    expect(rules[2]?.check).toEqual(rules[2]?.where);
  });

  it.each([
    ['PATCH /items/articles', [{ id: 1, title: 'a', author_id: 1 }], ['author_id']],
    ['PATCH /items/articles', { keys: [1], data: { author_id: 1 } }, ['author_id']],
    ['PATCH /items/articles/1', { id: 2 }, ['id']],
    ['PATCH /items/articles/1', '{', []],
  ] as const)('of %s %j lack names of the payloads', async (request, body, lacking) => {
    expect((await explain(request, body)).rules.map((rule) => rule.lacking)).toEqual([lacking]);
  });
});

describe('statements', () => {
  it('are those up to where an answer is needed', async () => {
    const one = await explain('PATCH /items/articles/1?fields=id', { title: 'a' });
    expect(one).toMatchObject({ kind: 'write', action: 'update', collection: 'articles', rehearsed: false });
    expect(one.statements[0]).toMatchObject({ statement: expect.stringContaining('UPDATE "public"."articles"') });
    expect(one.statements[0]?.parameters).toContain('a');
    expect(one).not.toHaveProperty('answer');
    const tree = await explain('POST /items/articles', { title: 'a', comments: [{ body: 'b' }] });
    expect(tree.kind).toBe('write');
    expect(tree.statements[0]?.statement).toMatch(/^(?:WITH|INSERT)/);
  });
});

describe('reasons', () => {
  it.each([
    ['DELETE /items/articles/1', undefined, ['No rule grants deleting articles.']],
    ['POST /items/articles', { title: 'a', status: 'x' }, ['No rule grants creating articles with status.']],
    [
      'PATCH /items/articles/1',
      { author_id: 1 },
      ['No rule grants reading authors.', 'No rule grants changing author_id of articles.'],
    ],
    ['PATCH /items/comments/1', { body: 'x' }, ['No rule grants changing body of comments.']],
    ['POST /items/articles?fields=status', { title: 'a' }, ['No rule grants reading status of articles.']],
    [
      'POST /items/articles',
      { title: 'a', comments: { create: [{ id: 1, body: 'b' }] } },
      ['No rule grants creating comments with id.'],
    ],
    ['PATCH /items/articles/1', { nothing: 1 }, [nowhere('"nothing" of articles')]],
    ['POST /items/articles', { title: 'a', comments: [{ bdy: 'b' }] }, [nowhere('"bdy" of comments')]],
    ['POST /items/notes', { text: 'a' }, ['"notes" has no key: it can only be listed.']],
    ['POST /items/nowhere', {}, ['There is no collection "nowhere": administrators are refused, too.']],
    ['PATCH /items/articles/1', '{', ['The body is not valid JSON at line 1, column 2.']],
    ['POST /items/articles', { title: null }, ['"title" is required.']],
  ] as const)('of %s %j', async (request, body, reasons) => {
    const explained = await explain(request, body);
    expect(explained.kind === 'refused' && [...explained.reasons].sort()).toEqual([...reasons].sort());
  });

  it('name the field that links an item below another', async () => {
    const body = { title: 'a', comments: { create: [{ body: 'b' }] } };
    const explained = await explain('POST /items/articles', body, { accessClass: 'reader' });
    expect(explained.kind === 'refused' && [...explained.reasons].sort()).toEqual([
      'No rule grants creating comments with article_id.',
      'No rule grants creating comments with body.',
    ]);
  });

  it('are not given for what is no path of items, or takes no such method', async () => {
    await expect(explain('POST /items/articles/1', {})).rejects.toThrow('There is no such endpoint.');
    await expect(explain('DELETE /server/ping', undefined)).rejects.toThrow('There is no such endpoint.');
  });
});

function nowhere(name: string): string {
  return `${name} does not exist: administrators are refused, too.`;
}
