import type { CompiledApi } from '../language/index.ts';

/**
 * Takes what was generated as one API. `serve` refuses one that was made for another contract.
 * @example export const api = compiledApi({ contract: 3, dialect, collections, access, routes, fingerprint, model, openapi });
 */
export function compiledApi(api: CompiledApi): CompiledApi {
  return api;
}
