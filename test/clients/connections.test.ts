/** Connections as clients with a cache of their own page through them. */
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { relayStylePagination } from '@apollo/client/utilities';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `CREATE TABLE articles (id integer PRIMARY KEY, title text);
      INSERT INTO articles SELECT g, 't' || g FROM generate_series(1, 23) g;`,
    config: '{ graphql: { connections: true } }',
  });
});
afterAll(() => project?.close());

interface Page {
  readonly articles_connection: {
    readonly edges: readonly { readonly node: { readonly id: number } }[];
    readonly pageInfo: {
      readonly hasNextPage: boolean;
      readonly hasPreviousPage: boolean;
      readonly startCursor: string | null;
      readonly endCursor: string | null;
    };
  };
}

const query = gql`
  query List($first: Int, $after: String, $last: Int, $before: String) {
    articles_connection(first: $first, after: $after, last: $last, before: $before, sort: ["-id"]) {
      edges { cursor node { id title } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`;

it('relayStylePagination of Apollo walks a list forwards and back', async () => {
  const client = () =>
    new ApolloClient({
      link: new HttpLink({ uri: `${project.url}/graphql`, headers: { authorization: `Bearer ${adminToken}` } }),
      cache: new InMemoryCache({
        typePolicies: { Query: { fields: { articles_connection: relayStylePagination(['sort']) } } },
      }),
    });
  const all = Array.from({ length: 23 }, (_, index) => 23 - index);
  for (const direction of ['forwards', 'back'] as const) {
    const isForwards = direction === 'forwards';
    const watched = client().watchQuery<Page>({ query, variables: isForwards ? { first: 5 } : { last: 5 } });
    let { data } = await watched.refetch();
    for (let pages = 0; pages < 10; pages += 1) {
      const info = data?.articles_connection.pageInfo;
      if (isForwards ? info?.hasNextPage !== true : info?.hasPreviousPage !== true) break;
      await watched.fetchMore({
        variables: isForwards ? { first: 5, after: info?.endCursor } : { last: 5, before: info?.startCursor },
      });
      data = watched.getCurrentResult().data as Page;
    }
    expect(
      data?.articles_connection.edges.map(({ node }) => node.id),
      direction,
    ).toEqual(all);
  }
});
