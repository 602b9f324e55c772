/** Where documents become answers: what the transport asks for, and what it is given. Source: API specification, 14.1. */
import type { IncomingMessage } from 'node:http';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Caller } from '../caller.ts';
import type { JsonValue } from '../contract/index.ts';

/** The two sets of root fields: those of user data and those of the platform's own. */
export type GraphqlScope = 'items' | 'system';

/** What one operation of a document is compiled from. */
export interface OperationSource {
  /** The schema of the access class and scope that the document was validated against. */
  readonly schema: GraphqlScopeSchema;
  /** Parsed, and valid against the schema. */
  readonly document: DocumentNode;
  /** The operation of the document that is to run: a query or a mutation. */
  readonly operation: OperationDefinitionNode;
}

/** The executable schema of one access class and scope. */
export interface GraphqlScopeSchema {
  readonly accessClass: string;
  readonly scope: GraphqlScope;
  readonly schema: GraphQLSchema;
}

/**
 * One operation, compiled: to be kept as long as its document is, and run any number of times.
 *
 * What variables decide is compiled when it is first asked for and kept within it, in bounded number.
 */
export interface Operation {
  readonly kind: 'query' | 'mutation';
  /** Root fields as they are answered, `__typename` and introspection included, whatever `@skip` and `@include` say. */
  readonly rootFields: number;
  /** Whether `__schema` or `__type` is among them, so that `OperationCall.introspect` is asked. */
  readonly introspects: boolean;
  /** Whether its answer may be kept under an Idempotency-Key (specification, section 17). */
  readonly keepable: boolean;
}

/** One request for an operation. */
export interface OperationCall {
  readonly caller: Caller;
  /** As `getVariableValues` of graphql-js coerces them: variables that were not given and have no default are absent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The request itself: sender, cookies and origin are read from it. */
  readonly request: IncomingMessage;
  /** A well-formed Idempotency-Key with the path and the body that it stands for. */
  readonly key?: OperationKey;
  /**
   * The values of `__schema` and `__type` by response name, as JSON text, for those root fields that directives leave in.
   * Asked at most once, and only where the operation introspects.
   */
  readonly introspect: () => ReadonlyMap<string, string>;
}

/** What an answer is kept under. */
export interface OperationKey {
  readonly text: string;
  /** What makes the request the same as another: document, operation and variables, in one form. */
  readonly body: JsonValue;
}

/** The answer to an operation: 200, also when it holds errors. */
export interface OperationAnswer {
  /** `{"data":…}`, `{"errors":[…],"data":…}`: JSON. */
  readonly body: Buffer;
  /** Names and values of headers in turn, such as `Set-Cookie`. */
  readonly headers: readonly string[];
}

/** A root field as it is planned. */
export interface PlannedField {
  /** Response name. */
  readonly key: string;
  /** `failure`: it cannot be planned with these variables. */
  readonly kind: 'read' | 'write' | 'service' | 'constant' | 'introspection' | 'failure';
  /** Of a read: what the database is asked. */
  readonly statement?: string;
}

/** Compiles and runs operations. */
export interface OperationRunner {
  /**
   * Compiles an operation of a valid document. Throws `PlatformError` INVALID_QUERY where it asks for what no answer has,
   * such as more than one field that signs somebody in or out.
   */
  compile(source: OperationSource): Operation;
  /** Plans the reads of a query with these variables, and keeps the plans. Asks nobody. */
  plan(operation: Operation, variables: Readonly<Record<string, unknown>>): readonly PlannedField[];
  /**
   * Runs an operation that this runner compiled for the access class of the caller. What fails at a root field stands in
   * the answer; rejects only where the whole request is refused, as by an Idempotency-Key that was used for another one.
   */
  run(operation: Operation, call: OperationCall): Promise<OperationAnswer>;
}
