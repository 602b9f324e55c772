/** Effects of writing folders beyond their fields. Source: API specification, section 10.6. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows } from '../dialects/own-tables.ts';
import { failedValidation } from '../json/problems.ts';
import type { SystemPlace } from '../system/place.ts';
import type { SystemHook } from '../write/execute/running.ts';
import { keyArray, writes } from '../write/hooks/system-hook.ts';

/** Serialises requests that move folders: each of two could close one half of a circle. */
const moves = 'platform.folder-moves';

function statements(location: SystemPlace) {
  const { table, text, key, among, rows, turn } = ownTables(location);
  const named = among('platform_folders', 'f');
  return {
    lock: turn(),
    circle: rows(`WITH RECURSIVE way(start, above) AS (
  SELECT ${key('f.id')}, ${key('f.parent')}${fromRows(named, 'f.parent IS NOT NULL')}
  UNION
  SELECT way.start, ${key('f.parent')} FROM way JOIN ${table('platform_folders')} AS f ON f.id = way.above
  WHERE f.parent IS NOT NULL
) SELECT ${text('start')} FROM way WHERE start = above LIMIT 1`),
  };
}

/** Makes the systemHook of folders. */
export function createFolderHook(location: SystemPlace): SystemHook {
  const texts = statements(location);

  return {
    async watch(running, step) {
      if (step.action === 'delete' || !writes(step, ['parent'])) return null;
      const { transaction } = running;
      await allRows(transaction, texts.lock, [moves]);
      return async (keys) => {
        if ((await firstRow(transaction, texts.circle, [keyArray(keys)])) === undefined) return;
        throw failedValidation(step.payload.placeOf(0), 'parent', 'check', 'must not lie below the folder itself');
      };
    },
  };
}
