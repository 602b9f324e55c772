/** The variables of GraphQL. Source: API specification, section 16; GRAPHIQL is an addition. */
import { type Read, readBoolean, readInteger } from './values.ts';

/** The limits of one operation; all of them included. */
export interface OperationLimits {
  /** GRAPHQL_MAX_DEPTH: fields within fields. Introspection does not count. */
  readonly depth: number;
  /** GRAPHQL_MAX_ROOT_FIELDS. */
  readonly rootFields: number;
  /** GRAPHQL_MAX_ALIASES. */
  readonly aliases: number;
  /** QUERY_COST_MAX: see `measureIn`. */
  readonly cost: number;
}

/** Limits of documents. */
export interface DocumentLimits extends OperationLimits {
  /** GRAPHQL_QUERY_TOKEN_LIMIT: tokens of a document. */
  readonly tokens: number;
  /** GRAPHQL_INTROSPECTION: true if the schema may be queried. */
  readonly introspection: boolean;
}

/** Limits of GraphQL requests, and pages for browsers. */
export interface GraphqlEnvironment {
  readonly limits: DocumentLimits;
  /** GRAPHIQL: true if `GET /graphql` shows browsers a page for queries. */
  readonly graphiql: boolean;
}

/** Reads the variables; `cost` is the bound of every request. */
export function readGraphql(read: Read, cost: number): GraphqlEnvironment {
  return {
    limits: {
      introspection: read('GRAPHQL_INTROSPECTION', readBoolean, true),
      tokens: read('GRAPHQL_QUERY_TOKEN_LIMIT', readInteger(1, 1_000_000), 5_000),
      depth: read('GRAPHQL_MAX_DEPTH', readInteger(1, 1_000), 15),
      rootFields: read('GRAPHQL_MAX_ROOT_FIELDS', readInteger(1), 20),
      aliases: read('GRAPHQL_MAX_ALIASES', readInteger(0), 100),
      cost,
    },
    graphiql: read('GRAPHIQL', readBoolean, false),
  };
}
