/** Writes that are asked of both servers, one after another. */

/** Method, path, body and headers. */
export type Step = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];

const uuid = (last: number): string => `00000000-0000-4000-8000-00000000000${last}`;
const far = '9007199254740993';

/** What an administrator writes. Keys are generated for one item or three: MariaDB takes one, two and four at once. */
export const written: Readonly<Record<string, readonly Step[]>> = {
  'items of one table': [
    ['POST', '/items/countries', [{ code: 'de', name: 'Germany' }, { code: 'fr', name: 'France' }, { code: 'se' }]],
    ['POST', '/items/authors', { name: 'Ann', country: 'de', joined_on: '2020-02-29' }],
    ['POST', '/items/authors', [{ name: 'Åsa', country: 'se' }, { name: 'Bob' }, { name: 'Zoë 🎈', joined_on: null }]],
    ['POST', '/items/articles', { title: 'First' }],
    [
      'POST',
      '/items/articles?fields=id,author_id.name,title',
      { title: 'Second', author_id: 1, views: 5, flag: false },
    ],
    [
      'POST',
      '/items/articles',
      [
        { title: 'Third', status: 'published', settings: { a: [1, 'two', null], b: '"\\' } },
        { title: 'Fourth', views: 9, rating: '4.5', published_at: '2026-01-02T03:04:05.678+01:00' },
        { title: 'Fifth', flag: null, settings: null, author_id: 2 },
      ],
    ],
    ['POST', '/items/pictures', { id: far, file: 'it\'s \\ "q"\nnew' }],
    ['POST', '/items/headings', { id: 0, text: 'Zero' }],
    ['PATCH', '/items/headings/0', { text: 'none' }],
    ['PATCH', '/items/headings/0', { text: 'any' }, { 'If-Match': '*' }],
    [
      'POST',
      '/items/tags',
      [
        { id: uuid(1), name: 'red' },
        { id: uuid(2).toUpperCase(), name: 'blue' },
      ],
    ],
    [
      'POST',
      '/items/reviews',
      [
        { reviewer: 'b,c', article_id: 1, stars: 5 },
        { reviewer: 'ann', article_id: 2, stars: -32768 },
      ],
    ],
    ['POST', '/items/articles', []],
    ['POST', '/items/sections', {}],
    ['POST', '/items/sections', [{}, { sort: 3 }, {}]],
    ['PATCH', '/items/articles/1', { title: 'First!', views: 3 }],
    ['PATCH', '/items/articles/4?fields=id,title,author_id.country.name', { author_id: 1 }],
    ['PATCH', '/items/articles/2', {}],
    ['PATCH', '/items/articles', { keys: [1, 2, 3], data: { rating: '1.25', author_id: null } }],
    [
      'PATCH',
      '/items/articles',
      [
        { id: 3, title: 'Three' },
        { id: 1, views: 8, flag: false },
        { id: 2, settings: [] },
      ],
    ],
    [
      'PATCH',
      '/items/articles?fields=id,views',
      { query: { filter: { views: { _gt: 4 } }, sort: '-views,id', limit: 2 }, data: { views: 50 } },
    ],
    ['PATCH', '/items/articles', { query: { filter: { id: { _eq: 77 } } }, data: { views: 50 } }],
    ['PATCH', '/items/reviews/b%2Cc,1', { stars: 4 }],
    [
      'PATCH',
      '/items/reviews',
      [
        { reviewer: 'ann', article_id: 2, stars: 1 },
        { reviewer: 'b,c', article_id: 1, stars: 2 },
      ],
    ],
    ['PATCH', `/items/tags/${uuid(1)}`, { name: 'Red' }],
    ['PATCH', '/items/countries/fr', { name: 'La France' }],
    ['DELETE', '/items/reviews/ann,2'],
    ['DELETE', '/items/articles', { query: { filter: { title: { _eq: 'Fourth' } } } }],
    ['DELETE', '/items/articles', [5]],
    ['DELETE', '/items/countries', { keys: ['fr'] }],
    ['PATCH', '/items/settings', { title: 'Mine' }],
    ['PATCH', '/items/settings', { shown: false }],
  ],
  'values of every type': [
    [
      'POST',
      '/items/kinds',
      {
        id: 1,
        flag: true,
        small: -32768,
        large: '9223372036854775807',
        exact: '12345678.9012',
        approx: 0.1,
        day: '2026-02-28',
        moment: '23:59:59.12',
        happened: '2026-01-02T03:04:05.123456',
        changed: '2026-01-02T03:04:05.1-05:30',
        words: 'it\'s "quoted" \\ 🎈',
        body: 'line\nbreak\ttab',
        document: { deep: { list: [1, 'two', null, true] } },
        raw: 'AP8Q',
        token: '0F8FAD5B-D9CB-469F-A165-70867728950E',
      },
    ],
    ['POST', '/items/kinds', { id: 2 }],
    [
      'POST',
      '/items/kinds',
      [
        { id: 3, flag: false, approx: 12345678.5, raw: '', document: 'text' },
        { id: 4, large: -1, moment: '00:00:00' },
      ],
    ],
    [
      'PATCH',
      '/items/kinds/2',
      { flag: false, raw: 'AAEC', approx: -2.5, changed: '2000-01-01T00:00:00Z', exact: '-0.5', document: [] },
    ],
    [
      'PATCH',
      '/items/kinds',
      [
        { id: 3, approx: 0.3, token: '0f8fad5b-d9cb-469f-a165-70867728950f' },
        { id: 4, raw: 'EBES', day: '1999-12-31', words: '' },
        { id: 1, large: 5, flag: false },
      ],
    ],
    ['PATCH', '/items/kinds', { keys: [1, 4], data: { happened: '2024-02-29T12:30:00.5', small: null } }],
    ['DELETE', '/items/kinds', { query: { filter: { flag: { _eq: false } }, sort: '-id', limit: 1 } }],
  ],
  'keys of bytes': [
    ['POST', '/items/prints', { code: 'AP8Q', name: 'one', seal: 'AAEC' }],
    ['POST', '/items/prints', [{ code: 'EBES' }, { code: '/w==', name: 'three', seal: '' }]],
    ['GET', '/items/prints/AP8Q'],
    ['PATCH', '/items/prints/EBES', { name: 'two', seal: '//8=' }],
    ['PATCH', '/items/prints', { keys: ['AP8Q', 'EBES'], data: { seal: 'AQ==' } }],
    [
      'PATCH',
      '/items/prints',
      [
        { code: 'AP8Q', name: 'first' },
        { code: 'EBES', seal: 'Ag==' },
      ],
    ],
    [
      'POST',
      '/items/print_notes',
      [
        { id: 1, print: 'AP8Q' },
        { id: 2, print: { code: 'AAAA', name: 'four' } },
      ],
    ],
    ['GET', '/items/print_notes?fields=id,print.name,print.code&sort=id'],
    ['DELETE', '/items/prints', ['EBES']],
  ],
  'items that others hold': [
    [
      'POST',
      '/items/articles',
      { title: 'With author', author_id: { name: 'New', country: { code: 'it', name: 'Italy' } } },
    ],
    ['POST', '/items/articles', { title: 'Known author', author_id: { id: 1, joined_on: '2021-01-01' } }],
    [
      'POST',
      '/items/articles',
      [
        { title: 'a', author_id: { name: 'Same' } },
        { title: 'b', author_id: 1 },
        { title: 'c', author_id: { id: 2, country: 'de' } },
      ],
    ],
    ['PATCH', '/items/articles/1', { author_id: { id: 3, name: 'Rob' } }],
    ['PATCH', '/items/articles/1', { author_id: { name: 'Newer' } }],
    ['PATCH', '/items/articles/1', { author_id: null }],
    ['POST', '/items/articles', { title: 'Far key', author_id: { id: 4, name: 'Nine' } }],
  ],
  'children of items': [
    ['POST', '/items/articles', { title: 'Parent', comments: [{ body: 'one' }, { body: 'two' }, { body: 'three' }] }],
    ['PATCH', '/items/articles/1', { comments: [{ body: 'x' }] }],
    ['PATCH', '/items/articles/1', { notes: [{ id: 1, body: 'n1' }, { id: 2, body: 'n2' }, { id: 3 }] }],
    ['PATCH', '/items/articles/1', { notes: [2, { id: 3, body: 'kept' }] }],
    [
      'PATCH',
      '/items/articles/2',
      { notes: { create: [{ id: 4, body: 'new' }], update: [{ id: 1, body: 'moved' }], delete: [] } },
    ],
    ['PATCH', '/items/articles/2', { notes: { delete: [4] } }],
    [
      'PATCH',
      '/items/articles',
      [
        { id: 2, notes: [1, 2] },
        { id: 3, notes: [{ id: 7, body: 'seven' }] },
      ],
    ],
    ['PATCH', '/items/articles/2', { notes: [] }],
    [
      'POST',
      '/items/categories',
      {
        id: 1,
        name: 'root',
        categories: [
          { id: 2, name: 'left', categories: [{ id: 3, name: 'leaf' }] },
          { id: 4, name: 'right' },
        ],
      },
    ],
    [
      'PATCH',
      '/items/categories/1',
      { categories: { update: [{ id: 2, categories: { create: [{ id: 5, name: 'below' }] } }] } },
    ],
    ['PATCH', '/items/categories/1', { categories: [4] }],
    ['POST', '/items/hens', { id: 1, name: 'hen', egg_id: { id: 1, name: 'egg', hen_id: 1 } }],
    [
      'POST',
      '/items/hens',
      [
        { id: 2, eggs: [{ id: 2 }], egg_id: 2 },
        { id: 3, egg_id: { id: 3, hen_id: { id: 2 } } },
      ],
    ],
  ],
  'items that are joined': [
    ['POST', '/items/articles', { title: 'Joined', tags: [uuid(1), { id: uuid(3), name: 'new' }] }],
    ['PATCH', '/items/articles/2', { tags: [uuid(1), uuid(2)] }],
    ['PATCH', '/items/articles/2', { tags: [uuid(2), { id: uuid(4), name: 'four' }] }],
    ['PATCH', '/items/articles/2', { tags: { create: [{ id: uuid(6), name: 'six' }], delete: [uuid(2)] } }],
    ['PATCH', '/items/articles', { keys: [1, 2, 3], data: { tags: [uuid(3), { id: uuid(1), name: 'RED' }] } }],
    [
      'PATCH',
      '/items/articles/2?fields=id,tags.name,tags.id',
      { tags: { update: [{ id: uuid(3), name: 'renamed' }] } },
    ],
    ['PATCH', '/items/articles/3', { tags: [] }],
    ['POST', '/items/tags', { id: uuid(5), name: 'five', articles: [1, { title: 'By tag' }] }],
    [
      'PATCH',
      '/items/articles/1',
      {
        sections: [
          { collection: 'headings', item: { id: 1, text: 'On top' } },
          { collection: 'pictures', item: { id: 7, file: 'seven.png' } },
          { collection: 'headings', item: 0 },
        ],
      },
    ],
    [
      'PATCH',
      '/items/articles/1',
      { sections: { update: [{ id: 5, collection: 'headings', item: { id: 1, text: 'Changed' } }], delete: [6] } },
    ],
    ['PATCH', '/items/articles/1', { sections: [7] }],
  ],
  'items by unique keys': [
    [
      'POST',
      '/items/countries?on_conflict=code',
      [
        { code: 'de', name: 'Deutschland' },
        { code: 'xx', name: 'New' },
      ],
    ],
    ['POST', '/items/authors?on_conflict=name', { name: 'Ann', country: 'it' }],
    ['POST', '/items/authors?on_conflict=name', [{ name: 'Ann', joined_on: '2000-01-01' }, { name: 'Upserted' }]],
    [
      'POST',
      '/items/reviews?on_conflict=reviewer,article_id',
      [
        { reviewer: 'b,c', article_id: 1, stars: 1 },
        { reviewer: 'd', article_id: 2, stars: 3 },
      ],
    ],
    ['POST', `/items/tags?on_conflict=id`, { id: uuid(1), name: 'red again' }],
  ],
};

