/** Files for delivery: facts of their contents from their rows, and the settings for assets. */

import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { collectRows, ownStatement, type TextRow } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import type { DriftGuard } from '../drift-watch.ts';
import { PlatformError } from '../errors.ts';
import type { AccessClass, CompiledApi, JsonValue } from '../language/index.ts';
import { isUuid } from '../language/types/uuid.ts';
import { createAnswerWriter } from '../query/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { createRowContexts } from '../row-security/contexts.ts';
import type { SystemPlace } from '../system/place.ts';
import { filesName } from '../write/access/system-access.ts';
import type { AssetSettings } from './transform/transformation.ts';

export type FoundFile = ReturnType<typeof fileOf>;

export type FileFinder = ReturnType<typeof createFileFinder>;

interface FileFinderOptions {
  readonly api: CompiledApi;
  readonly place: SystemPlace;
  readonly database: Pick<Database, 'read'>;
  readonly planner: Planner;
  /** Throws SERVICE_UNAVAILABLE for a statement about a collection that no longer fits the database. */
  readonly driftGuard: DriftGuard;
  /** The access class of those without a token. */
  readonly publicClass: string;
}

export function createFileFinder(options: FileFinderOptions) {
  const { api, place: location, database, planner, driftGuard, publicClass } = options;
  const claimed = { role: null, admin: false, user: null, roleKey: null };
  const publicCaller: Caller = { accessClass: publicClass, user: null, role: null, ...createRowContexts(api)(claimed) };
  const publicReads = readsFiles(api.access.find(({ name }) => name === publicClass));
  const { file: fileSql, settings: settingsSql } = statements(location);

  const tableOf = (collection: string): readonly string[] =>
    api.collections.filter(({ name }) => name === collection).map(({ table }) => table);
  const tables = { [fileSql]: tableOf('platform_files'), [settingsSql]: tableOf('platform_settings') };

  async function row(text: string, values: readonly string[]): Promise<TextRow | undefined> {
    driftGuard({ tables: tables[text] ?? [] });
    const [found] = await collectRows((sink) => database.read(ownStatement(text), values, sink));
    return found;
  }

  /** True if the caller may read the item: a file is only sent to callers with permission to read it. */
  async function isReadable(caller: Caller, key: string): Promise<boolean> {
    const planned = planRead(planner, caller, key);
    if (planned === null) return false;
    driftGuard(planned.plan.statement);
    const rows = createAnswerWriter(planned.plan)();
    await database.read(planned.statement, planned.parameters, rows);
    return rows.items > 0;
  }

  return {
    /** The file of a key, as paths have it. Rejects with FORBIDDEN unless it is there, with a content, for the caller. */
    async find(caller: Caller, key: string): Promise<FoundFile> {
      if (!isUuid(key) || !(await isReadable(caller, key))) throw new PlatformError('FORBIDDEN');
      const found = await row(fileSql, [key]);
      if (found === undefined) throw new PlatformError('FORBIDDEN');
      return fileOf(found);
    },
    /** True if every caller may read it. */
    async isPublic(caller: Caller, id: string): Promise<boolean> {
      // A user without a role of its own has the public rules, which may name the user.
      if (caller.accessClass === publicClass && caller.user === null) return true;
      return publicReads && isReadable(publicCaller, id);
    },
    has: async ({ id, name }: Pick<FoundFile, 'id' | 'name'>): Promise<boolean> =>
      (await row(fileSql, [id]))?.[2] === name,
    async settings(): Promise<AssetSettings> {
      const [allowed, presets] = (await row(settingsSql, [])) ?? [];
      const mode = allowed === 'none' || allowed === 'presets' ? allowed : 'all';
      const list: JsonValue = typeof presets === 'string' ? JSON.parse(presets) : null;
      return { allowed: mode, presets: list };
    },
  };
}

const fileColumns = [
  'id',
  'storage',
  'filename_disk',
  'filename_download',
  'type',
  'charset',
  'filesize',
  'width',
  'height',
];

function statements(location: SystemPlace) {
  const { table, text: textOf, milliseconds, parameter } = ownTables(location);
  const columns = fileColumns.map(textOf).join(', ');
  const file = `SELECT ${columns}, ${milliseconds('modified_on')}
FROM ${table('platform_files')} WHERE id = ${parameter('$1::uuid')} AND filename_disk IS NOT NULL`;
  const settings = `SELECT ${textOf('storage_asset_transform')}, ${textOf('storage_asset_presets')}
FROM ${table('platform_settings')} LIMIT 1`;
  return { file, settings };
}

function readsFiles(access: AccessClass | undefined): boolean {
  const granted = access?.collections.find(({ collection }) => collection === filesName);
  return (granted?.read ?? []).length > 0;
}

function planRead(planner: Planner, caller: Caller, key: string): PlannedRead | null {
  try {
    return planner.read(caller, { name: filesName }, key, '');
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}

function fileOf(row: TextRow) {
  const [id, storage, name, download, type, charset = null, size, width, height, modified] = row;
  const count = (text: string | null | undefined): number | null => (typeof text === 'string' ? Number(text) : null);
  return {
    id: id ?? '',
    storage: storage ?? '',
    name: name ?? '',
    /** Under which it is saved. */
    download: download ?? '',
    type: type ?? 'application/octet-stream',
    charset,
    size: Number(size ?? 0),
    width: count(width),
    height: count(height),
    modified: new Date(Number(modified ?? 0)),
  } as const;
}
