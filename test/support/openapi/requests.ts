/** Whether a request is one that the document allows: its parameters and its body. */

import { listOf } from '../../../packages/runtime/src/language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../../packages/runtime/src/language/index.ts';
import { parseExactly, withNumberTexts } from '../../../packages/runtime/src/language/values/parse-text.ts';
import { parameterNames, parseQueryString } from '../../../packages/runtime/src/query/parse/parse-query-string.ts';
import { defaultReadLimits } from '../../../packages/runtime/src/query/parse/parse-read.ts';
import { elements, isObject, type Json, type JsonObject, member } from './json.ts';
import { follow, type Located, type Operation } from './operations.ts';
import type { Judge } from './schemas.ts';

/** A request as it was sent. */
export interface SentRequest {
  readonly method: string;
  /** What follows the `?`. */
  readonly query: string;
  readonly headers: Headers;
  /** Undefined or empty when there was none. */
  readonly body: string | undefined;
}

/** What the document forbids of a request; nothing when it allows it. */
export function judgeRequest(
  judge: Judge,
  document: JsonObject,
  found: Operation,
  sent: SentRequest,
): readonly string[] {
  return [
    ...found.parameters.flatMap((parameter) => judgeParameter(judge, found, sent, parameter)),
    ...undescribed(found, sent),
    ...judgeBody(judge, document, found, sent),
  ];
}

function judgeParameter(
  judge: Judge,
  found: Operation,
  sent: SentRequest,
  { place, value }: Located,
): readonly string[] {
  const { name, in: where } = value;
  if (typeof name !== 'string') return [`A parameter at ${place.join('/')} has no name.`];
  const given = givenFor(found, sent, value);
  if (given === undefined) return value.required === true ? [`The ${where} parameter "${name}" is missing.`] : [];
  const problems = given.json
    ? judge('open', jsonPlace(place, value), given.value)
    : judge('text', [...place, 'schema'], given.value);
  return problems.map((problem) => `The ${where} parameter "${name}": ${problem}`);
}

/** Where objects may be written as JSON text, that text is of the first of two forms. */
function jsonPlace(place: readonly string[], parameter: Json): readonly string[] {
  const [, text] = elements(member(member(parameter, 'schema'), 'anyOf'));
  const isText = member(text, '$ref') === '#/components/schemas/JsonText';
  return isText ? [...place, 'schema', 'anyOf', '0'] : [...place, 'schema'];
}

interface Given {
  readonly value: Json;
  /** Whether it was written in JSON, so that its types are its own. */
  readonly json: boolean;
}

function givenFor(found: Operation, sent: SentRequest, parameter: Json): Given | undefined {
  const name = String(member(parameter, 'name'));
  const type = member(member(parameter, 'schema'), 'type');
  const place = member(parameter, 'in');
  if (place === 'path') {
    const text = found.texts.get(name) ?? '';
    const value = type === 'array' ? text.split(',').map(decodeURIComponent) : decodeURIComponent(text);
    return { value, json: false };
  }
  if (place === 'header') {
    const text = sent.headers.get(name);
    return text === null ? undefined : { value: text, json: false };
  }
  return parameterNames.has(name) ? queryValue(name, sent, parameter) : plainValue(name, sent, parameter);
}

function plainValue(name: string, { query }: SentRequest, parameter: Json): Given | undefined {
  const type = member(member(parameter, 'schema'), 'type');
  const explode = member(parameter, 'explode');
  const texts = new URLSearchParams(query).getAll(name);
  const [first = ''] = texts;
  if (texts.length === 0) return undefined;
  if (explode === false) {
    return /^\s*\[/.test(first) ? { value: JSON.parse(first), json: true } : { value: first.split(','), json: false };
  }
  return { value: type === 'array' ? texts : texts.length === 1 ? texts[0] : texts, json: false };
}

/** A parameter of the query language, whose objects stand in brackets or in JSON and whose lists have commas. */
function queryValue(name: string, { query }: SentRequest, parameter: Json): Given | undefined {
  const value = parseQueryString(query, defaultReadLimits).get(name)?.value;
  // Nothing behind the name is no parameter.
  if (value === undefined || value === '') return undefined;
  const schema = member(parameter, 'schema');
  const isList = member(schema, 'type') === 'array';
  if (typeof value === 'string') {
    if (/^\s*[[{]/.test(value) && (isList || member(parameter, 'style') === 'deepObject')) {
      return { value: JSON.parse(value), json: true };
    }
    return { value: isList ? value.split(',').map((part) => part.trim()) : value, json: false };
  }
  const plain = withLists(value, isList);
  return { value: isList && Array.isArray(plain) ? plain.flatMap(commas) : plain, json: false };
}

function commas(value: Json): readonly Json[] {
  return typeof value === 'string' ? value.split(',').map((part) => part.trim()) : [value];
}

/** Indexes in brackets make lists, but where the names of fields stand, which may be digits. */
function withLists(value: JsonValue, isList = true): Json {
  const list = isList ? listOf(value) : undefined;
  if (list !== undefined) return list.map((inner) => withLists(inner, false));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, inner]) => {
    const named = /^(_(?!_|filter$)|count|sum|avg|min|max)/.test(name);
    return [name, withLists(inner ?? null, named)] as const;
  });
  return Object.fromEntries(members);
}

/** Parameters that mean something to lists, where nobody says that they mean anything to this one. */
function undescribed({ parameters }: Operation, { method, query }: SentRequest): readonly string[] {
  const known = new Set(parameters.map(({ value }) => value.name));
  if (method === 'SEARCH' || !known.has('limit')) return [];
  const asked = [...parseQueryString(query, defaultReadLimits)].filter(([, { value }]) => value !== '');
  return asked.filter(([name]) => !known.has(name)).map(([name]) => `The parameter "${name}" is not described.`);
}

function judgeBody(
  judge: Judge,
  document: JsonObject,
  { path, method, operation }: Operation,
  sent: SentRequest,
): readonly string[] {
  const described = follow(document, { place: ['paths', path, method, 'requestBody'], value: operation.requestBody });
  const requestBody = described?.value;
  if (sent.body === undefined || sent.body === '') {
    return member(requestBody, 'required') === true ? ['The body is missing.'] : [];
  }
  const type = (sent.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (described === null || !isObject(requestBody)) return sent.method === 'GET' ? [] : ['A body is not described.'];
  if (!isObject(member(requestBody.content, type))) return [`A body of type "${type}" is not described.`];
  const place = [...described.place, 'content', type, 'schema'];
  const value =
    type === 'application/json'
      ? withNumberTexts(parseExactly(sent.body))
      : Object.fromEntries(new URLSearchParams(sent.body));
  return judge('open', place, value).map((problem) => `The body: ${problem}`);
}
