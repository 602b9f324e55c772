/** Whether an answer is one that the document promises: status, headers, type and body. */
import { elements, isObject, type Json, type JsonObject, member, members } from './json.ts';
import { follow, type Operation } from './operations.ts';
import type { Judge, Reading } from './schemas.ts';

/** An answer as it came. */
export interface GivenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when the body is no JSON. */
  readonly json?: Json;
}

/** What the document does not promise of an answer; nothing when all of it is as it says. */
export function judgeAnswer(
  judge: Judge,
  document: JsonObject,
  { path, method, operation }: Operation,
  answer: GivenAnswer,
  { head, reading }: { readonly head: boolean; readonly reading: Reading },
): readonly string[] {
  const status = String(answer.status);
  const own = member(operation.responses, status);
  const name = own === undefined ? 'default' : status;
  // SEARCH has its answer in common with GET.
  const holds = (each: string) => member(member(member(member(document.paths, path), each), 'responses'), name);
  const place = ['paths', path, holds(method) === undefined ? 'get' : method, 'responses', name];
  const found = follow(document, { place, value: member(operation.responses, name) });
  if (found === null) return [`The status ${status} is not described.`];
  const { value: response } = found;
  return [
    ...(own === undefined || isObject(response['x-platform-codes']) ? judgeFailure(response, answer, head) : []),
    ...judgeHeaders(judge, document, found.place, response, answer),
    ...judgeContent(judge, [...found.place, 'content'], response.content, answer, { head, reading }),
  ];
}

/** A failed answer names its codes for each of its statuses. */
function judgeFailure(response: JsonObject, { status, headers, json }: GivenAnswer, head: boolean): readonly string[] {
  const codes = member(response['x-platform-codes'], String(status));
  if (!Array.isArray(codes)) return [`The status ${status} is not among those of the failure.`];
  const waits = status === 429 || status === 503;
  if (waits !== headers.has('retry-after')) return [`The header "Retry-After" does not belong to ${status}.`];
  if (head || codes.length === 0) return [];
  const given = elements(member(json, 'errors')).map((error) => member(member(error, 'extensions'), 'code'));
  const others = given.filter((code) => !codes.includes(code));
  return others.map((code) => `The code "${String(code)}" does not belong to the status ${status}.`);
}

function judgeHeaders(
  judge: Judge,
  document: JsonObject,
  place: readonly string[],
  response: JsonObject,
  { headers }: GivenAnswer,
): readonly string[] {
  return members(response.headers).flatMap(([name, described]) => {
    const header = follow(document, { place: [...place, 'headers', name], value: described });
    const text = headers.get(name);
    if (header === null) return [`The header "${name}" refers to nothing.`];
    if (text === null) return header.value.required === true ? [`The header "${name}" is missing.`] : [];
    const problems = judge('text', [...header.place, 'schema'], text);
    return problems.map((problem) => `The header "${name}": ${problem}`);
  });
}

function judgeContent(
  judge: Judge,
  place: readonly string[],
  content: Json,
  { headers, text, json }: GivenAnswer,
  { head, reading }: { readonly head: boolean; readonly reading: Reading },
): readonly string[] {
  const type = (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
  if (!isObject(content)) {
    // Clients read a body where a type is named.
    return [
      ...(text === '' ? [] : ['A body is not described.']),
      ...(type === '' ? [] : [`It names the type "${type}".`]),
    ];
  }
  // Contents of files are of any type.
  const named = isObject(content[type]) ? type : '*/*';
  const media = content[named];
  if (!isObject(media)) return [`The type "${type}" is not described.`];
  if (head) return [];
  const value = json === undefined ? text : json;
  return judge(reading, [...place, named, 'schema'], value).map((problem) => `The answer: ${problem}`);
}

/** What is wrong with an answer to a request that the document does not know, which can only be a refusal. */
export function judgeRefusal({ status, json, text }: GivenAnswer, head: boolean): readonly string[] {
  if (status < 400) return [`The request is not described, and is answered with ${status}.`];
  if (head) return [];
  const errors = elements(member(json, 'errors'));
  if (errors.length === 0) return [`The answer ${status} has no errors: ${text.slice(0, 200)}`];
  return errors.flatMap((error) => {
    const code = member(member(error, 'extensions'), 'code');
    return typeof code === 'string' && typeof member(error, 'message') === 'string' ? [] : ['An error has no code.'];
  });
}
