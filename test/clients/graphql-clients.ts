/** Clients of GraphQL, with the types of variables that clients of this API family declare. */
import { ApolloClient, gql as apolloGql, HttpLink, InMemoryCache } from '@apollo/client';
import { cacheExchange, fetchExchange, Client as UrqlClient, gql as urqlGql } from '@urql/core';
import { GraphQLClient } from 'graphql-request';
import { expect, it } from 'vitest';
import type { Sample } from '../support/sample.ts';
import { memberOf } from './walk.ts';

type Variables = Record<string, unknown>;

/** Asks a document; throws where the client reports errors. */
type Ask = (document: string, variables?: Variables) => Promise<unknown>;

const clients: Readonly<Record<string, (url: string, headers: Record<string, string>) => Ask>> = {
  'graphql-request': (url, headers) => {
    const client = new GraphQLClient(url, { headers });
    return (document, variables) => client.request<unknown>(document, variables);
  },
  urql(url, headers) {
    const client = new UrqlClient({
      url,
      exchanges: [cacheExchange, fetchExchange],
      fetchOptions: { headers },
      preferGetMethod: false,
    });
    return async (document, variables = {}) => {
      const asked = urqlGql(document);
      const isQuery = !document.trimStart().startsWith('mutation');
      const { data, error } = await (isQuery ? client.query(asked, variables) : client.mutation(asked, variables));
      if (error !== undefined) throw error;
      return data;
    };
  },
  'Apollo client': (url, headers) => {
    const client = new ApolloClient({ link: new HttpLink({ uri: url, headers }), cache: new InMemoryCache() });
    return async (document, variables = {}) => {
      const asked = apolloGql(document);
      const isQuery = !document.trimStart().startsWith('mutation');
      const { data, error } = isQuery
        ? await client.query({ query: asked, variables })
        : await client.mutate({ mutation: asked, variables });
      if (error !== undefined) throw error;
      return data;
    };
  },
};

/** Registers the walks. */
export function walkGraphql(sample: () => Sample): void {
  it.each(Object.entries(clients))('%s queries, writes and sees errors', async (name, make) => {
    const headers = { authorization: `Bearer ${sample().adminToken}` };
    const ask = make(`${sample().url}/graphql`, headers);
    const system = make(`${sample().url}/graphql/system`, headers);
    const list = `query List($filter: articles_filter, $sort: [String], $limit: Int, $page: Int) {
      articles(filter: $filter, sort: $sort, limit: $limit, page: $page) { id title author_id { id name } tags { id name } }
      articles_aggregated(filter: $filter, sort: $sort, limit: $limit, page: $page) { countAll }
    }`;
    const filter = { _and: [{ comments: { _none: {} } }, { author_id: { id: { _nnull: true } } }] };
    const listed = await ask(list, { filter, sort: ['-published_at'], limit: 5, page: 2 });
    expect(memberOf(listed, 'articles')).toHaveLength(5);
    expect(memberOf(listed, 'articles_aggregated')).toMatchObject([{ countAll: expect.any(Number) }]);
    const tag = `of ${name}`;
    const created = await ask(
      'mutation Create($data: [create_tags_input!]) { create_tags_items(data: $data) { id name } }',
      { data: [{ name: tag }] },
    );
    expect(created).toMatchObject({ create_tags_items: [{ name: tag }] });
    const [made] = [memberOf(created, 'create_tags_items')].flat();
    const ids = [memberOf(made, 'id')];
    const change =
      'mutation Change($ids: [ID]!, $data: update_tags_input!) { update_tags_items(ids: $ids, data: $data) { name } }';
    expect(await ask(change, { ids, data: { name: `${tag} 2` } })).toMatchObject({
      update_tags_items: [{ name: `${tag} 2` }],
    });
    const batch = 'mutation Batch($data: [update_tags_input!]) { update_tags_batch(data: $data) { name } }';
    expect(await ask(batch, { data: [{ id: ids[0], name: `${tag} 3` }] })).toMatchObject({
      update_tags_batch: [{ name: `${tag} 3` }],
    });
    const remove = 'mutation Remove($ids: [ID]!) { delete_tags_items(ids: $ids) { ids } }';
    expect(await ask(remove, { ids })).toMatchObject({ delete_tags_items: { ids: ids.map(String) } });

    const email = `${name.toLowerCase().replaceAll(' ', '-')}@clients.example.com`;
    const users = await system(
      'mutation Users($data: [create_platform_users_input!]) { create_users_items(data: $data) { id email } }',
      { data: [{ email, password: 'A long password 1' }] },
    );
    expect(users).toMatchObject({ create_users_items: [{ email }] });
    await expect(ask('{ articles { nothing } }')).rejects.toThrow(/nothing/);
    const missing = 'mutation { delete_tags_item(id: 999999) { id } }';
    await expect(ask(missing)).rejects.toThrow();
  });
}