/** What an administrator is refused, with nothing left of it. */
export const refused: readonly Step[] = [
  ['POST', '/items/sections', { collection: 'authors', item: '1' }],
  [
    'POST',
    '/items/sections',
    [
      { collection: 'headings', item: '1' },
      { collection: 'authors', item: '1' },
    ],
  ],
  ['POST', '/items/sections', { collection: 'Headings', item: '1' }],
  ['POST', '/items/sections?on_conflict=id', { id: 1, collection: 'authors', item: '1' }],
  ['PATCH', '/items/sections', { query: {}, data: { collection: 'articles' } }],
  ['POST', '/items/authors', { name: 'Ann' }],
  [
    'POST',
    '/items/authors',
    [
      { id: 70, name: 'Fresh' },
      { id: 71, name: 'Ann' },
    ],
  ],
  ['POST', '/items/countries', { code: 'de' }],
  ['POST', '/items/articles', { id: 500, title: 'x', author_id: 12345 }],
  ['PATCH', '/items/articles/1', { author_id: 12345 }],
  ['POST', '/items/articles', { id: 500 }],
  ['POST', '/items/articles', { id: 500, title: null }],
  ['POST', '/items/articles', { id: 500, title: 'x'.repeat(51) }],
  ['POST', '/items/articles', { id: 500, title: 'x', views: -1 }],
  ['PATCH', '/items/articles/1', { views: -1 }],
  ['POST', '/items/articles', { id: 500, title: 'x', views: 'many' }],
  ['POST', '/items/articles', { id: 500, title: 'x', rating: '12345.5' }],
  ['POST', '/items/articles', { id: 500, title: 'x', nothing: 1 }],
  ['POST', '/items/reviews', { reviewer: 'e', article_id: 1, stars: 40000 }],
  ['PATCH', '/items/articles/4711', { title: 'x' }],
  ['PATCH', '/items/articles', { keys: [1, 4711], data: { title: 'lost' } }],
  [
    'PATCH',
    '/items/articles',
    [
      { id: 1, title: 'lost' },
      { id: 4711, title: 'x' },
    ],
  ],
  ['DELETE', '/items/articles/1'],
  ['DELETE', '/items/articles/4711'],
  ['DELETE', '/items/articles', [1, 4711]],
  ['DELETE', '/items/countries/it'],
  ['POST', '/items/articles', { id: 500, title: 'x', comments: [{ body: 'kept?' }, { body: null }] }],
  [
    'POST',
    '/items/articles',
    { id: 500, title: 'x', author_id: { id: 80, name: 'Ann' }, tags: [{ id: uuid(9), name: 'z' }] },
  ],
  [
    'POST',
    '/items/articles',
    {
      id: 500,
      title: 'x',
      tags: [
        { id: uuid(9), name: 'new' },
        { id: uuid(8), name: 'renamed' },
      ],
    },
  ],
  ['POST', '/items/articles', { id: 500, title: 'x', notes: [{ id: 900, body: 'x'.repeat(31) }] }],
  ['PATCH', '/items/articles/1', { notes: { delete: [4711] } }],
  ['PATCH', '/items/articles/2', { articles_tags: { delete: ['2,4711'] } }],
  ['POST', '/items/kinds', { id: 90, day: '2026-02-30' }],
  ['PATCH', '/items/settings', { title: 'x'.repeat(51) }],
  ['PATCH', '/items/headings/0', { text: 'stale' }, { 'If-Match': '"stale"' }],
];

