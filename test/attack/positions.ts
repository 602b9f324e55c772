/**
 * Every position of a request that takes a name, of the magazine as the public reads it. A parameter that gets a new
 * position gets a line here; a parameter without any is missed by names.test.ts.
 */
import type { Shot } from '../support/swarm.ts';

/** One position. */
export interface Position {
  /** The parameter: one of the query language, `deep.<key>`, or `path` and `body` for what is not in the query. */
  readonly parameter: string;
  /** The collection whose fields and relations stand here, `*` where those of several do; null for collections. */
  readonly level: string | null;
  /** A name that the public reads here, and that is answered 200. */
  readonly known: string;
  readonly shot: (name: string) => Shot;
}

const text = encodeURIComponent;
const json = (value: unknown): string => text(JSON.stringify(value));

type Written = readonly [level: string | null, known: string, write: (name: string) => string];

/** Positions in the query string of a list, of one item, and in the query of a SEARCH. */
const inQuery: Readonly<Record<string, readonly Written[]>> = {
  fields: [
    ['articles', 'title', (name) => `fields=${text(name)}`],
    ['articles', 'author_id', (name) => `fields=id,${text(name)}.id`],
    ['articles', 'comments', (name) => `fields[]=${text(name)}.*`],
    ['articles', 'comments', (name) => `fields=${json(['id', `${name}.id`])}`],
    ['articles', 'title', (name) => `fields=*,${text(name)}`],
    ['articles', 'published_at', (name) => `fields=year(${text(name)})`],
    ['articles', 'comments', (name) => `fields=count(${text(name)})`],
    ['authors', 'name', (name) => `fields=author_id.${text(name)}`],
    ['comments', 'body', (name) => `fields=comments.${text(name)},title`],
    ['comments', 'created_at', (name) => `fields=comments.minute(${text(name)})`],
    ['comments', 'article_id', (name) => `fields=comments.${text(name)}.title`],
    ['tags', 'name', (name) => `fields=tags.${text(name)}`],
    ['articles', 'title', (name) => `fields=tags.articles.${text(name)}`],
    ['articles', 'tags', (name) => `fields=tags.articles.count(${text(name)})`],
    ['*', 'title', (name) => `fields=*.${text(name)}`],
    ['*', 'title', (name) => `fields=*.*.${text(name)}`],
    ['*', 'name', (name) => `fields=author_id.*.${text(name)}`],
    ['sections', 'sort', (name) => `fields=sections.${text(name)}`],
    [null, 'section_headings', (name) => `fields=sections.item:${text(name)}.id`],
    [null, 'section_headings', (name) => `fields=sections.item:${text(name)}.*`],
    ['section_headings', 'level', (name) => `fields=sections.item:section_headings.${text(name)}`],
    ['*', 'level', (name) => `fields=sections.item.${text(name)}`],
  ],
  filter: [
    ['articles', 'title', (name) => `filter[${text(name)}][_eq]=1`],
    ['articles', 'title', (name) => `filter[${text(name)}]=1`],
    ['articles', 'title', (name) => `filter[${text(name)}][_null]=true`],
    ['articles', 'views', (name) => `filter=${json({ [name]: { _gt: 1 } })}`],
    ['articles', 'title', (name) => `filter=${json({ [name]: null })}`],
    ['articles', 'title', (name) => `filter=${json({ [name]: { _or: [{ _eq: 'a' }, { _null: true }] } })}`],
    ['articles', 'title', (name) => `filter=${json({ _or: [{ id: 1 }, { _and: [{ [name]: null }] }] })}`],
    ['articles', 'author_id', (name) => `filter=${json({ [name]: { id: { _eq: 1 } } })}`],
    ['articles', 'comments', (name) => `filter=${json({ [name]: {} })}`],
    ['articles', 'comments', (name) => `filter=${json({ [name]: { _some: { id: 1 } } })}`],
    ['articles', 'tags', (name) => `filter=${json({ [name]: { _none: { id: 1 } } })}`],
    ['articles', 'published_at', (name) => `filter=${json({ [`year(${name})`]: { _eq: 1 } })}`],
    ['articles', 'comments', (name) => `filter[count(${text(name)})][_eq]=1`],
    ['authors', 'name', (name) => `filter[author_id][${text(name)}][_starts_with]=a`],
    ['comments', 'body', (name) => `filter=${json({ comments: { [name]: { _contains: 'x' } } })}`],
    ['comments', 'body', (name) => `filter=${json({ comments: { _none: { [name]: { _neq: 'x' } } } })}`],
    ['comments', 'created_at', (name) => `filter=${json({ comments: { _some: { [`hour(${name})`]: 1 } } })}`],
    ['articles', 'title', (name) => `filter=${json({ tags: { articles: { [name]: { _contains: 'x' } } } })}`],
    [
      'articles',
      'tags',
      (name) => `filter=${json({ tags: { _none: { 'count(articles)': 1, articles: { [name]: {} } } } })}`,
    ],
    [null, 'section_headings', (name) => `filter=${json({ sections: { [`item:${name}`]: { id: 1 } } })}`],
    [null, 'section_headings', (name) => `filter=${json({ sections: { _none: { [`item:${name}`]: {} } } })}`],
    [
      'section_headings',
      'text',
      (name) => `filter=${json({ sections: { 'item:section_headings': { [name]: '1' } } })}`,
    ],
    ['sections', 'collection', (name) => `filter=${json({ sections: { [name]: { _nnull: true } } })}`],
  ],
  sort: [
    ['articles', 'title', (name) => `sort=${text(name)}`],
    ['articles', 'title', (name) => `sort=-${text(name)},id`],
    ['articles', 'title', (name) => `sort=${text(name)}&cursor=`],
    ['authors', 'name', (name) => `sort=author_id.${text(name)}&cursor=`],
    ['articles', 'title', (name) => `sort[]=id&sort[]=${text(name)}`],
    ['articles', 'author_id', (name) => `sort=${text(name)}.id`],
    ['articles', 'published_at', (name) => `sort=year(${text(name)})`],
    ['articles', 'comments', (name) => `sort=-count(${text(name)})`],
    ['authors', 'name', (name) => `sort=author_id.${text(name)}`],
    ['categories', 'articles', (name) => `sort=category_id.count(${text(name)})`],
    ['articles', 'status', (name) => `groupBy=status&sort=${text(name)}`],
    ['articles', 'views', (name) => `aggregate[count]=*&sort=sum.${text(name)}`],
  ],
  aggregate: [
    ...['count', 'countDistinct', 'min', 'max', 'sum', 'sumDistinct', 'avg', 'avgDistinct'].map(
      (call): Written => ['articles', 'views', (name) => `aggregate[${call}]=${text(name)}`],
    ),
    ['articles', 'views', (name) => `aggregate[min]=id,${text(name)}&groupBy=status`],
    ['articles', 'views', (name) => `aggregate=${json({ max: [name] })}`],
  ],
  groupBy: [
    ['articles', 'status', (name) => `groupBy=${text(name)}`],
    ['articles', 'status', (name) => `groupBy[]=id&groupBy[]=${text(name)}`],
    ['articles', 'published_at', (name) => `groupBy=year(${text(name)})`],
    ['articles', 'comments', (name) => `groupBy=count(${text(name)})&aggregate[count]=*`],
  ],
  having: [
    ['articles', 'views', (name) => `groupBy=status&having=${json({ sum: { [name]: { _gt: 1 } } })}`],
    ['articles', 'views', (name) => `groupBy=status&having[max][${text(name)}][_null]=true`],
    ['articles', 'views', (name) => `aggregate[count]=*&having=${json({ _or: [{ countDistinct: { [name]: 1 } }] })}`],
  ],
  alias: [
    ['articles', 'title', (name) => `alias[x]=${text(name)}`],
    ['articles', 'title', (name) => `alias[x]=${text(name)}&fields=x`],
    ['articles', 'comments', (name) => `alias=${json({ x: name })}&fields=x.id`],
    ['articles', 'comments', (name) => `alias[x]=${text(name)}&fields=x&deep[x][_limit]=1`],
    ['articles', 'zzz', (name) => `alias[${text(name)}]=title&fields=${text(name)}`],
  ],
  'deep.': [
    ['articles', 'comments', (name) => `deep[${text(name)}][_limit]=1&fields=id`],
    ['articles', 'comments', (name) => `deep[${text(name)}][_filter][id]=1`],
    ['articles', 'comments', (name) => `fields=comments.id&deep=${json({ [name]: {} })}`],
    ['comments', 'article_id', (name) => `deep[comments][${text(name)}][_limit]=1`],
    ['articles', 'tags', (name) => `deep=${json({ tags: { articles: { [name]: { _limit: 1 } } } })}`],
    [null, 'section_headings', (name) => `deep=${json({ sections: { [`item:${name}`]: { _limit: 1 } } })}`],
  ],
  'deep._filter': [
    ['comments', 'body', (name) => `fields=comments.id&deep[comments][_filter][${text(name)}][_eq]=1`],
    ['comments', 'body', (name) => `deep=${json({ comments: { _filter: { _or: [{ [name]: { _null: true } }] } } })}`],
    ['articles', 'title', (name) => `deep=${json({ comments: { _filter: { article_id: { [name]: 'x' } } } })}`],
    ['comments', 'created_at', (name) => `deep=${json({ comments: { _filter: { [`year(${name})`]: 1 } } })}`],
    [
      'section_headings',
      'text',
      (name) => `deep=${json({ sections: { 'item:section_headings': { _filter: { [name]: 'x' } } } })}`,
    ],
    [null, 'section_headings', (name) => `deep=${json({ sections: { _filter: { [`item:${name}`]: {} } } })}`],
  ],
  'deep._sort': [
    ['comments', 'body', (name) => `fields=comments&deep[comments][_sort]=${text(name)}`],
    ['comments', 'created_at', (name) => `deep[comments][_sort]=-month(${text(name)}),id`],
    ['articles', 'title', (name) => `deep=${json({ comments: { _sort: [`article_id.${name}`] } })}`],
  ],
  'deep._aggregate': [
    ['comments', 'id', (name) => `fields=comments&deep[comments][_aggregate][max]=${text(name)}`],
    ['comments', 'id', (name) => `deep=${json({ comments: { _aggregate: { countDistinct: ['id', name] } } })}`],
    ['articles', 'views', (name) => `deep=${json({ tags: { articles: { _aggregate: { sum: name } } } })}`],
  ],
  'deep._group': [
    ['comments', 'body', (name) => `fields=comments&deep[comments][_group]=${text(name)}`],
    ['comments', 'created_at', (name) => `deep=${json({ comments: { _group: [`year(${name})`] } })}`],
    ['articles', 'comments', (name) => `fields=tags.articles&deep[tags][articles][_group]=count(${text(name)})`],
  ],
  'deep._having': [
    [
      'comments',
      'id',
      (name) => `deep=${json({ comments: { _group: 'id', _having: { max: { [name]: { _gt: 1 } } } } })}`,
    ],
  ],
};

