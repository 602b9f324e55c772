/** What is measured: for every scenario the requests to the compiled server and the same to the hand-written one. */

/** The same question in the words of both servers; paths begin with a slash. */
export interface Question {
  readonly compiled: string;
  readonly handwritten: string;
  /** The same over REST, of a question that is a document. */
  readonly rest?: string;
}

/** One kind of request, in as many variants as it takes to keep caches honest. */
export interface Scenario {
  /** As `--only` names it. */
  readonly name: string;
  readonly title: string;
  readonly questions: readonly Question[];
  /** Requests per second against the hand-written server that the project sets out to reach. */
  readonly target: number;
  /** True when it is measured under a row rule, too. */
  readonly ruled: boolean;
}

/** Keys of rows that exist, from which the requests are made. */
export interface Keys {
  /** Published articles. */
  readonly articles: readonly string[];
  readonly authors: readonly string[];
  readonly tags: readonly string[];
}

/** A row rule may cost at most this share of the requests per second. */
export const mostRuleCost = 0.1;

/** A document may be answered at a rate that is lower than that of the same over REST by this share. */
export const mostGraphqlCost = 0.15;

/** Fields of the read by key. */
export const itemFields = 'id,title,slug,body,status,published_at,views,author_id,category_id,created_at';

/** Fields of the list. */
export const listFields = 'id,title,slug,status,published_at,views,author_id,created_at';

const nestedFields = [
  'id,title,published_at,author_id.id,author_id.name',
  'comments.id,comments.author_name,comments.body,comments.created_at',
  'tags.id,tags.name',
].join();

const published = 'filter[status][_eq]=published';
const newest = 'sort=-published_at,-id';

/** Database servers that can be measured. */
export const measuredDatabases = ['postgres', 'mariadb', 'mysql'] as const;

/** One of them. */
export type MeasuredDatabase = (typeof measuredDatabases)[number];

/** Requests per second against the server written by hand, on each database. */
const targets = {
  postgres: { key: 2.5, whole: 2, list: 5, nested: 1.8, aggregate: 1.2 },
  mariadb: { key: 1.5, whole: 1.5, list: 2, nested: 1.2, aggregate: 1 },
  mysql: { key: 1.3, whole: 1.5, list: 2.2, nested: 1.1, aggregate: 1 },
} as const satisfies Record<MeasuredDatabase, object>;

/** Makes the scenarios. */
export function listScenarios({ articles, authors }: Keys, database: MeasuredDatabase): readonly Scenario[] {
  const target = targets[database];
  const offsets = Array.from({ length: 20 }, (_, offset) => offset);
  return [
    {
      name: 'by-key',
      title: 'one item by key, 10 fields',
      target: target.key,
      ruled: true,
      questions: articles.map((id) => ({
        compiled: `/items/articles/${id}?fields=${itemFields}`,
        handwritten: `/articles/${id}`,
      })),
    },
    {
      name: 'whole',
      title: 'one item by key, all fields and the keys of three lists',
      target: target.whole,
      ruled: false,
      questions: articles.map((id) => ({ compiled: `/items/articles/${id}`, handwritten: `/articles-whole/${id}` })),
    },
    {
      name: 'list',
      title: 'list of 100, 8 fields, filter and sort',
      target: target.list,
      ruled: true,
      questions: offsets.map((offset) => ({
        compiled: `/items/articles?fields=${listFields}&${published}&${newest}&limit=100&offset=${offset}`,
        handwritten: `/articles?status=published&limit=100&offset=${offset}`,
      })),
    },
    {
      name: 'nested',
      title: '20 articles with author, 5 latest comments each, tags',
      target: target.nested,
      ruled: false,
      questions: offsets.map((offset) => ({
        compiled: `/items/articles?fields=${nestedFields}&${published}&${newest}&limit=20&offset=${offset}&deep[comments][_limit]=5&deep[comments][_sort]=-created_at,-id`,
        handwritten: `/articles-nested?status=published&limit=20&offset=${offset}`,
      })),
    },
    {
      name: 'aggregate',
      title: 'count and average of one author’s published articles',
      target: target.aggregate,
      ruled: false,
      questions: authors.map((author) => ({
        compiled: `/items/articles?aggregate[count]=*&aggregate[avg]=views&filter[author_id][_eq]=${author}&${published}`,
        handwritten: `/articles-summary?author=${author}&status=published`,
      })),
    },
  ];
}
