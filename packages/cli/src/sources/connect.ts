import { rm } from 'node:fs/promises';
import { defaultDialect, dialectFacts, familyOf } from '@tablewright/runtime/language';
import { chooseHost } from '@tablewright/runtime/tools';
import type { Project } from '../project/project.ts';
import { databaseUrl, embeddedFolder, hasDatabase, refuseNewDatabase, unfinishedFile } from '../project/settings.ts';
import type { Progress } from '../terminal/progress.ts';
import { openEmbedded, sources } from './dialects.ts';
import { type Source, type WaitListener, watchWaits } from './source.ts';

/** Purpose of a connection. */
export interface ConnectOptions {
  /**
   * True for migrations, which find an embedded database as it is, even empty. Other commands must never write,
   * regardless of the role's rights, except for the migrations that a new embedded database begins with.
   */
  readonly writable?: boolean;
  /** Takes waits for the database. Default: the first is printed. */
  readonly onWait?: WaitListener;
}

/** Opens the project's database as a phase of its own. */
export async function connect(project: Project, progress: Progress, options: ConnectOptions = {}): Promise<Source> {
  const isNew = !hasDatabase(project);
  // Making the embedded database keeps this thread busy for seconds, so nothing could tell while it lasts.
  if (isNew) progress.print(`  making the embedded ${dialectFacts[defaultDialect].title} (only this first time) …`);
  const opened = await progress.phase('connect', () => openSource(project, options));
  const source = opened.embedded === null ? watchWaits(opened, options.onWait ?? printFirst(progress)) : opened;
  if (!isNew) return source;
  try {
    const { beginDatabase } = await import('./begin-database.ts');
    if (options.writable !== true) await beginDatabase(source, project, progress);
    await rm(unfinishedFile(embeddedFolder(project)), { force: true });
    return source;
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** The same for a command that only asks: rejects where an embedded database would have to be made first. */
export async function connectPresent(
  project: Project,
  progress: Progress,
  { hint, ...options }: ConnectOptions & { readonly hint?: string } = {},
): Promise<Source> {
  refuseNewDatabase(project, hint);
  return connect(project, progress, options);
}

/** Opens the project's database. Rejects with advice when it cannot be reached. */
async function openSource(project: Project, { writable = false }: ConnectOptions): Promise<Source> {
  const url = databaseUrl(project);
  if (url === null) return openEmbedded(embeddedFolder(project));
  return sources[familyOf(url)].open(await chooseHost(url), writable);
}

function printFirst(progress: Progress): WaitListener {
  let isPrinted = false;
  return (reason) => {
    if (reason === null || isPrinted) return;
    isPrinted = true;
    progress.event('database', { live: false, reason });
    progress.print(`  ${reason}`);
  };
}
