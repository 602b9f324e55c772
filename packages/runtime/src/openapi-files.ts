import { readFile } from 'node:fs/promises';
import type { CompiledApi, JsonValue } from './contract/index.ts';

/**
 * Reads the compiled OpenAPI documents of a folder: `full`, and one per access class.
 *
 * A document is read when it is first asked for and kept. Rejects for a name that is no access class's.
 */
export function openapiFiles(folder: URL): CompiledApi['openapi'] {
  const documents = new Map<string, Promise<JsonValue>>();
  return (accessClass) => {
    const known = documents.get(accessClass);
    if (known) return known;
    const document = readDocument(folder, accessClass);
    documents.set(accessClass, document);
    // What could not be read once may be there the next time.
    document.catch(() => documents.delete(accessClass));
    return document;
  };
}

async function readDocument(folder: URL, accessClass: string): Promise<JsonValue> {
  // Names of access classes are made of these characters by the compiler; any other could leave the folder.
  if (!/^\w+$/.test(accessClass)) throw new Error(`"${accessClass}" is not the name of an access class.`);
  const document: JsonValue = JSON.parse(await readFile(new URL(`${accessClass}.json`, folder), 'utf8'));
  return document;
}
