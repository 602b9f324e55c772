/** Effects of writing files: their owner, and the place of contents. Source: specification, section 11.1. */
import { allRows, firstRow, identifiedRow } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows } from '../dialects/own-tables.ts';
import { PlatformError } from '../errors.ts';
import { looseFileSteps, type StoredContent } from '../files/loose-files.ts';
import { failedValidation, invalidPayload } from '../json/problems.ts';
import { arrayLiteral } from '../language/index.ts';
import { readElements } from '../sql/array-text.ts';
import type { SystemPlace } from '../system/place.ts';
import { untypedFile } from '../write/access/system-access.ts';
import { keyArray, type Running, type Step, type SystemHook, writes } from '../write/execute/running.ts';

interface FileHookOptions {
  readonly place: SystemPlace;
  /** Called with a transaction that leaves contents without a file. */
  readonly left: (transaction: Running['transaction']) => void;
}

function fileStatements(location: SystemPlace) {
  const { table, text, among, isAmong, lock, now, ...sql } = ownTables(location);
  const named = among('platform_files', 'f');
  const defaultFolder = `SELECT storage_default_folder FROM ${table('platform_settings')} LIMIT 1`;
  return {
    contents: sql.rows(
      `SELECT ${text('f.storage')}, ${text('f.filename_disk')}${fromRows(named, 'f.filename_disk IS NOT NULL')} ORDER BY f.id${lock('f')}`,
    ),
    untyped: sql.rows(`SELECT ${text('f.id')}${fromRows(named, 'f.type IS NULL')} LIMIT 1`),
    /** $2 user, $3 those of the files that say where they lie. */
    made: sql.write(
      sql.update(named, {
        uploaded_by: '$2::uuid',
        modified_by: '$2::uuid',
        folder: `CASE WHEN ${isAmong('f.id', '$3', 'uuid')} THEN f.folder ELSE COALESCE(f.folder, (${defaultFolder})) END`,
      }),
    ),
    changed: sql.write(sql.update(named, { modified_by: '$2::uuid', modified_on: now })),
  };
}

export function createFileHook({ place: location, left }: FileHookOptions): SystemHook {
  const loose = looseFileSteps(location);
  const texts = fileStatements(location);

  async function contentsOf({ transaction }: Running, ids: string): Promise<readonly StoredContent[]> {
    const rows = await allRows(transaction, texts.contents, [ids]);
    return rows.map(([storage, name]) => ({ storage: storage ?? '', name: name ?? '' }));
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
        const placed = placedItems(step);
        return async (made) => {
          const ids = keyArray(made);
          if (uploaded) await claimFile(running, ids);
          else if ((await firstRow(running.transaction, texts.untyped, [ids])) !== undefined) {
            throw invalidPayload(`"type" ${untypedFile}.`);
          }
          const kept = readElements(ids).filter((_, item) => placed[item]);
          await identifiedRow(running.transaction, texts.made, [ids, user, arrayLiteral(kept)]);
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
        await identifiedRow(running.transaction, texts.changed, [ids, user]);
      };
    },
  };
}

/** Items of a batch that say where they lie, even if nowhere. */
function placedItems({ batch: { columns, count } }: Step): readonly boolean[] {
  const column = columns.find(({ field }) => field.descriptor.name === 'folder');
  const all = Array.from({ length: count }, () => column !== undefined);
  return column?.present === null ? all : all.map((placed, item) => placed && column?.present?.[item] === true);
}

/** Serialises requests that move folders: each of two could close one half of a circle. */
const moves = 'platform.folder-moves';

function folderStatements(location: SystemPlace) {
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

export function createFolderHook(location: SystemPlace): SystemHook {
  const texts = folderStatements(location);

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
