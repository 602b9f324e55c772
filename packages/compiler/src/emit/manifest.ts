import type { JsonValue } from '@tablewright/runtime/contract';
import type { Api } from '../api.ts';
import { hashObject } from '../passes/fingerprint.ts';
import { printJson } from '../print/json.ts';

/**
 * Prints `manifest.json`: what the files were made from, and their paths, so that the next run knows which are its own.
 *
 * Routes of the project are there for whoever makes clients, which know them by their types only.
 *
 * Each object's hash is over its part of the fingerprint, which `fingerprint.ts` holds in full.
 */
export function emitManifest({ fingerprint, customRoutes }: Api, paths: readonly string[]): string {
  const objects = fingerprint.objects.map((object) => ({
    schema: object.schema,
    name: object.name,
    kind: object.kind,
    hash: hashObject(object),
  }));
  const routes: JsonValue = JSON.parse(JSON.stringify(customRoutes));
  return printJson({
    format: 1,
    fingerprint: fingerprint.hash,
    objects,
    ...(customRoutes.length > 0 && { routes }),
    files: [...paths, 'manifest.json'].sort(),
  });
}
