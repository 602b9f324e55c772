/** Records requests and responses of a server, as examples of the operations of the caller's OpenAPI document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Example, type Examples, printJson } from '@tablewright/compiler';
import type { AnsweredExchange } from '@tablewright/runtime';
import { classesOf, classFiles, findOrCreate, type JsonValue, jsonOfClass } from '@tablewright/runtime/language';
import { replaceFile } from '../output/staged-files.ts';
import type { Settings } from '../project/settings.ts';
import { examplesFile, loadExamples } from './load.ts';

/** Facts from the document of an access class. */
interface Described {
  readonly find: FindOperation;
  /** Names of fields that are only written. */
  readonly secrets: ReadonlySet<string>;
}

/** Requests of one operation that are kept for each status of their answers. */
const maxKept = 3;

/** Makes the recorder of successful requests into `openapi-examples.json`, for operations that have no example yet. */
export async function createRecorder(project: Settings): Promise<(httpContext: AnsweredExchange) => void> {
  let examples = await loadExamples(project);
  const described = new Map<string, Described>();

  function describedTo(accessClass: string): Described {
    return findOrCreate(described, accessClass, () => {
      const file = readFileSync(join(project.output, classFiles.openapi), 'utf8');
      // A change of the model may have made the class since.
      const isThere = classesOf(file, '//').includes(accessClass);
      const document: OpenApiPaths = isThere ? JSON.parse(jsonOfClass(file, accessClass)) : { paths: {} };
      return { find: createOperationFinder(document), secrets: writtenOnly(document) };
    });
  }

  return function record(httpContext) {
    const { method, url, accessClass, status } = httpContext;
    if (accessClass === null || status < 200 || status > 299) return;
    const { find, secrets } = describedTo(accessClass);
    const operation = find(method, url.replace(/\?.*$/s, ''));
    const example = exampleOf(httpContext, secrets);
    if (operation === undefined || example === null || isMutation(operation, example)) return;
    const ofClass = examples[accessClass] ?? {};
    const ofOperation = ofClass[operation] ?? [];
    if (!isNews(ofOperation, example)) return;
    examples = byName({ ...examples, [accessClass]: byName({ ...ofClass, [operation]: [...ofOperation, example] }) });
    replaceFile(examplesFile(project), printJson(asJson(examples)));
  };
}

/** Returns the part of a request and its response to store; null if a body is no JSON, or too long. */
function exampleOf(
  { method, url, sent, status, answered }: AnsweredExchange,
  secrets: ReadonlySet<string>,
): Example | null {
  const body = jsonOf(sent);
  const reply = jsonOf(answered);
  if (body === null || reply === null) return null;
  return {
    request: `${method} ${withoutToken(url)}`,
    ...(body.length > 0 && { body: withoutSecrets(body[0] ?? null, secrets) }),
    status,
    ...(reply.length > 0 && { answer: withoutSecrets(reply[0] ?? null, secrets) }),
  };
}

/** True for a document of GraphQL that is no query for sure: clients choose its names, so its secrets cannot be found. */
function isMutation(operation: string, { body = null }: Example): boolean {
  if (!['graphqlItems', 'graphqlSystem'].includes(operation)) return false;
  const document: unknown = typeof body === 'object' && body !== null && 'query' in body ? body.query : undefined;
  return typeof document !== 'string' || /\bmutation\b/.test(document);
}

/** The value of a text, none of an empty one; null when it is no JSON. */
function jsonOf(text: string | null): readonly JsonValue[] | null {
  if (text === '') return [];
  try {
    const value: JsonValue = JSON.parse(text ?? '');
    return [value];
  } catch {
    return null;
  }
}

/** Another way to ask is one with other parameters, or with a body of other members. */
function isNews(kept: readonly Example[], example: Example): boolean {
  const alike = kept.filter(({ status }) => status === example.status);
  return alike.length < maxKept && alike.every((keptExample) => shapeOf(keptExample) !== shapeOf(example));
}

function shapeOf({ request, body = null }: Example): string {
  const query = request.split('?')[1] ?? '';
  const parameters = query.split('&').map((part) => part.split(/[=[]/)[0] ?? '');
  const members = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  return JSON.stringify([parameters.sort(), members.sort()]);
}

function byName<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function asJson(examples: Examples): JsonValue {
  const value: JsonValue = JSON.parse(JSON.stringify(examples));
  return value;
}

/** `articles.list`, or undefined where the document has none for a path. */
type FindOperation = (method: string, path: string) => string | undefined;

/** Makes the finder of a document, which is one that the compiler has printed. */
function createOperationFinder(document: OpenApiPaths): FindOperation {
  const templates = Object.entries(document.paths).map(([path, item]) => ({ pattern: patternOf(path), path, item }));
  // A path without parameters is meant before one that has them.
  const sorted = templates.toSorted((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')));
  return function findOperation(method, path) {
    const name = method === 'SEARCH' ? 'x-platform-search' : method.toLowerCase();
    const found = sorted.filter(({ pattern }) => pattern.test(path)).find(({ item }) => item[name] !== undefined);
    return found?.item[name]?.operationId;
  };
}

/** Part of a document that is read. */
interface OpenApiPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string } | undefined>>>>;
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}

/** Members whose texts open something, in requests and answers of the platform's own routes. */
const secretNames: ReadonlySet<string> = new Set([
  ...['password', 'current_password', 'new_password', 'otp', 'token', 'secret', 'otpauth_url', 'recovery_codes'],
  ...['access_token', 'refresh_token', 'hash'],
]);

/** Text in the place of a secret. */
const hidden = '**********';

/** Names of members that a document says are only written: the secret fields of collections. */
export function writtenOnly(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (part: unknown, name: string): void => {
    if (typeof part !== 'object' || part === null) return;
    if ('writeOnly' in part && part.writeOnly === true) names.add(name);
    for (const [inner, member] of Object.entries(part)) look(member, inner);
  };
  look(value, '');
  return names;
}

/** A copy without what must not be written down: passwords, hashes, tokens, second factors, and these members. */
export function withoutSecrets(value: JsonValue, names: ReadonlySet<string>, isSecret = false): JsonValue {
  if (typeof value === 'string') return isSecret || value.startsWith('$argon2') ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: JsonValue) => withoutSecrets(element, names, isSecret));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      withoutSecrets(inner, names, secretNames.has(name) || names.has(name)),
    ]),
  );
}

/** An address without the token that it may carry. */
export function withoutToken(url: string): string {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return url;
  const parts = url.slice(queryStart + 1).split('&');
  // Names may be percent-encoded.
  const kept = parts.filter((part) => ['access_token', 'token'].every((name) => !new URLSearchParams(part).has(name)));
  return url.slice(0, queryStart) + (kept.length > 0 ? `?${kept.join('&')}` : '');
}
