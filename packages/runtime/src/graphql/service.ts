/**
 * Answers GraphQL requests after the transport: finds the compiled operation of a document, or makes it, and runs it. The
 * only door to graphql-js on the way of a request, so that a server pays for loading it when it is first asked for.
 */
import type { IncomingMessage } from 'node:http';
import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import type { Caller } from '../caller.ts';
import type { DocumentLimits } from '../environment/requests.ts';
import type { GraphqlScope } from '../language/index.ts';
import { type ByteCache, type CreateByteCache, createEmptyBytes } from './byte-cache.ts';
import { createCoercion, type SentVariables } from './compile/input.ts';
import { checkDocument, type DocumentRequest, refuseMutation } from './documents/check-document.ts';
import { DocumentError } from './documents/document-errors.ts';
import { answerIntrospection } from './documents/introspection.ts';
import type { Operation, OperationAnswer, OperationCall, OperationRunner } from './documents/operation.ts';
import type { FindSchema, ScopeSchema } from './documents/schemas.ts';
import { planSamples } from './plan/plan-samples.ts';

export interface GraphqlServiceOptions {
  readonly findSchema: FindSchema;
  readonly runner: OperationRunner;
  readonly limits: DocumentLimits;
  /** Makes the caches of documents. Default: nothing is kept. */
  readonly createDocumentCache?: CreateByteCache;
}

interface GraphqlRequest extends DocumentRequest {
  readonly scope: GraphqlScope;
  readonly variables: SentVariables;
  readonly caller: Caller;
  readonly request: IncomingMessage;
  /** Called first, with the number of root fields. Throws REQUESTS_EXCEEDED; gives the Idempotency-Key to keep. */
  readonly admit: (operation: Operation) => string | undefined | Promise<string | undefined>;
}

/** Answers requests. Throws or rejects with INVALID_QUERY for documents and variables, and with what else refuses a request. */
export type AnswerGraphql = (request: GraphqlRequest) => Promise<OperationAnswer>;

interface KeptDocument {
  readonly of: ScopeSchema;
  readonly document: DocumentNode;
  readonly node: OperationDefinitionNode;
  readonly operation: Operation;
  readonly coerce: ReturnType<typeof createCoercion>;
}

/** A text for each scope, operation and access class that it was asked for. The same text always finds it at once. */
type KeptText = Map<string, KeptDocument>;

/** Memory for the tree of a document and its plans, by token and by character, estimated generously. */
const bytesPerToken = 1_000;
const bytesPerCharacter = 2;
const documentsKept = { entries: 1_000, bytes: 32 * 1024 ** 2 };
const introspectionsKept = { entries: 50, bytes: 16 * 1024 ** 2 };

/** GraphQL without the transport. */
export class GraphqlService {
  readonly #options: GraphqlServiceOptions;
  readonly #documents: ByteCache<KeptText>;
  readonly #introspections: ByteCache<ReadonlyMap<string, string>>;

  constructor({ createDocumentCache = createEmptyBytes, ...options }: GraphqlServiceOptions) {
    this.#options = options;
    this.#documents = createDocumentCache(documentsKept);
    this.#introspections = createDocumentCache(introspectionsKept);
  }

  // Not async: for a document that is known already there is nothing to wait for in front of the database.
  readonly answer: AnswerGraphql = (graphqlRequest) => {
    const { caller, scope, text, operationName } = graphqlRequest;
    const key = keyOf(caller.accessClass, scope, operationName);
    const kept = this.#documents.get(text)?.get(key);
    return kept === undefined ? this.#prepareAndRun(key, graphqlRequest) : this.#run(key, kept, graphqlRequest);
  };

