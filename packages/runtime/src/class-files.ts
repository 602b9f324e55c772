/** Compiled documents of access classes, all of one kind in one file: `openapi/classes.jsonc`. */

import { readFile } from 'node:fs/promises';
import {
  type CompiledApi,
  type JsonValue,
  jsonOfClass,
  type KnownOperation,
  type ModelDocument,
  sdlOfClass,
} from './language/index.ts';
import { readOnce } from './language/values/once.ts';

/**
 * Reads the compiled OpenAPI documents of access classes from their folder.
 *
 * A document is read when it is first asked for and kept. Rejects for a name that is no access class's.
 * @example const openapi = openapiFiles(new URL('./openapi/', import.meta.url));
 */
export function openapiFiles(folder: URL): CompiledApi['openapi'] {
  return readOnce(async (accessClass) => {
    const document: JsonValue = JSON.parse(await readText(folder, accessClass));
    return document;
  });
}

/**
 * Reads the documents of the model endpoints for each access class, as `openapiFiles` reads its documents.
 * @example const model = modelFiles(new URL('./model/', import.meta.url));
 */
export function modelFiles(folder: URL): CompiledApi['model'] {
  return readOnce(async (accessClass) => {
    const model: ModelDocument = JSON.parse(await readText(folder, accessClass));
    return model;
  });
}

async function readText(folder: URL, accessClass: string): Promise<string> {
  return jsonOfClass(await readFile(new URL('classes.jsonc', folder), 'utf8'), accessClass);
}

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
