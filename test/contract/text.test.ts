/** Comparison of text, whatever the column's type and collation. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../support/explain.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      CREATE TABLE samples (id integer PRIMARY KEY, plain text, short varchar(9), ascii text COLLATE "C",
        folded text COLLATE folding, several text[] COLLATE folding, literal text, address inet, words text, nothing text);
      INSERT INTO samples VALUES
        (1, 'Abé', 'Abé', 'Abé', 'Abé', '{Abé}', '50%_\\', '10.0.0.1', 'a,b', NULL),
        (2, 'aBe', 'aBe', 'aBe', 'aBe', '{aBe}', '', '10.0.0.2/8', '', NULL);
      CREATE INDEX ON samples (folded);
      CREATE TABLE words (word text COLLATE folding PRIMARY KEY);
      CREATE TABLE pairs (word text COLLATE folding, n integer, PRIMARY KEY (word, n));
      INSERT INTO words VALUES ('Abc'); INSERT INTO pairs VALUES ('Abc', 1);`,
    config: `{ collections: { samples: { fields: { words: { type: 'csv' } } } } }`,
  });
});
afterAll(() => project?.close());

async function ids(filter: unknown): Promise<readonly number[]> {
  const answer = await project.admin('/items/samples', {
    method: 'SEARCH',
    body: { query: { fields: ['id'], filter } },
  });
  return answer.json.data.map(({ id }: { id: number }) => id);
}

describe.each(['plain', 'short', 'ascii', 'folded'])('%s', (field) => {
  it.each([
    ['_contains', 'b', [1]],
    ['_contains', 'e', [2]],
    ['_ncontains', 'b', [2]],
    ['_icontains', 'AB', [1, 2]],
    ['_icontains', 'BE', [2]],
    ['_starts_with', 'A', [1]],
    ['_nstarts_with', 'A', [2]],
    ['_istarts_with', 'a', [1, 2]],
    ['_nistarts_with', 'a', []],
    ['_ends_with', 'e', [2]],
    ['_nends_with', 'e', [1]],
    ['_iends_with', 'E', [2]],
    ['_niends_with', 'E', [1]],
    ['_eq', 'abé', []],
    ['_eq', 'Abé', [1]],
    ['_neq', 'abe', [1, 2]],
    ['_neq', 'aBe', [1]],
    ['_in', ['abé', 'aBe'], [2]],
    ['_nin', ['abé', 'aBe'], [1]],
    ['_empty', true, []],
  ])('%s %s', async (operator, text, expected) => {
    expect(await ids({ [field]: { [operator]: text } })).toEqual(expected);
  });
});

it.each([
  [{ plain: 'abé' }, []],
  [{ plain: { _in: ['Abé', 'x'] } }, [1]],
  [{ literal: { _contains: '%' } }, [1]],
  [{ literal: { _contains: '_' } }, [1]],
  [{ literal: { _ends_with: '\\' } }, [1]],
  [{ literal: { _empty: true } }, [2]],
  [{ literal: { _empty: false } }, [1]],
  [{ nothing: { _empty: true } }, [1, 2]],
  [{ nothing: { _neq: 'a' } }, []],
  [{ nothing: { _ncontains: 'a' } }, []],
  [{ address: '10.0.0.1' }, [1]],
  [{ address: { _contains: '/8' } }, [2]],
  [{ words: 'a,b' }, [1]],
  [{ words: { _eq: ['a', 'b'] } }, [1]],
  [{ words: { _eq: [] } }, [2]],
  [{ words: { _in: [['a', 'b'], []] } }, [1, 2]],
  [{ words: { _contains: 'b' } }, [1]],
])('%j', async (filter, expected) => {
  expect(await ids(filter)).toEqual(expected);
});

describe('a collation in which different texts are equal', () => {
  it('leaves its index usable', async () => {
    project.statements.reset();
    await project.admin('/items/samples?aggregate[count]=*&filter[folded]=x');
    const plan = await explain(project.database.url, project.statements.texts()[0] ?? '');
    expect(plan.join()).toMatch(/Index Cond: \(\(?folded = \$1/);
  });

  it('does not make keys equal', async () => {
    const statusOf = async (path: string) => (await project.admin(path)).status;
    expect(await statusOf('/items/words/Abc')).toBe(200);
    expect(await statusOf('/items/words/abc')).toBe(403);
    expect(await statusOf('/items/pairs/Abc,1')).toBe(200);
    expect(await statusOf('/items/pairs/abc,1')).toBe(403);
    const search = async (collection: string, keys: readonly string[]) =>
      failure(await project.admin(`/items/${collection}`, { method: 'SEARCH', body: { keys } }));
    expect(await search('words', ['Abc'])).toBe('200 no error');
    expect(await search('words', ['abc'])).toBe('403 FORBIDDEN');
    expect(await search('pairs', ['Abc,1'])).toBe('200 no error');
    expect(await search('pairs', ['abc,1'])).toBe('403 FORBIDDEN');
  });

  it('does not make results of functions equal', async () => {
    const found = async (having: object) => {
      const query = `groupBy=id&having=${encodeURIComponent(JSON.stringify(having))}`;
      return (await project.admin(`/items/samples?${query}`)).json.data.map(({ id }: { id: number }) => id);
    };
    expect(await found({ max: { folded: { _eq: 'abé' } } })).toEqual([]);
    expect(await found({ max: { folded: { _neq: 'abé' } } })).toEqual([1, 2]);
    expect(await found({ min: { folded: { _in: ['Abé', 'abe'] } } })).toEqual([1]);
    expect(await found({ count: { folded: { _eq: 1 } } })).toEqual([1, 2]);
  });

  it('does not make elements of arrays equal', async () => {
    expect(await ids({ several: { _has: 'Abé' } })).toEqual([1]);
    expect(await ids({ several: { _has: 'abé' } })).toEqual([]);
    expect(await ids({ several: { _eq: ['abé'] } })).toEqual([]);
  });
});

it('takes null in a query string as text, except where it cannot be', async () => {
  const list = async (query: string) => (await project.admin(`/items/samples?fields=id&${query}`)).json.data;
  expect(await list('filter[plain]=null')).toEqual([]);
  expect(await list('filter[nothing]=null')).toEqual([]);
  expect(await list('filter[id]=null')).toEqual([]);
  expect(failure(await project.admin('/items/samples?filter[id][_gt]=null'))).toBe('400 INVALID_QUERY');
});
