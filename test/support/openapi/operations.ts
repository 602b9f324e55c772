/** What a document says of a request: which operation it is, by method and path. */
import { isObject, type Json, type JsonObject, member, members } from './json.ts';

/** An operation with the path that led to it. */
export interface Operation {
  readonly path: string;
  /** As it stands in the document: `get`, `x-platform-search`. */
  readonly method: string;
  readonly operation: JsonObject;
  /** Of the path and of the operation. */
  readonly parameters: readonly Located[];
  /** The texts of the path by the names of its parameters, as they were sent. */
  readonly texts: ReadonlyMap<string, string>;
}

/** A part of the document with its place, references followed. */
export interface Located {
  readonly place: readonly string[];
  readonly value: JsonObject;
}

/** Finds operations of a document. */
export type FindOperation = (method: string, path: string) => Operation | null;

/** Makes the finder. Paths without parameters come first. */
export function createFinder(document: JsonObject): FindOperation {
  const plain = new Map<string, JsonObject>();
  const patterns: { readonly path: string; readonly pattern: RegExp; readonly item: JsonObject }[] = [];
  for (const [path, item] of members(document.paths)) {
    if (!isObject(item)) continue;
    if (path.includes('{')) patterns.push({ path, pattern: patternOf(path), item });
    else plain.set(path, item);
  }
  return function find(method, path) {
    const name = methodNames[method] ?? method.toLowerCase();
    const exact = plain.get(path);
    if (exact !== undefined) return operationAt(document, path, exact, name, new Map());
    for (const { path: template, pattern, item } of patterns) {
      const groups = pattern.exec(path)?.slice(1);
      if (groups === undefined) continue;
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, own = '']) => own);
      const texts = new Map(names.map((own, place) => [own, groups[place] ?? '']));
      const found = operationAt(document, template, item, name, texts);
      if (found !== null) return found;
    }
    return null;
  };
}

const methodNames: Readonly<Record<string, string>> = { SEARCH: 'x-platform-search', HEAD: 'get' };

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('([^/]+)')}$`);
}

function operationAt(
  document: JsonObject,
  path: string,
  item: JsonObject,
  method: string,
  texts: ReadonlyMap<string, string>,
): Operation | null {
  const operation = wholeOperation(item, method);
  if (operation === null) return null;
  // Those that form answers stand in the body of SEARCH.
  const isFormed = method !== 'x-platform-search';
  const ofPath = locate(document, ['paths', path, 'parameters'], item.parameters);
  const parameters = [
    ...ofPath.filter(({ value }) => isFormed || value.in === 'path'),
    ...locate(document, ['paths', path, method, 'parameters'], operation.parameters),
  ];
  return { path, method, operation, parameters, texts };
}

/** The operation; SEARCH has what it leaves out in common with GET. */
function wholeOperation(item: JsonObject, method: string): JsonObject | null {
  const operation = item[method];
  if (!isObject(operation)) return null;
  if (method !== 'x-platform-search' || operation.tags !== undefined || !isObject(item.get)) return operation;
  const { parameters: _, responses, ...common } = item.get;
  return {
    ...common,
    ...operation,
    responses: Object.fromEntries([...members(responses), ...members(operation.responses)]),
  };
}

function locate(document: JsonObject, place: readonly string[], list: Json): readonly Located[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one: Json, index) => follow(document, { place: [...place, String(index)], value: one }) ?? []);
}

/** The part itself, or what it refers to; null where there is nothing. */
export function follow(
  document: JsonObject,
  { place, value }: { readonly place: readonly string[]; readonly value: Json },
): Located | null {
  const target = member(value, '$ref');
  if (typeof target !== 'string') return isObject(value) ? { place, value } : null;
  const parts = target
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = parts.reduce<Json>(member, document);
  return isObject(found) ? { place: parts, value: found } : null;
}
