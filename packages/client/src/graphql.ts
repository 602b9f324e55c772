/** GraphQL documents. Source: API specification, sections 14 and 15. */
import type { JsonObject, RequestOptions } from './call.ts';
import { PlatformError, readAnswer, type ServerError } from './errors.ts';
import type { Requester } from './requester.ts';

/** Result of a document. */
export interface GraphqlResult<Data> {
  readonly data: Data;
}

/**
 * Runs documents; one with errors rejects, even if it also has data.
 * @example const { data } = await client.graphql.items('query ($id: ID!) { articles_by_id(id: $id) { title } }', { id: 1 });
 */
export type GraphqlMethod = <Data = JsonObject>(
  document: string,
  variables?: object,
  options?: RequestOptions,
) => Promise<GraphqlResult<Data>>;

/** The two scopes. */
export interface GraphqlHandler {
  /** Collections of the database. */
  readonly items: GraphqlMethod;
  /** Collections of the platform, and what belongs to them. */
  readonly system: GraphqlMethod;
}

/** Makes the handler of both scopes. */
export function createGraphqlHandler(requester: Requester): GraphqlHandler {
  const ask =
    (path: readonly string[]): GraphqlMethod =>
    async <Data>(document: string, variables?: object, options?: RequestOptions) => {
      const body = { query: document, variables };
      const response = await requester.send({ method: 'POST', path, body, options });
      const result = await readAnswer<GraphqlResult<Data> & { readonly errors?: readonly ServerError[] }>(response);
      if (result.errors !== undefined) throw new PlatformError(result.errors, response);
      return { data: result.data };
    };
  return { items: ask(['graphql']), system: ask(['graphql', 'system']) };
}
