/** Everything that answers below `/graphql`, put together. */
import type { CompiledApi } from '../contract/index.ts';
import type { Environment } from '../environment.ts';
import type { OperationRunner } from '../graphql/operation.ts';
import type { AnswerGraphql } from '../graphql/service.ts';
import { anyDocument, type FindDocument, trustedDocuments } from '../graphql/trusted-documents.ts';
import type { Answerer } from './answer.ts';
import type { Endpoint } from './endpoints.ts';
import { createGraphiql } from './graphiql.ts';
import { createGraphqlEndpoints, type GraphqlEndpointsOptions } from './graphql-routes.ts';

/** What answering takes. */
export interface GraphqlOptions extends Pick<GraphqlEndpointsOptions, 'log' | 'count'> {
  readonly api: CompiledApi;
  readonly answerer: Answerer;
  readonly environment: Environment;
  /** Answers no documents but those that were compiled with the API. */
  readonly trusted: boolean;
  /** Loads what compiles and runs operations. */
  readonly loadRunner: () => Promise<OperationRunner>;
}

/** The addresses of GraphQL; none where the API was compiled without it. */
export function graphqlEndpoints(options: GraphqlOptions): readonly Endpoint[] {
  const { api, answerer, environment, trusted, loadRunner, log, count } = options;
  const { graphql: read } = api;
  if (read === undefined) return [];
  const graphiql = environment.graphql.graphiql ? createGraphiql(answerer) : null;
  const { limits } = environment.graphql;
  const load = once(async (): Promise<AnswerGraphql> => {
    // graphql-js takes longer to load than everything else together, so only servers that are asked do it.
    const [{ createGraphqlService }, runner] = await Promise.all([import('../graphql/service.ts'), loadRunner()]);
    return createGraphqlService({ read, runner, limits });
  });
  const documents = once(() => readDocuments(api));
  const endpoints = createGraphqlEndpoints({
    answerer,
    load,
    findDocument: trusted ? async (asked) => (await documents())(asked) : anyDocument,
    page: graphiql?.page ?? null,
    log,
    count,
  });
  return [...endpoints, ...(graphiql?.endpoints ?? [])];
}

async function readDocuments({ graphqlDocuments }: CompiledApi): Promise<FindDocument> {
  return trustedDocuments(graphqlDocuments === undefined ? {} : await graphqlDocuments());
}

/** Does something once, and again only where it failed. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
