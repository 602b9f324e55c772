import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** Asks as the administrator. */
async function graphql(query: string, variables: object = {}) {
  const { status, json } = await magazine.admin('/graphql', { method: 'POST', body: { query, variables } });
  expect(status, JSON.stringify(json)).toBe(200);
  return json;
}

describe('queries', () => {
  it('lists', async () => {
    console.log(
      JSON.stringify(
        await graphql(
          '{ articles(limit: 2, sort: ["-views"]) { id title __typename author_id { name } tags { name } n: comments(limit: 2, sort: "-id") { id } comments_func { count } published_at_func { year month } } }',
        ),
      ),
    );
    console.log(
      JSON.stringify(
        await graphql(
          'query Q($id: ID!, $f: articles_filter, $with: Boolean = false) { a: articles_by_id(id: $id) { ...A sections { id collection item { __typename ... on section_headings { text } ... on section_images { url } } } } articles(filter: $f, limit: 3) { ...A body @include(if: $with) } articles_aggregated(groupBy: ["status"]) { group countAll count { id v: views } sum { views } max { title } __typename } __typename } fragment A on articles { id title __typename }',
          {
            id: 1,
            f: {
              views: { _gt: 100 },
              author_id: { name: { _nnull: true } },
              published_at_func: { year: { _gt: 2000 } },
            },
          },
        ),
      ),
    );
    console.log(JSON.stringify(await graphql('{ articles_by_id(id: 99999999) { id } b: articles(limit: 1) { id } }')));
    console.log(JSON.stringify(await graphql('{ articles(limit: -5) { id } b: articles(limit: 1) { id } }')));
  });
  it('writes', async () => {
    console.log(
      JSON.stringify(
        await graphql(
          'mutation { a: create_tags_item(data: {name: "a tag"}) { __typename name articles { id } } b: create_tags_items(data: [{name: "b tag"}, {name: "c tag"}]) { name } __typename }',
        ),
      ),
    );
    console.log(
      JSON.stringify(await graphql('mutation { a: update_tags_item(id: 1, data: {name: "renamed"}) { id n: name } }')),
    );
    console.log(
      JSON.stringify(
        await graphql('mutation { delete_tags_item(id: 1) { id __typename } delete_tags_items(ids: [2, 3]) { ids } }'),
      ),
    );
    console.log(
      JSON.stringify(
        await graphql(
          'mutation { create_tags_item(data: {name: "x tag"}) { id } update_tags_item(id: 99999, data: {name: "q"}) { id } }',
        ),
      ),
    );
    console.log(JSON.stringify(await graphql('{ tags(filter: {name: {_contains: "tag"}}) { name } }')));
    console.log(
      JSON.stringify(
        await graphql(
          'mutation { create_articles_item(data: {title: "T", slug: "t-1", author_id: {name: "New"}, tags: [{name: "fresh"}, {id: 5}], comments: [{author_name: "me", body: "hi"}], sections: [{collection: "section_headings", item: {text: "H"}}] }) { id author_id { id name } tags { name } comments { body } sections { collection item { ... on section_headings { text } } } } }',
        ),
      ),
    );
  });
});
