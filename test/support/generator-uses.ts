/** What programs do with generated clients of the sample, by generator: what compiles, and what must not. */

/** Objects that are sent. The names are those of the document. */
const objects = `
export const deep: Deep = {
  _limit: 3,
  _search: 'x',
  _filter: { name: { _eq: 'x' } },
  articles: { _limit: 1, _filter: { title: { _icontains: 'x' } } },
};
export const search: Search = { query: { fields: ['id'], deep: { tags: { _limit: 2 } } } };
// @ts-expect-error: a text
export const wrong: Deep = { _search: 1 };
`;

const fromComponents = `
import type { components } from './api.ts';
type Deep = components['schemas']['Deep'];
type Search = components['schemas']['SearchArticles'];
${objects}`;

/** By the name of the generator, as \`test/generators/generate.ts\` knows it. */
export const generatorUses: Readonly<Record<string, string>> = {
  'openapi-typescript': `
import createClient from 'openapi-fetch';
import type { paths } from './api.ts';
${fromComponents}
const client = createClient<paths>({ baseUrl: 'http://localhost' });
export async function use(): Promise<void> {
  const query = { fields: ['id', 'tags.name'], deep: { tags: { _limit: 3, articles: { _limit: 1 } } }, limit: 5 };
  await client.GET('/items/articles', { params: { query } });
  await client.GET('/items/order_lines/{key}', { params: { path: { key: [1, 2] } } });
  await client.PATCH('/items/articles', { body: { query: { filter: { id: { _eq: 1 } } }, data: { title: 'x' } } });
  await client.POST('/auth/logout', { body: { refresh_token: 'x' } });
  await client.POST('/items/tags', { body: { name: 'x' }, params: { query: { on_conflict: ['name'] } } });
  // @ts-expect-error: a text
  await client.POST('/items/tags', { body: { name: [] } });
}
`,
  'directus-typescript-gen': fromComponents,
  orval: `
import { readItemsArticles, readSingleItemsOrderLines, type Deep, type SearchArticles as Search } from './api.ts';
${objects}
export async function use(): Promise<void> {
  await readItemsArticles({ fields: ['id'], deep: { tags: { _limit: 3 } } });
  await readSingleItemsOrderLines([1, 2]);
}
`,
  'swagger-typescript-api': `
import { Api, type Deep, type SearchArticles as Search } from './api.ts';
${objects}
export async function use(): Promise<void> {
  const { items } = new Api();
  await items.readItemsArticles({ fields: ['id'], deep: { tags: { _limit: 3 } } });
  await items.readSingleItemsOrderLines([1, 2]);
}
`,
  'hey-api': `
import { readItemsArticles, readSingleItemsOrderLines } from './api/index.ts';
import type { Deep, SearchArticles as Search } from './api/types.gen.ts';
${objects}
export async function use(): Promise<void> {
  await readItemsArticles({ query: { fields: ['id'], deep: { tags: { _limit: 3 } } } });
  await readSingleItemsOrderLines({ path: { key: [1, 2] } });
}
`,
};
