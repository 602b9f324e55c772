/** Lists whose related items are aggregated, asked with their parameters as JSON. */
export const nestedAggregates: readonly (readonly [collection: string, query: Record<string, unknown>])[] = [
  ['articles', { fields: 'id,comments', deep: { comments: { _aggregate: { count: '*' } } } }],
  [
    'articles',
    {
      fields: 'id,comments',
      deep: {
        comments: {
          _aggregate: { count: ['id', 'author_name'], countDistinct: 'author_name', min: 'created_at', sum: 'id' },
        },
      },
    },
  ],
  [
    'articles',
    { fields: 'id,comments', deep: { comments: { _group: 'author_name', _aggregate: { count: '*', max: 'id' } } } },
  ],
  [
    'articles',
    {
      fields: 'id,comments',
      deep: {
        comments: {
          _group: ['year(created_at)', 'author_name'],
          _aggregate: { count: '*', max: ['body', 'id'] },
          _sort: ['-count', '-author_name'],
          _limit: 1,
          _offset: 1,
          _filter: { body: { _neq: 'far' } },
        },
      },
    },
  ],
  [
    'articles',
    {
      fields: 'id,comments',
      deep: {
        comments: { _group: 'author_name', _aggregate: { count: '*' }, _having: { max: { id: { _gt: 1, _lt: 5 } } } },
      },
    },
  ],
  [
    'articles',
    {
      fields: 'id,comments',
      deep: { comments: { _aggregate: { count: '*' }, _having: { count: { _gt: 1 }, min: { id: { _lt: 9 } } } } },
    },
  ],
  ['articles', { fields: 'id,comments', deep: { comments: { _aggregate: { count: '*' }, _limit: 17, _offset: 1 } } }],
  ['articles', { fields: 'id,comments', deep: { comments: { _group: 'author_name', _limit: 17, _page: 1 } } }],
  ['articles', { fields: 'id,comments', deep: { comments: { _group: 'author_name', _search: 'Nice' } } }],
  [
    'articles',
    {
      fields: 'id,comments.id,named',
      alias: { named: 'comments' },
      deep: { named: { _group: 'author_name', _aggregate: { count: '*' } }, comments: { _limit: 1 } },
    },
  ],
  ['articles', { fields: 'id,tags', deep: { tags: { _aggregate: { count: '*', max: 'name' } } } }],
  [
    'articles',
    {
      fields: 'id,tags',
      sort: '-id',
      limit: 3,
      deep: { tags: { _group: ['count(articles)'], _aggregate: { countAll: '*', min: 'name' } } },
    },
  ],
  [
    'articles',
    {
      fields: 'id,sections',
      deep: {
        sections: {
          _group: 'collection',
          _aggregate: { count: '*', countDistinct: 'item', min: 'sort' },
          _sort: '-count',
        },
      },
    },
  ],
  [
    'articles',
    {
      fields: 'id,sections',
      deep: { sections: { _aggregate: { count: '*' }, _filter: { 'item:headings': { text: 'Below' } } } },
    },
  ],
  ['articles', { fields: 'id,reviews', deep: { reviews: { _group: 'reviewer', _aggregate: { sum: 'stars' } } } }],
  [
    'authors',
    {
      fields: 'id,articles.id,articles.comments',
      deep: { articles: { comments: { _group: 'author_name', _aggregate: { count: '*' } } } },
    },
  ],
  [
    'authors',
    {
      fields: 'id,articles',
      deep: {
        articles: {
          _group: 'status',
          _aggregate: { sum: ['views', 'rating'], avg: 'views', countDistinct: 'title' },
          _sort: '-sum.views',
        },
      },
    },
  ],
  [
    'authors',
    {
      fields: 'id,articles',
      deep: { articles: { _aggregate: { sum: ['views', 'rating'], avg: 'views', max: 'title' } } },
    },
  ],
  [
    'authors',
    { fields: 'id,articles', deep: { articles: { _group: ['count(comments)'], _aggregate: { count: 'title' } } } },
  ],
  ['countries', { fields: 'code,authors', deep: { authors: { _aggregate: { count: '*' } } } }],
  ['countries', { fields: 'code,authors', deep: { authors: { _group: 'name' } } }],
];