/** What visitors write under rules: some of it is refused. */
export const visitors: readonly Step[] = [
  ['POST', '/items/seats', { number: 1, title: 'one' }],
  [
    'POST',
    '/items/seats?fields=*',
    [
      { number: 3, title: 'three' },
      { number: 2, title: 'two' },
    ],
  ],
  ['POST', '/items/seats', { number: 1, title: 'again' }],
  ['POST', '/items/numbered', { title: 'one' }],
  ['POST', '/items/numbered?fields=id,title', [{ title: 'two' }, { title: 'three' }]],
  ['POST', '/items/authors', { id: 200, name: 'Abc', country: 'de' }],
  ['POST', '/items/authors', { id: 201, name: 'Xyz', country: 'de' }],
  [
    'POST',
    '/items/authors',
    [
      { id: 202, name: 'Abd', country: 'it' },
      { id: 203, name: 'Bcd' },
      { id: 204, name: 'Cde' },
    ],
  ],
  ['POST', '/items/authors', { id: 205, name: 'Aaa', country: 'it' }],
  ['POST', '/items/articles', { id: 600, title: 'By a visitor' }],
  [
    'POST',
    '/items/articles',
    [
      { id: 601, title: 'one', views: 3 },
      { id: 602, title: 'two', status: 'published' },
    ],
  ],
  ['POST', '/items/articles', { id: 603, title: 'linked', author_id: 200 }],
  ['POST', '/items/articles', { id: 604, title: 'hidden link', author_id: 205 }],
  ['POST', '/items/articles', { id: 605, title: 'x', owner: 'me' }],
  ['PATCH', '/items/articles/600', { title: 'Changed' }],
  ['PATCH', '/items/articles/600', { views: 50 }],
  ['PATCH', '/items/articles/600', { views: 150 }],
  ['PATCH', '/items/articles/600', { title: 'both', status: 'draft' }],
  ['PATCH', '/items/articles/602', { status: 'closed' }],
  ['PATCH', '/items/articles', { keys: [600, 601], data: { views: 4, title: 'both' } }],
  ['PATCH', '/items/articles', { keys: [600, 601], data: { views: 400 } }],
  ['PATCH', '/items/articles', { keys: [600, 601], data: { status: 'published' } }],
  ['PATCH', '/items/articles', { query: { filter: { id: { _gte: 600 } } }, data: { title: 'by query' } }],
  ['PATCH', '/items/articles/1', { title: 'not mine' }],
  ['POST', '/items/comments', { id: 300, article_id: 600, body: 'good' }],
  [
    'POST',
    '/items/comments',
    [
      { id: 301, article_id: 600, body: 'spam' },
      { id: 302, article_id: 601, body: 'fine' },
    ],
  ],
  ['PATCH', '/items/comments/300', { body: 'better' }],
  [
    'PATCH',
    '/items/comments',
    [
      { id: 300, body: 'x' },
      { id: 1, body: 'foreign' },
    ],
  ],
  [
    'PATCH',
    '/items/articles/600',
    {
      comments: [
        { id: 303, body: 'child' },
        { id: 300, body: 'kept spam' },
      ],
    },
  ],
  ['PATCH', '/items/articles/600', { comments: { delete: [300] } }],
  ['DELETE', '/items/comments/301'],
  ['DELETE', '/items/comments/1'],
  ['DELETE', '/items/comments', { query: { filter: { id: { _gte: 300 } } } }],
  ['DELETE', '/items/articles/603'],
  ['DELETE', '/items/articles/602'],
  ['PATCH', '/items/notes', { query: {}, data: { body: 'all' } }],
  ['DELETE', '/items/notes', { query: { filter: { id: { _gt: 2 } } } }],
  ['PATCH', '/items/categories/2', { name: 'renamed' }],
  ['PATCH', '/items/categories', { keys: [1, 4], data: { name: 'same' } }],
  ['DELETE', '/items/categories/4'],
  ['DELETE', '/items/categories/1'],
  ['PATCH', '/items/settings', { title: 'no' }],
  ['POST', '/items/prints', { code: 'q80=', name: 'sealed' }],
  ['POST', '/items/prints', [{ code: 'q80B', name: 'sealed' }, { code: 'q80C' }]],
  ['PATCH', '/items/prints/q80B', { name: 'again' }],
  [
    'PATCH',
    '/items/prints',
    [
      { code: 'q80=', name: 'x' },
      { code: 'q80C', name: 'y' },
    ],
  ],
];

const many = (length: number, from: number) => Array.from({ length }, (_, n) => ({ id: from + n, body: `n${n}` }));

/** Writes whose statements are counted, and how many there may be. */
export const counted: readonly (readonly [what: string, step: Step, most: number])[] = [
  ['one item', ['POST', '/items/notes', { id: 1000, body: 'one' }], 4],
  ['1,000 items', ['POST', '/items/notes?fields=id', many(1_000, 2_000)], 4],
  ['a change of one', ['PATCH', '/items/notes/1000', { body: 'two' }], 4],
  ['changes of 1,000', ['PATCH', '/items/notes?fields=id', many(1_000, 2_000).map(({ id }) => ({ id, body: 'x' }))], 4],
  [
    'a parent with 500 children',
    ['POST', '/items/articles?fields=title', { id: 4000, title: 'many', notes: many(500, 5_000) }],
    7,
  ],
  ['a removal by query', ['DELETE', '/items/notes', { query: { filter: { id: { _gte: 1_000 } } } }], 4],
];