  /** Prepares a document that is known beforehand, and plans it, as far as its variables decide nothing. */
  async prepare(accessClass: string, scope: GraphqlScope, text: string): Promise<void> {
    const { findSchema, runner } = this.#options;
    const schema = await findSchema(accessClass, scope);
    const key = keyOf(accessClass, scope, null);
    const kept = this.#prepare(key, schema, { text, operationName: null, queriesOnly: false });
    // Clients send the name of the operation, or leave it out.
    const name = kept.node.name?.value ?? null;
    this.#documents.get(text)?.set(keyOf(accessClass, scope, name), kept);
    planSamples(kept.of.schema, kept.node, kept.coerce, (variables) => runner.plan(kept.operation, variables));
  }

  async #prepareAndRun(key: string, documentRequest: GraphqlRequest): Promise<OperationAnswer> {
    const schema = await this.#options.findSchema(documentRequest.caller.accessClass, documentRequest.scope);
    return this.#run(key, this.#prepare(key, schema, documentRequest), documentRequest);
  }

  #prepare(key: string, schema: ScopeSchema, requested: DocumentRequest): KeptDocument {
    const { limits, runner } = this.#options;
    const { document, operation: node } = checkDocument(schema, requested, limits);
    const operation = runner.compile({ schema, document, operation: node });
    const coerce = createCoercion(schema.schema, node);
    const kept: KeptDocument = { of: schema, document, node, operation, coerce };
    const bytes = (document.tokenCount ?? limits.tokens) * bytesPerToken + requested.text.length * bytesPerCharacter;
    const cached = this.#documents.get(requested.text);
    const bytesOf = (forms: KeptText): number => bytes * new Set(forms.values()).size;
    // The forms of a document that is large and requested by many must not outgrow the cache of all documents.
    const forms: KeptText = cached !== undefined && bytesOf(cached) * 4 < documentsKept.bytes ? cached : new Map();
    forms.set(key, kept);
    this.#documents.set(requested.text, forms, bytesOf(forms));
    return kept;
  }

  #run(key: string, kept: KeptDocument, operationRequest: GraphqlRequest): Promise<OperationAnswer> {
    const { runner } = this.#options;
    const { caller, text, request } = operationRequest;
    if (operationRequest.queriesOnly) refuseMutation(kept.node);
    const call: OperationCall = {
      caller,
      variables: coerced(kept, operationRequest.variables),
      request,
      introspect: () => this.#introspect(key, text, kept, operationRequest.variables),
    };
    const admitted = operationRequest.admit(kept.operation);
    if (admitted === undefined) return runner.run(kept.operation, call);
    const body = [text, operationRequest.operationName, operationRequest.variables];
    const runAs = (idempotencyKey: string | undefined): Promise<OperationAnswer> =>
      runner.run(
        kept.operation,
        idempotencyKey === undefined ? call : { ...call, key: { text: idempotencyKey, body } },
      );
    return admitted instanceof Promise ? admitted.then(runAs) : runAs(admitted);
  }

  /** Descriptions of a schema are large and asked for again and again; without variables they never differ. */
  #introspect(
    key: string,
    text: string,
    { of: schema, document, node }: KeptDocument,
    variables: SentVariables,
  ): ReadonlyMap<string, string> {
    const name = `${key}\0${text}`;
    const constant = (node.variableDefinitions ?? []).length === 0;
    const cached = constant ? this.#introspections.get(name) : undefined;
    if (cached !== undefined) return cached;
    const result = answerIntrospection(schema.described(), document, node, variables);
    if (constant) {
      const length = [...result.values()].reduce((sum, text) => sum + text.length, 0);
      this.#introspections.set(name, result, length * bytesPerCharacter);
    }
    return result;
  }
}

function keyOf(accessClass: string, scope: GraphqlScope, operationName: string | null): string {
  // The name of the class is no key of another kind: it has no such character.
  if (operationName === null && scope === 'items') return accessClass;
  return `${accessClass}\0${scope}\0${operationName ?? ''}`;
}

function coerced({ coerce }: KeptDocument, sent: SentVariables): Readonly<Record<string, unknown>> {
  try {
    return coerce(sent);
  } catch (thrown) {
    if (thrown instanceof RangeError) throw new DocumentError('The variables nest too deep.');
    throw thrown;
  }
}
