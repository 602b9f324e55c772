/** Why a read is refused: the rights that the role lacks, and no others. */
import { resolveApi } from '@tablewright/compiler';
import { explainRead } from '@tablewright/runtime/explain';
import { describe, expect, it } from 'vitest';
import { resolve } from '../../packages/introspect/src/testing/resolve.ts';

const { schema } = resolve(
  {
    authors: { columns: ['id!:integer', 'name!', 'email'], key: ['id'] },
    articles: {
      columns: ['id!:integer', 'title!', 'status', 'author_id:integer'],
      key: ['id'],
      foreignKeys: ['author_id > authors.id'],
    },
    comments: {
      columns: ['id!:integer', 'article_id:integer', 'body'],
      key: ['id'],
      foreignKeys: ['article_id > articles.id'],
    },
  },
  {
    permissions: `
roles: { writer: {} }
permissions:
  public: { articles: { read: { fields: [id, title], filter: { status: published } } } }
  writer: { articles: { read: true }, authors: { read: { fields: [id, name] } } }
`,
  },
);
const { dialect, collections, access } = resolveApi(schema);
const api = {
  dialect,
  collections: collections.map(({ descriptor }) => descriptor),
  access: access.map((one) => one.access),
};

function explain(role: string, target: string): ReturnType<typeof explainRead> {
  return explainRead(api, target, { accessClass: role, user: null, role: null });
}

it('tells statement, parameters and answer of what is allowed', async () => {
  expect(await explain('writer', '/items/articles?fields=title,author_id.name&filter[status][_eq]=x')).toMatchObject({
    kind: 'read',
    collection: 'articles',
    many: true,
    parameters: ['x'],
    answer: ['title', 'author_id', '  name'],
  });
});

describe('reasons', () => {
  it.each([
    ['/items/articles?fields=id,status', 'public', ['No rule grants reading status of articles.']],
    [
      '/items/articles?fields=status&sort=author_id',
      'public',
      ['No rule grants reading status of articles.', 'No rule grants reading author_id of articles.'],
    ],
    ['/items/articles?fields=id,author_id.email', 'writer', ['No rule grants reading email of authors.']],
    [
      '/items/articles?fields=author_id.name',
      'public',
      ['No rule grants reading name of authors.', 'No rule grants reading author_id of articles.'],
    ],
    ['/items/articles/1?filter%5Bstatus%5D=x', 'public', ['No rule grants reading status of articles.']],
    ['/items/comments', 'public', ['No rule grants reading comments.']],
    [
      '/items/articles?fields=nothing',
      'writer',
      ['"nothing" of articles does not exist: administrators are refused, too.'],
    ],
    [
      '/items/articles?fields=title,author_id.nme',
      'admin',
      ['"nme" of authors does not exist: administrators are refused, too.'],
    ],
    ['/items/articles?sort=-titel', 'public', ['"titel" of articles does not exist: administrators are refused, too.']],
    [
      '/items/articles?groupBy=author_id.name',
      'admin',
      ['"author_id.name" of articles does not exist: administrators are refused, too.'],
    ],
    [
      '/items/articles?filter[author_id][nme]=x',
      'admin',
      ['"author_id.nme" of the filter does not exist: administrators are refused, too.'],
    ],
    ['/items/none', 'admin', ['There is no collection "none": administrators are refused, too.']],
    ['/items/articles?limit=many', 'writer', ['The request itself is wrong; rights have no part in it.']],
  ])('of %s for %s', async (target, role, reasons) => {
    const explained = await explain(role, target);
    expect(explained.kind === 'refused' && [...explained.reasons].sort()).toEqual([...reasons].sort());
  });

  it('refuses what is no path of items', async () => {
    await expect(explain('writer', '/server/ping')).rejects.toThrow('There is no such endpoint.');
  });
});
