/** Materialized views that have never been refreshed. */
import { ServerError } from '../database/errors.ts';
import type { CompiledApi } from '../language/index.ts';

/**
 * True if a read of a collection failed only because its materialized view was created `WITH NO DATA` and never
 * refreshed. The server refuses to scan it (55000, object_not_in_prerequisite_state); a list of it has no items yet.
 */
type IsPopulationError = (collection: string, error: unknown) => boolean;

/** Makes the test for the materialized views of an API. */
export function createPopulationTest(api: CompiledApi): IsPopulationError {
  const views = new Set(
    api.fingerprint.objects.filter(({ kind }) => kind === 'm').flatMap(({ collections }) => collections),
  );
  return function isPopulationError(collection, error) {
    if (!views.has(collection) || !(error instanceof Error)) return false;
    return error.cause instanceof ServerError && error.cause.sqlstate === '55000';
  };
}
