/** What is asked through GraphQL: each question is a line as `bench/drive.ts` reads it. */
import type { Keys, Scenario } from './scenarios.ts';

/** The same question three times: as documents to both servers, and over REST. */
export interface GraphqlQuestion {
  readonly compiled: string;
  readonly handwritten: string;
  readonly rest: string;
}

/** A scenario of GraphQL. */
export interface GraphqlScenario extends Scenario {
  readonly questions: readonly GraphqlQuestion[];
}

const itemFields = [
  'id',
  'title',
  'slug',
  'body',
  'status',
  'published_at',
  'views',
  'rating',
  'reading_minutes',
  'created_at',
];

/** Documents as clients keep them: the same text with every request, and variables. */
const documents = {
  byId: {
    compiled: `query Article($id: ID!) {
  articles_by_id(id: $id) {
    ${itemFields.join('\n    ')}
  }
}`,
    handwritten: `query Article($id: ID!) {
  articles_by_id: article(id: $id) {
    ${itemFields.join('\n    ')}
  }
}`,
  },
  nested: {
    compiled: `query Articles($status: String, $limit: Int, $offset: Int) {
  articles(filter: { status: { _eq: $status } }, sort: ["-published_at", "-id"], limit: $limit, offset: $offset) {
    id
    title
    published_at
    author_id {
      id
      name
    }
    comments(limit: 5, sort: ["-created_at", "-id"]) {
      id
      author_name
      body
      created_at
    }
    tags {
      id
      name
    }
  }
}`,
    handwritten: `query Articles($status: String!, $limit: Int!, $offset: Int!) {
  articles(status: $status, limit: $limit, offset: $offset) {
    id
    title
    published_at
    author_id: author {
      id
      name
    }
    comments(limit: 5) {
      id
      author_name
      body
      created_at
    }
    tags {
      id
      name
    }
  }
}`,
  },
} as const;

const nestedFields = [
  'id,title,published_at,author_id.id,author_id.name',
  'comments.id,comments.author_name,comments.body,comments.created_at',
  'tags.id,tags.name',
].join();

/** Makes the scenarios. */
export function listGraphql({ articles }: Pick<Keys, 'articles'>): readonly GraphqlScenario[] {
  const offsets = Array.from({ length: 20 }, (_, offset) => offset);
  return [
    {
      name: 'by-id',
      title: 'one item by id, 10 fields',
      target: 3,
      ruled: false,
      questions: articles.map((id) => ({
        ...asked(documents.byId, { id }),
        rest: `/items/articles/${id}?fields=${itemFields.join()}`,
      })),
    },
    {
      name: 'nested',
      title: '20 articles with author (m2o), 5 latest comments each (o2m), tags (m2m)',
      target: 4,
      ruled: false,
      questions: offsets.map((offset) => ({
        ...asked(documents.nested, { status: 'published', limit: 20, offset }),
        rest: `/items/articles?fields=${nestedFields}&filter[status][_eq]=published&sort=-published_at,-id&limit=20&offset=${offset}&deep[comments][_limit]=5&deep[comments][_sort]=-created_at,-id`,
      })),
    },
  ];
}

function asked(
  of: Readonly<Record<'compiled' | 'handwritten', string>>,
  variables: unknown,
): Pick<GraphqlQuestion, 'compiled' | 'handwritten'> {
  const line = (query: string): string => `POST /graphql ${JSON.stringify({ query, variables })}`;
  return { compiled: line(of.compiled), handwritten: line(of.handwritten) };
}