/** Positions beside the query. */
const beside: readonly Position[] = [
  ...['', '/1', '?limit=0&meta=*', '?fields=id', '/1?fields=id'].map(
    (rest): Position => ({
      parameter: 'path',
      level: null,
      known: 'tags',
      shot: (name) => ({ path: `/items/${text(name)}${rest}` }),
    }),
  ),
  ...['', '{}', '{"keys":[1]}', '{"query":{"limit":1}}'].map(
    (body): Position => ({
      parameter: 'path',
      level: null,
      known: 'tags',
      shot: (name) => ({ path: `/items/${text(name)}`, method: 'SEARCH', body }),
    }),
  ),
  ...['OPTIONS', 'HEAD'].map(
    (method): Position => ({
      parameter: 'path',
      level: null,
      known: 'tags',
      shot: (name) => ({ path: `/items/${text(name)}`, method }),
    }),
  ),
  {
    parameter: 'body',
    level: 'articles_tags',
    known: 'article_id',
    shot: (name) => search('articles_tags', { keys: [{ [name]: '1', tag_id: 14 }] }),
  },
];

function search(collection: string, body: unknown): Shot {
  return { path: `/items/${collection}`, method: 'SEARCH', body: JSON.stringify(body) };
}

/** Positions of a query whose value is native JSON. */
const inBody: readonly (readonly [
  parameter: string,
  level: string,
  known: string,
  query: (name: string) => unknown,
])[] = [
  ['fields', 'articles', 'title', (name) => ({ fields: ['id', name] })],
  ['fields', 'authors', 'name', (name) => ({ fields: [`author_id.${name}`] })],
  ['filter', 'articles', 'views', (name) => ({ filter: { [name]: { _in: [1, 2] } } })],
  ['filter', 'comments', 'body', (name) => ({ filter: { comments: { _some: { [name]: { _in: [] } } } } })],
  ['sort', 'articles', 'title', (name) => ({ sort: [name] })],
  ['aggregate', 'articles', 'views', (name) => ({ aggregate: { sum: [name] } })],
  ['groupBy', 'articles', 'status', (name) => ({ groupBy: [name] })],
  ['having', 'articles', 'views', (name) => ({ aggregate: { count: '*' }, having: { min: { [name]: { _lt: 5 } } } })],
  ['alias', 'articles', 'title', (name) => ({ alias: { x: name }, fields: ['x'] })],
  ['deep.', 'articles', 'comments', (name) => ({ deep: { [name]: { _limit: 1 } } })],
  ['deep._filter', 'comments', 'body', (name) => ({ deep: { comments: { _filter: { [name]: 'x' } } } })],
  ['deep._sort', 'comments', 'body', (name) => ({ deep: { comments: { _sort: [name] } } })],
  ['export', 'articles', 'title', (name) => ({ export: 'json', fields: [name] })],
];

/** What also applies to the read of one item. */
const byKey: ReadonlySet<string> = new Set(['fields', 'alias', 'deep.', 'deep._filter', 'deep._sort']);

function positionsIn(parameter: string, [level, known, write]: Written): readonly Position[] {
  const at = (path: string, more: string): Position => ({
    parameter,
    level,
    known,
    shot: (name) => ({ path: `${path}?${write(name)}${more}` }),
  });
  // Keep the answers short: what a position says is in the first rows.
  return [at('/items/articles', '&limit=3'), ...(byKey.has(parameter) ? [at('/items/articles/1', '')] : [])];
}

/** Every position. */
export const positions: readonly Position[] = [
  ...beside,
  ...Object.entries(inQuery).flatMap(([parameter, written]) => written.flatMap((one) => positionsIn(parameter, one))),
  ...(inQuery.fields ?? []).map(
    ([level, known, write]): Position => ({
      parameter: 'export',
      level,
      known,
      shot: (name) => ({ path: `/items/articles?${write(name)}&limit=3&export=csv` }),
    }),
  ),
  ...inBody.map(
    ([parameter, level, known, query]): Position => ({
      parameter,
      level,
      known,
      shot: (name) => search('articles', { query: query(name) }),
    }),
  ),
];
