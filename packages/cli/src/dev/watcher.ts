/** Watches a project under development for changes of its files, and of the tables of its database. */
import { readdir, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type CatalogStamps, type ChangedRelations, changedRelations } from '@tablewright/introspect';
import { chooseHost } from '@tablewright/runtime/tools';
import { CommandError } from '../errors/failures.ts';
import { configNames } from '../modules/import-config.ts';
import { loadConfigModules, loadExtensions, loadModules } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';
import { databaseUrl } from '../project/settings.ts';
import type { TableEvents } from '../sources/commands.ts';
import { sources } from '../sources/dialects.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';
import { type HeldSource, unlessStopped } from './renewable.ts';

export interface Noticed {
  /** One more than that of the change before; the first is 1. */
  readonly number: number;
  /** Files from the project's folder on. */
  readonly paths: readonly string[];
  /** Relations of the database that may have changed; null where none did. */
  readonly tables: ChangedRelations | null;
  /** True if no change was noticed, and it is time to prove that. */
  readonly isProof: boolean;
  /** Time when it was noticed, as of `performance.now()`. */
  readonly start: number;
}

/**
 * Milliseconds between two looks: at files, at a database, at one that tells of its changes, and at files being written.
 * `proof` counts from a change to the proof that it was the only one.
 */
const rhythm = { files: 250, database: 1000, told: 30_000, settling: 50, proof: 3000 } as const;

/** Looks for changes in one place. */
export interface Watcher {
  /** Tables may have changed: they are looked at at once. */
  readonly wake: () => void;
  /** Sets if the database reports changes by `wake`, so that it is queried less often. Default: false. */
  readonly relyOnEvents: (rely: boolean) => void;
  /** Discards the last reading of the tables: they count as changed as soon as they can be read again. */
  readonly forgetTables: () => void;
  /** All tables may have changed; this is reported when no other change has come for a while. */
  readonly proveTables: () => void;
  /**
   * Waits for a reading of the tables, at most `longestMs`, and reports when it takes long. From then on a change of
   * files comes first: the result is null.
   */
  waitFor<T>(reading: Promise<T>, project: Project, stopping: AbortSignal, longestMs?: number): Promise<T | null>;
  /** Resolves to the next change; null on the signal to stop. `project` is the latest one that could be read. */
  next(project: Project, stopping: AbortSignal): Promise<Noticed | null>;
}

/** Begins to watch; the present state is no change. `progress` reports that the database is away. */
export async function startWatcher(project: Project, source: HeldSource, progress: Progress): Promise<Watcher> {
  let files = await takeStamps(project);
  const tables = new TableReadings(source, progress);
  await tables.begin(project);
  let number = 0;
  let isReporting = false;
  let woken = false;
  let proofAt = Number.POSITIVE_INFINITY;
  let interrupt = new AbortController();
  return {
    wake() {
      woken = true;
      interrupt.abort();
    },
    relyOnEvents(rely) {
      isReporting = rely;
    },
    forgetTables() {
      tables.forget();
    },
    proveTables() {
      proofAt = performance.now() + rhythm.proof;
    },
    async waitFor(reading, latest, stopping, longestMs) {
      const done = new AbortController();
      const edited = tables.untilEdited(() => isEdited(latest, files), done.signal);
      const first = Promise.race([reading, edited]);
      const result = await unlessStopped(first, stopping, longestMs).finally(() => done.abort());
      if (result !== null) tables.endReading();
      return result;
    },
    async next(latest, stopping) {
      while (!stopping.aborted) {
        interrupt = new AbortController();
        const signal = AbortSignal.any([stopping, interrupt.signal]);
        if (!woken) await wait(rhythm.files, undefined, { signal }).catch(() => undefined);
        const start = performance.now();
        const taken = await settledStamps(latest, files);
        const paths = changedPaths(files, taken);
        const isDue = woken || tables.isDue(start, isReporting);
        // A look that goes on may have passed what it is woken for.
        if (isDue && !tables.isLooking) woken = false;
        const changed = isDue ? await tables.read(latest, stopping) : null;
        const isQuiet = paths.length === 0 && changed === null;
        const isProof = isQuiet && start >= proofAt && !tables.isAway;
        if (stopping.aborted || (isQuiet && !isProof)) continue;
        const relations = isProof ? 'all' : changed;
        if (relations === 'all') proofAt = Number.POSITIVE_INFINITY;
        files = taken;
        number += 1;
        return { number, paths, tables: relations, isProof, start };
      }
      return null;
    },
  };
}

/** The tables as they were read last, and why the database is away. */
class TableReadings {
  readonly #source: HeldSource;
  readonly #progress: Progress;
  #taken: CatalogStamps | null = null;
  /** A look that goes on, as where the database hangs: files are looked at meanwhile. */
  #look: Promise<CatalogStamps | Error> | null = null;
  #readAt = performance.now();
  #isForgotten = false;
  /** Reason of the last look, and the one that was told; null if the database is there. */
  #reason: string | null = null;
  #told: string | null = null;
  /** True from a reading that hangs on until the tables are read, also where looks are answered meanwhile. */
  #isHanging = false;

  constructor(source: HeldSource, progress: Progress) {
    this.#source = source;
    this.#progress = progress;
  }

