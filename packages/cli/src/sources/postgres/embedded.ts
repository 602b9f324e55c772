import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedInUseError, embeddedExtensions, lockEmbedded } from '@tablewright/runtime/tools';
import { CommandError, exitCodes } from '../../errors/failures.ts';
import { unfinishedFile } from '../../project/settings.ts';
import type { Run, Source } from '../source.ts';
import { type StatementSettings, settingsOf } from './session.ts';

/** Opens the embedded database in a folder, and makes it where there is none. */
export async function openEmbedded(folder: string): Promise<Source> {
  const { PGlite } = await import('@electric-sql/pglite');
  await mkdir(folder, { recursive: true });
  const release = lock(folder);
  await beginAnew(folder);
  const database = await PGlite.create({ dataDir: folder, extensions: await embeddedExtensions() });
  // Every type stays in its text form.
  const parsers = Object.fromEntries(Object.keys(database.parsers).map((type) => [type, (text: string) => text]));
  const form = { rowMode: 'array', parsers } as const;
  const run: Run = async (sql, parameters) => {
    const result = await database.query<(string | null)[]>(sql, [...parameters], form);
    return result.rows;
  };
  const underSettings = (
    { planner, caller }: StatementSettings,
    ...[sql, parameters]: Parameters<Run>
  ): ReturnType<Run> =>
    database.transaction(async (inner) => {
      for (const setting of planner) await inner.exec(`SET LOCAL ${setting}`);
      if (caller !== undefined) await inner.query(caller.apply.text, [...caller.apply.parameters]);
      return (await inner.query<(string | null)[]>(sql, [...parameters], form)).rows;
    });
  return {
    label: 'the embedded PostgreSQL',
    family: 'postgres',
    dialect: 'postgres',
    run,
    read: (statement, parameters, before = '', planner = []) =>
      underSettings(settingsOf(statement, planner), before + statement.text, parameters),
    script: async (sql) => void (await database.exec(sql)),
    close: () => database.close().finally(release),
    embedded: database,
  };
}

/** Marks a new database until it is whole. A database with a mark was stopped while it was made, so it is removed. */
async function beginAnew(folder: string): Promise<void> {
  const unfinished = unfinishedFile(folder);
  if (existsSync(unfinished)) await rm(folder, { recursive: true });
  if (existsSync(join(folder, 'PG_VERSION'))) return;
  await mkdir(folder, { recursive: true });
  await writeFile(unfinished, '');
}

function lock(folder: string): () => void {
  try {
    return lockEmbedded(folder);
  } catch (error) {
    if (!(error instanceof EmbeddedInUseError)) throw error;
    throw new CommandError(exitCodes.database, error.message, error.hint);
  }
}
