/** `search` by a FULLTEXT index of MariaDB and MySQL: best first, and never by words that the caller cannot read. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import type { Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const sql = `CREATE TABLE articles (id int PRIMARY KEY, title varchar(200) NOT NULL, body text, secret text,
    FULLTEXT (title, body), FULLTEXT (secret)) ENGINE = InnoDB;
  INSERT INTO articles VALUES (1, 'The harbour', 'Boats in the harbour of the town', 'treasure'),
    (2, 'Winter', 'Snow near a harbour', NULL), (3, 'Mountains', 'Nothing else', 'treasure');`;

const permissions = `
permissions:
  public: { articles: { read: { fields: [id, title] } } }
`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const search = `search: { mode: 'text', fields: ['title', 'body'] }`;
  const platform = serveSuite(start, sql, {
    'platform.config.ts': `export default { collections: { articles: { ${search} } } };\n`,
    'permissions.yaml': permissions,
  });

  const ids = async (ask: Platform['ask'], query: string): Promise<unknown> => {
    const { status, json } = await ask(`/items/articles?fields=id&${query}`);
    return status === 200 ? json.data.map(({ id }: { id: number }) => id) : [status, json.errors[0].extensions.code];
  };

  it('finds words, best first, and gives way to an order', async () => {
    expect(await ids(platform().admin, 'search=harbour')).toEqual([1, 2]);
    expect(await ids(platform().admin, 'search=harbour&sort=-id')).toEqual([2, 1]);
    expect(await ids(platform().admin, 'search=harb')).toEqual([]);
    expect(await ids(platform().admin, 'search=treasure')).toEqual([]);
    const body = { query: '{ articles(search: "harbour winter") { id } }' };
    const { json } = await platform().admin('/graphql', { method: 'POST', body });
    expect(json.data.articles.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2]);
    expect(await ids(platform().admin, 'search=harbour&cursor=')).toEqual([400, 'INVALID_QUERY']);
  });

  it('finds no words of fields that the caller cannot read', async () => {
    expect(await ids(platform().ask, 'search=harbour')).toEqual([1]);
    expect(await ids(platform().ask, 'search=snow')).toEqual([]);
    expect(await ids(platform().ask, 'search=arbou')).toEqual([1]);
  });
});
