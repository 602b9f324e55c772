/** Reads the parameters of a GraphQL request from its body or its address. Source: API specification, section 14.1. */

import { invalidQuery, type PlatformError } from '../../errors.ts';
import type { SentVariables } from '../../graphql/compile/input.ts';
import { invalidPayload } from '../../json/problems.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import { isStorableText, type JsonValue } from '../../language/index.ts';
import { parseJson } from '../../query/parse/parse-parameters.ts';
import { decodeQueryText } from '../../query/parse/target.ts';
import { readWeights } from '../responses/outgoing.ts';

/** A request as it was sent. */
export type GraphqlParameters = ReturnType<typeof readParameters>;

const memberNames: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions', 'documentId']);

/** Reads the body of a POST. Throws INVALID_PAYLOAD for one of another form, such as a list of requests. */
export function readGraphqlBody(body: JsonValue | undefined): GraphqlParameters {
  if (body === undefined || !isObject(body)) throw invalidPayload('The body must be an object.');
  for (const name in body) if (!memberNames.has(name)) throw invalidPayload(`The body has no member "${name}".`);
  return readParameters(body, invalidPayload);
}

/** Reads a raw query string. Throws INVALID_QUERY; parameters that mean nothing here are ignored. */
export function readGraphqlQuery(raw: string): GraphqlParameters {
  const texts = readTexts(raw);
  return readParameters(
    {
      query: texts.get('query'),
      operationName: texts.get('operationName'),
      documentId: texts.get('documentId'),
      variables: readJson(texts, 'variables'),
      extensions: readJson(texts, 'extensions'),
    },
    invalidQuery,
  );
}

type Refuse = (message: string) => PlatformError;

function readParameters(sent: Readonly<Record<string, JsonValue | undefined>>, refuse: Refuse) {
  const extensions = readMap(sent.extensions, 'extensions', refuse);
  const documentId = readText(sent.documentId, 'documentId', refuse) ?? persistedHash(extensions);
  const query = readText(sent.query, 'query', refuse);
  if (query === null && documentId === null) throw refuse('"query" is missing.');
  return {
    /** The document, or null where the request names one by its hash. */
    query,
    /** SHA-256 of the document that is meant, as it was sent. */
    documentId,
    variables: readMap(sent.variables, 'variables', refuse),
    // Tools send an empty name for none.
    /** Null: the only operation of the document. */
    operationName: readText(sent.operationName, 'operationName', refuse) || null,
  } as const;
}

/** `{"persistedQuery": {"version": 1, "sha256Hash": …}}`, as clients with automatic persisted queries send it. */
function persistedHash({ persistedQuery }: SentVariables): string | null {
  if (persistedQuery === undefined || !isObject(persistedQuery)) return null;
  const { sha256Hash } = persistedQuery;
  return typeof sha256Hash === 'string' ? sha256Hash : null;
}

function readText(value: JsonValue | undefined, name: string, refuse: Refuse): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw refuse(`"${name}" must be a string.`);
  return value;
}

function readMap(value: JsonValue | undefined, name: string, refuse: Refuse): SentVariables {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw refuse(`"${name}" must be an object.`);
  return value;
}

const textNames: ReadonlySet<string> = new Set(memberNames);

function readTexts(raw: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const part of raw.split('&')) {
    const equals = part.indexOf('=');
    const name = decodeQueryText(equals === -1 ? part : part.slice(0, equals));
    const [plain = ''] = name.split('[', 1);
    if (!textNames.has(plain)) continue;
    if (plain !== name) throw invalidQuery(`"${plain}" takes one value.`);
    if (texts.has(name)) throw invalidQuery(`"${name}" is there twice.`);
    const text = decodeQueryText(equals === -1 ? '' : part.slice(equals + 1));
    if (!isStorableText(text)) throw invalidQuery(`"${name}" holds unusable text.`);
    if (text !== '') texts.set(name, text);
  }
  return texts;
}

function readJson(texts: ReadonlyMap<string, string>, name: string): JsonValue | undefined {
  const text = texts.get(name);
  return text === undefined ? undefined : parseJson(text, name);
}

export interface AcceptedForm {
  /** `application/graphql-response+json`, or `application/json`. */
  readonly type: 'graphql' | 'json';
  /** Set where the client named `application/json` itself: older ones read such an answer only with status 200. */
  readonly alwaysOk: boolean;
  /** True if the client prefers a page: it is a browser. */
  readonly page: boolean;
}

/** Reads an `Accept` header: `application/graphql-response+json` for clients that name it, else `application/json`. */
export function readAccept(accept: string | undefined): AcceptedForm {
  // As most clients say nothing, or anything.
  if (accept === undefined || accept === '*/*') return usual;
  const weights = readWeights(accept);
  const graphql = weights.get('application/graphql-response+json') ?? 0;
  const json = weights.get('application/json') ?? 0;
  const html = weights.get('text/html') ?? 0;
  const type = graphql > 0 && graphql >= json ? 'graphql' : 'json';
  return { type, alwaysOk: type === 'json' && json > 0, page: html > Math.max(graphql, json) };
}

const usual: AcceptedForm = { type: 'json', alwaysOk: false, page: false };
