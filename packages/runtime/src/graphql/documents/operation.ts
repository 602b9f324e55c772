/** Documents and their answers, as the transport passes and receives them. Source: API specification, 14.1. */

import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Caller } from '../../caller.ts';
import type { JsonValue } from '../../language/index.ts';
import { DocumentError } from './document-errors.ts';

/** The two sets of root fields: those of user data and those of the platform's own. */
type GraphqlScope = 'items' | 'system';

export interface OperationSource {
  /** The schema of the access class and scope that the document was validated against. */
  readonly schema: GraphqlScopeSchema;
  /** Parsed, and valid against the schema. */
  readonly document: DocumentNode;
  /** The operation of the document that is to run: a query or a mutation. */
  readonly operation: OperationDefinitionNode;
}

interface GraphqlScopeSchema {
  readonly accessClass: string;
  readonly scope: GraphqlScope;
  readonly schema: GraphQLSchema;
}

/**
 * One operation, compiled: to be kept as long as its document is, and run any number of times.
 *
 * Parts that depend on variables are compiled when they are first needed and kept within it, in bounded number.
 */
export interface Operation {
  readonly kind: 'query' | 'mutation';
  /** Number of root fields, `__typename` and introspection included, regardless of `@skip` and `@include`. */
  readonly rootFields: number;
  /** Collections that root fields read or write, each once, regardless of `@skip` and `@include`. */
  readonly collections: readonly string[];
  /** True if its answer may be kept under an Idempotency-Key (specification, section 17). */
  readonly keepable: boolean;
}

export interface OperationCall {
  readonly caller: Caller;
  /** As `getVariableValues` of graphql-js coerces them: variables that were not given and have no default are absent. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The request itself: sender, cookies and origin are read from it. */
  readonly request: IncomingMessage;
  /** A well-formed Idempotency-Key with the path and the body that it stands for. */
  readonly key?: OperationKey;
  /** The values of `__schema` and `__type` by response name, as JSON text. Asked at most once. */
  readonly introspect: () => ReadonlyMap<string, string>;
}

/** Key under which an answer is kept. */
interface OperationKey {
  readonly text: string;
  /** Identity of the request for this key: document, operation and variables, in one form. */
  readonly body: JsonValue;
}

/** The answer to an operation: 200, also when it holds errors. */
export interface OperationAnswer {
  /** `{"data":…}`, `{"errors":[…],"data":…}`: JSON. */
  readonly body: Buffer;
  /** Names and values of headers in turn, such as `Set-Cookie`. */
  readonly headers: readonly string[];
}

export interface PlannedField {
  /** Response name. */
  readonly key: string;
  /** `failure`: it cannot be planned with these variables. */
  readonly kind: 'read' | 'write' | 'call' | 'service' | 'constant' | 'introspection' | 'failure';
  /** For a read: its SQL statement. */
  readonly statement?: string;
}

export interface OperationRunner {
  /** Compiles an operation of a valid document. Throws INVALID_QUERY for requests that no answer can hold. */
  compile(source: OperationSource): Operation;
  /** Plans the reads of a query with these variables, and keeps the plans. Does not query the database. */
  plan(operation: Operation, variables: Readonly<Record<string, unknown>>): readonly PlannedField[];
  /**
   * Runs an operation that this runner compiled for the access class of the caller. Failures of root fields stand in
   * the answer. Rejects only where the whole request is refused, as by an Idempotency-Key used for another.
   */
  run(operation: Operation, call: OperationCall): Promise<OperationAnswer>;
}

/** Texts of documents by the SHA-256 of each, in lower-case hexadecimal digits. */
type DocumentManifest = Readonly<Record<string, string>>;

/** Document of a request, by its text or its hash; one of the two is there. */
interface NamedDocument {
  readonly query: string | null;
  readonly documentId: string | null;
}

/** Finds the text of a document. Throws INVALID_QUERY for one that is not to be answered. */
export type FindDocument = (requested: NamedDocument) => string;

/** Answers any document that is sent as text; a hash alone names none. */
export function anyDocument({ query }: NamedDocument): string {
  if (query === null) throw new DocumentError('No document is kept under this hash.');
  return query;
}

/** Answers those of a manifest, sent as text or named by their hash, with or without `sha256:` in front. */
export function trustedDocuments(manifest: DocumentManifest): FindDocument {
  const texts = new Map(Object.entries(manifest));
  return function find({ query, documentId }) {
    const id = query === null ? (documentId ?? '').replace(/^sha256:/, '') : hash('sha256', query);
    const text = texts.get(id);
    if (text === undefined) throw new DocumentError('The document is not one that this server answers.');
    return text;
  };
}
