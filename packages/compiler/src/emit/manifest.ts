import { contract, type JsonValue } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import { productVersion } from '../openapi/version.ts';
import { hashObject } from '../passes/fingerprint.ts';
import { printJson } from '../print/json.ts';

/**
 * Prints `manifest.json`: by which version and for which contract the files were made, and from what. The command adds
 * the files with their digests when it writes them.
 *
 * Routes of the project are there for makers of clients, which know them by their types only.
 *
 * Each object's hash is over its part of the fingerprint, which `fingerprint.js` holds in full.
 */
export function emitManifest({ fingerprint, customRoutes }: Api): string {
  const objects = fingerprint.objects.map((object) => ({
    schema: object.schema,
    name: object.name,
    kind: object.kind,
    hash: hashObject(object),
  }));
  const routes: JsonValue = JSON.parse(JSON.stringify(customRoutes));
  return printJson({
    tablewright: productVersion,
    contract,
    fingerprint: fingerprint.hash,
    objects,
    ...(customRoutes.length > 0 && { routes }),
  });
}
