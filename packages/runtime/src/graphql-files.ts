import { readFile } from 'node:fs/promises';
import { type CompiledApi, type KnownOperation, sdlOfClass } from './language/index.ts';

/**
 * Reads the documents that were compiled with an API from their file, each by the SHA-256 of its text. Nothing is kept.
 * @example const documents = graphqlDocuments(new URL('./documents.json', import.meta.url));
 */
export function graphqlDocuments(file: URL): NonNullable<CompiledApi['graphqlDocuments']> {
  return async function readDocuments() {
    const documents: Readonly<Record<string, string>> = JSON.parse(await readFile(file, 'utf8'));
    return documents;
  };
}

/**
 * Reads the list of the operations that were compiled with an API. Nothing is kept.
 * @example const operations = graphqlOperations(new URL('./operations.json', import.meta.url));
 */
export function graphqlOperations(file: URL): NonNullable<CompiledApi['graphqlOperations']> {
  return async function readOperations() {
    const operations: readonly KnownOperation[] = JSON.parse(await readFile(file, 'utf8'));
    return operations;
  };
}

/**
 * Reads the compiled GraphQL schemas of access classes from their folder.
 *
 * Rejects for a name that is no access class's. Texts are not cached: the caller parses a text and caches the schema.
 * @example const graphql = graphqlFiles(new URL('./graphql/', import.meta.url));
 */
export function graphqlFiles(folder: URL): NonNullable<CompiledApi['graphql']> {
  return async function readSchema(accessClass) {
    return sdlOfClass(await readFile(new URL('classes.graphql', folder), 'utf8'), accessClass);
  };
}
