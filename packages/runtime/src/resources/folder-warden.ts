/** What writing folders means beyond their fields. Source: API specification, section 10.6. */
import { allRows, firstRow } from '../write/own-rows.ts';
import { failedValidation } from '../write/problems.ts';
import { keyArray, type Warden, writes } from '../write/warden.ts';

/** Serialises requests that move folders: each of two could close one half of a circle. */
const moves = 'platform.folder-moves';

/** Makes the warden of folders; `schema` is quoted. */
export function createFolderWarden(schema: string): Warden {
  const lockSql =
    'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text';
  const circleSql = `WITH RECURSIVE way(start, above) AS (
  SELECT id, parent FROM ${schema}.platform_folders WHERE id = ANY ($1::uuid[]) AND parent IS NOT NULL
  UNION
  SELECT way.start, f.parent FROM way JOIN ${schema}.platform_folders f ON f.id = way.above WHERE f.parent IS NOT NULL
) SELECT start::text FROM way WHERE start = above LIMIT 1`;

  return {
    async watch(running, step) {
      if (step.action === 'delete' || !writes(step, ['parent'])) return null;
      const { transaction } = running;
      await allRows(transaction, lockSql, [moves]);
      return async (keys) => {
        if ((await firstRow(transaction, circleSql, [keyArray(keys)])) === undefined) return;
        throw failedValidation(step.payload.placeOf(0), 'parent', 'check', 'must not lie below the folder itself');
      };
    },
  };
}
