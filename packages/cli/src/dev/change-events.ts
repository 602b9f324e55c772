/** `platform dev --notify`: has the database tell of changes where it can, and says why where it cannot. */
import { chooseHost } from '@tablewright/runtime/tools';
import type { Project } from '../project/project.ts';
import { databaseUrl } from '../project/settings.ts';
import type { TableEvents } from '../sources/commands.ts';
import { sources } from '../sources/dialects.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Watcher } from './watcher.ts';

/**
 * Begins; the tables are polled until then, and whenever the way to the database is lost. Returns the function that
 * ends it.
 */
export async function startChangeEvents(
  project: Project,
  source: Source,
  watcher: Pick<Watcher, 'wake' | 'relyOnEvents'>,
  progress: Progress,
): Promise<() => Promise<void>> {
  const { hearTables } = await sources[source.family].commands();
  let changeEvents: TableEvents | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const poll = (reason: string): void => {
    watcher.relyOnEvents(false);
    progress.event('notices', { live: false, reason });
    progress.print(`  Changes of tables are looked for every second: ${reason}.`);
  };
  const listen = async (url: string): Promise<void> => {
    if (typeof hearTables === 'string') return;
    changeEvents = await hearTables(url, { heard: watcher.wake, lost: () => lose(url) });
    if (closed) return changeEvents.close();
    watcher.relyOnEvents(true);
    // Earlier changes were not reported.
    watcher.wake();
    progress.event('notices', { live: true, trigger: changeEvents.name });
    progress.print(
      `  Changes of tables are told by the event trigger ${changeEvents.name}, which goes when this ends.`,
    );
  };
  const lose = (url: string): void => {
    poll('the connection that told of them was lost');
    const again = (): void => void chooseHost(url).then(listen).catch(later);
    const later = (): void => {
      if (!closed) timer = setTimeout(again, retryAfter).unref();
    };
    later();
  };
  const url = databaseUrl(project);
  if (typeof hearTables === 'string') poll(hearTables);
  else if (url === null) poll('the embedded database is this process alone');
  else
    await chooseHost(url)
      .then(listen)
      .catch((error: Error) => poll(error.message));
  return async () => {
    closed = true;
    clearTimeout(timer);
    await changeEvents?.close();
  };
}

/** Milliseconds before a lost connection is tried again. */
const retryAfter = 5_000;
