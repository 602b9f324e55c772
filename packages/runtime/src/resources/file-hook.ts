/**
 * Effects of writing files beyond their fields: their owner, and the place of their contents. Source: specification,
 * section 11.1.
 */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { PlatformError } from '../errors.ts';
import { looseFileSteps, type StoredContent } from '../files/loose-files.ts';
import { invalidPayload } from '../json/problems.ts';
import { arrayLiteral } from '../language/index.ts';
import type { SystemPlace } from '../system/place.ts';
import type { Running, Step, SystemHook } from '../write/execute/running.ts';
import { keyArray, writes } from '../write/hooks/system-hook.ts';

/** Options of the hook. */
export interface FileHookOptions {
  readonly place: SystemPlace;
  /** Called with a transaction that leaves contents without a file. */
  readonly left: (transaction: Running['transaction']) => void;
}

interface Statements {
  readonly contents: OwnSql;
  readonly untyped: OwnSql;
  readonly made: OwnSql;
  readonly changed: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const files = `${schema}.platform_files`;
  const contentsSql = `SELECT storage::text, filename_disk::text FROM ${files}
WHERE id = ANY ($1::uuid[]) AND filename_disk IS NOT NULL ORDER BY id FOR UPDATE`;
  const untypedSql = `SELECT id::text FROM ${files} WHERE id = ANY ($1::uuid[]) AND type IS NULL LIMIT 1`;
  const madeSql = `UPDATE ${files} AS f SET uploaded_by = $2::uuid, modified_by = $2::uuid,
  folder = CASE WHEN made.placed THEN f.folder ELSE COALESCE(f.folder, (
    SELECT storage_default_folder FROM ${schema}.platform_settings LIMIT 1
  )) END
FROM ROWS FROM (pg_catalog.unnest($1::uuid[]), pg_catalog.unnest($3::boolean[])) AS made(id, placed) WHERE f.id = made.id RETURNING ${transactionNumber}`;
  const changedSql = `UPDATE ${files} SET modified_by = $2::uuid, modified_on = pg_catalog.now()
WHERE id = ANY ($1::uuid[]) RETURNING ${transactionNumber}`;
  return { contents: contentsSql, untyped: untypedSql, made: madeSql, changed: changedSql };
}

function mysqlStatements({ table, list, lock }: MysqlTables): Statements {
  const named = `${table('platform_files')} AS f JOIN ${list('$1[]', 'k')} ON f.id = k.v`;
  return {
    contents: createScript(
      returnRows(
        `SELECT f.storage, f.filename_disk FROM ${named} WHERE f.filename_disk IS NOT NULL ORDER BY f.id${lock('f')}`,
      ),
    ),
    untyped: createScript(returnRows(`SELECT CAST(f.id AS CHAR) FROM ${named} WHERE f.type IS NULL LIMIT 1`)),
    made: createScript(`UPDATE ${named} JOIN ${list('$3[]', 'p')} ON p.n = k.n
SET f.uploaded_by = $2, f.modified_by = $2, f.folder = CASE WHEN p.v = 'true' THEN f.folder ELSE COALESCE(f.folder, (
  SELECT storage_default_folder FROM ${table('platform_settings')} LIMIT 1
)) END`),
    changed: createScript(`UPDATE ${named} SET f.modified_by = $2, f.modified_on = NOW(6)`),
  };
}

/** Makes the systemHook of files. */
export function createFileHook({ place: location, left }: FileHookOptions): SystemHook {
  const loose = looseFileSteps(location);
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });

  async function contentsOf({ transaction }: Running, ids: string): Promise<readonly StoredContent[]> {
    const rows = await allRows(transaction, texts.contents, [ids]);
    return rows.map(([storage, name]) => ({ storage: storage ?? '', name: name ?? '' }));
  }

  async function run({ transaction }: Running, text: OwnSql, values: readonly (string | null)[]): Promise<void> {
    const row = await firstRow(transaction, text, values);
    if (row?.[0]) transaction.identify(row[0]);
  }

  async function claimFile(running: Running, ids: string): Promise<void> {
    const contents = await contentsOf(running, ids);
    // After too long a wait the content may be about to be removed.
    if (!(await loose.claim(running.transaction, contents))) throw new PlatformError('SERVICE_UNAVAILABLE');
  }

  async function leave({ transaction }: Running, contents: readonly StoredContent[]): Promise<void> {
    if (contents.length === 0) return;
    await loose.leave(transaction, contents);
    left(transaction);
  }

  return {
    async watch(running, step) {
      const { action, keys } = step;
      const user = running.caller.user;
      // Requests cannot name this field: it is written with a content, and only then.
      const uploaded = writes(step, ['filename_disk']);
      if (action === 'create') {
        const placed = arrayLiteral(placedItems(step).map(String));
        return async (made) => {
          const ids = keyArray(made);
          if (uploaded) await claimFile(running, ids);
          else if ((await firstRow(running.transaction, texts.untyped, [ids])) !== undefined) {
            throw invalidPayload('"type" is required for a file without content.');
          }
          await run(running, texts.made, [ids, user, placed]);
        };
      }
      if (keys === null) return null;
      const ids = keyArray(keys);
      if (action === 'delete') {
        const contents = await contentsOf(running, ids);
        return () => leave(running, contents);
      }
      const requested = uploaded || writes(step, ['type']);
      const before = requested ? await contentsOf(running, ids) : [];
      if (!uploaded && before.length > 0) throw invalidPayload('The type of a file is what its content says.');
      return async () => {
        if (uploaded) {
          await claimFile(running, ids);
          await leave(running, before);
        }
        await run(running, texts.changed, [ids, user]);
      };
    },
  };
}

/** Which items of a batch say where they lie, even if nowhere. */
function placedItems({ batch: { columns, count } }: Step): readonly boolean[] {
  const column = columns.find(({ field }) => field.descriptor.name === 'folder');
  const all = Array.from({ length: count }, () => column !== undefined);
  return column?.present === null ? all : all.map((placed, item) => placed && column?.present?.[item] === true);
}
