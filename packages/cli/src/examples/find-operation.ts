/** Finds the operation of an OpenAPI document that a request is one of. */

/** `articles.list`, or undefined where the document has none for a path. */
export type FindOperation = (method: string, path: string) => string | undefined;

/** Makes the finder of a document, which is one that the compiler has printed. */
export function createOperationFinder(document: OpenApiPaths): FindOperation {
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
export interface OpenApiPaths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string } | undefined>>>>;
}

function patternOf(path: string): RegExp {
  const parts = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\{}]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]+')}$`);
}