  /** Takes the tables as they are. A look that hangs is reported; the end of the reading that follows is its end, too. */
  async begin(project: Project): Promise<void> {
    const done = new AbortController();
    this.#reportWait('', done.signal).catch(() => undefined);
    this.#taken = await this.#source.stamps(project).catch(() => null);
    done.abort();
  }

  get isLooking(): boolean {
    return this.#look !== null;
  }

  get isAway(): boolean {
    return this.#reason !== null;
  }

  /** The next look must not wait for a notification, since none will come. */
  forget(): void {
    this.#taken = null;
    this.#isForgotten = true;
  }

  isDue(now: number, isReporting: boolean): boolean {
    const hasEvents = isReporting && !this.isAway && !this.#isForgotten;
    return this.isLooking || now - this.#readAt >= (hasEvents ? rhythm.told : rhythm.database);
  }

  async read(project: Project, stopping: AbortSignal): Promise<ChangedRelations | null> {
    this.#look ??= this.#source.stamps(project).catch((error: Error) => error);
    const taken = await Promise.race([this.#look, wait(rhythm.files, null, { signal: stopping }).catch(() => null)]);
    if (taken === null || stopping.aborted) return null;
    this.#look = null;
    this.#readAt = performance.now();
    this.#tell(taken instanceof Error ? taken : null);
    if (taken instanceof Error) return null;
    this.#isForgotten = false;
    const changed = this.#taken === null ? 'all' : changedRelations(this.#taken, taken);
    this.#taken = taken;
    return changed;
  }

  /** Reports a reading that hangs. Resolves to null when a file changes then. */
  async untilEdited(isEdited: () => Promise<boolean>, signal: AbortSignal): Promise<null> {
    await this.#reportWait(' Files that change meanwhile come first.', signal);
    while (!(await isEdited())) await wait(rhythm.files, undefined, { signal });
    return null;
  }

  /** Resolves when the database has not answered for a while, which is told once. */
  async #reportWait(remark: string, signal: AbortSignal): Promise<void> {
    while (this.#source.waitsFor() === null) await wait(rhythm.files, undefined, { signal });
    if (this.#isHanging) return;
    const reason = this.#source.waitsFor();
    this.#isHanging = true;
    this.#reason = this.#told = reason;
    this.#progress.event('database', { live: false, reason });
    this.#progress.print(`  ${reason}${remark}`);
  }

  /** The tables were read. */
  endReading(): void {
    if (!this.#isHanging) return;
    this.#isHanging = false;
    this.#tell(null);
  }

  /** Reasons that follow the first one are told when they last: a server that starts has several. */
  #tell(error: Error | null): void {
    // A look that is answered tells nothing of the reading.
    if (error === null && this.#isHanging) return;
    const before = this.#reason;
    this.#reason = error && [error.message, error instanceof CommandError ? error.hint : ''].join(' ').trim();
    if (this.#reason === this.#told || (before !== null && error !== null && this.#reason !== before)) return;
    this.#told = this.#reason;
    this.#progress.event('database', { live: error === null, ...(error !== null && { reason: this.#reason }) });
    const text = error === null ? 'The database is back.' : `${this.#reason} It is asked again every second.`;
    this.#progress.print(`  ${text}`);
  }
}

/** An editor may empty a file before writing it, so changed files are looked at again until they stay the same. */
async function settledStamps(project: Project, before: InputStamps): Promise<InputStamps> {
  let taken = await takeStamps(project);
  for (let last = before; changedPaths(last, taken).length > 0; ) {
    await wait(rhythm.settling);
    last = taken;
    taken = await takeStamps(project);
  }
  return taken;
}

async function isEdited(project: Project, before: InputStamps): Promise<boolean> {
  return changedPaths(before, await takeStamps(project)).length > 0;
}

/** A stamp for each file by its path from the project's folder on. */
type InputStamps = ReadonlyMap<string, string>;

/** Takes the stamps. Files are checked repeatedly, as not every file system reports changes. */
async function takeStamps(project: Project): Promise<InputStamps> {
  const { folder, config } = project;
  const folders = ['extensions', 'documents', ...(config.templates === undefined ? [] : [config.templates])];
  const listed = await Promise.all(folders.map((subfolder) => filesIn(resolve(folder, subfolder))));
  const modules = [
    // A folder that cannot be read is reported by the build, which its missing files bring about.
    ...(await loadModules(project, await loadExtensions(project).catch(() => []))),
    ...(await loadConfigModules(project)),
  ];
  const paths = [
    ...configNames.map((name) => join(folder, name)),
    project.permissionsFile,
    ...listed.flat(),
    ...modules.map(({ path }) => join(folder, path)),
  ];
  const stamps = await Promise.all([...new Set(paths)].map(async (path) => [path, await stampOf(path)] as const));
  return new Map(
    stamps.flatMap(([path, stamp]) => (stamp === null ? [] : [[relative(folder, path), stamp] as const])).sort(byPath),
  );
}

/** The paths that differ, sorted: changed, new and gone. */
function changedPaths(before: InputStamps, after: InputStamps): readonly string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).sort();
}

function byPath([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Null where there is no file. */
async function stampOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  if (found === null || !found.isFile()) return null;
  return `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
}

/** Begins; the tables are polled until then, and while the database is lost. Returns the function that ends it. */
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
