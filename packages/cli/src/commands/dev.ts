import { bothChanges, type ChangedRelations } from '@tablewright/introspect';
import type { CompiledApi, RunningServer } from '@tablewright/runtime';
import { onStopSignals } from '@tablewright/runtime/tools';
import { printSummary } from '../compile/steps.ts';
import { linkCompilation } from '../dev/link-compilation.ts';
import { printFailure, printRebuilt, printTypes } from '../dev/print.ts';
import { type Built, buildFirst, differenceOf, newWarnings, rebuild } from '../dev/rebuild.ts';
import {
  createRenewableRecompiler,
  type HeldSource,
  holdSource,
  openWatched,
  type RenewableRecompiler,
  unlessStopped,
} from '../dev/renewable.ts';
import { startTypeChecks, type TypeChecks } from '../dev/type-checks.ts';
import { type Noticed, startChangeEvents, startWatcher, type Watcher } from '../dev/watcher.ts';
import { CommandError, exitCodes } from '../errors/failures.ts';
import { refreshModules } from '../modules/import-config.ts';
import { outputOf } from '../project/extensions.ts';
import { loadProject, type Project } from '../project/project.ts';
import { databaseUrl } from '../project/settings.ts';
import { type Progress, processProgress } from '../terminal/progress.ts';
import type { GlobalOptions } from './options.ts';
import { importApi, printListening, reportDrift, serveOne } from './serve-api.ts';

export interface DevOptions extends GlobalOptions {
  /** False: types are not checked. */
  readonly types: boolean;
  /** Have the database tell of changes, by an event trigger that is removed at the end. Default: it is asked. */
  readonly notify?: boolean;
}

/** `platform dev`: compiles and serves, and does both again after every change. Resolves on the signal to stop. */
export async function dev(options: DevOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const stopping = stopsOnSignals();
  refreshModules(project.folder);
  const isEmbedded = databaseUrl(project) === null;
  const connected = openWatched(project, progress);
  // An embedded database is this process alone, which must not end while it is made.
  const watched = await (isEmbedded ? connected : unlessStopped(connected, stopping)).catch((error: unknown) => {
    if (stopping.aborted) process.exit(0);
    throw error;
  });
  const { source } = watched;
  const held = holdSource(watched, progress, stopping);
  const watcher = await startWatcher(project, held, progress);
  const endChangeEvents = options.notify === true ? await startChangeEvents(project, source, watcher, progress) : null;
  let running: Running | null = null;
  try {
    const ready = await buildPatiently(project, held, watcher, stopping, progress);
    if (ready !== null) {
      printSummary(ready.built.project, ready.built.result, progress);
      running = await serveFirst(ready, held, options, progress);
      await follow(running, watcher, stopping, progress);
    }
  } finally {
    await endChangeEvents?.();
    await running?.types?.close();
    await running?.server.close();
    await running?.built.cleared;
    // An embedded database is the server's, once there is one.
    await held.close(source.embedded === null || running === null);
  }
  process.exit(0);
}

/** A first build that can be served. */
interface Ready {
  readonly built: Built;
  readonly api: CompiledApi;
}

/** Builds for the first time; while mistakes in files prevent that, waits for changes. Null on the signal to stop. */
async function buildPatiently(
  first: Project,
  held: HeldSource,
  watcher: Watcher,
  stopping: AbortSignal,
  progress: Progress,
): Promise<Ready | null> {
  let project = first;
  for (let noticed: Noticed | null = null; ; ) {
    try {
      if (noticed !== null) project = await loadProject(first.folder, first.stateFolder, noticed.number);
      const latest = project;
      const built = await buildFirst(project, held.current(), progress, (reading) =>
        watcher.waitFor(reading, latest, stopping),
      );
      if (built !== null) {
        // Node does not load a module again under its own name after loading it has failed.
        const api = await (noticed === null
          ? importApi(project)
          : linkCompilation(project, built.compilation, noticed.number));
        return { built, api };
      }
    } catch (error) {
      if (stopping.aborted) return null;
      const code = error instanceof CommandError ? error.exitCode : exitCodes.internal;
      const isUnread = code === exitCodes.database && noticed !== null;
      if (!isUnread && code !== exitCodes.invalid && code !== exitCodes.start) throw error;
      if (isUnread) watcher.forgetTables();
      printFailure(noticed === null ? [] : reasonsOf(noticed), error, 'It is tried again after a change.', progress);
    }
    noticed = await watcher.next(project, stopping);
    if (noticed === null) return null;
  }
}

interface Running {
  readonly server: RunningServer;
  readonly held: HeldSource;
  readonly recompiler: RenewableRecompiler;
  readonly types: TypeChecks | null;
  built: Built;
  /** As it was read last, also where it does not compile: its files are those to look at. */
  project: Project;
  /** Relations that have to be read again, because no build since their change succeeded; null if there are none. */
  stale: ChangedRelations | null;
  /** True if the configuration chooses other tables than those that were read. */
  isChosen: boolean;
  /** True if the last change was built. */
  isBuilt: boolean;
  /** Reason why the tables could not be read, reported once; null since they were read. */
  unread: string | null;
}

async function serveFirst(
  { built, api: loaded }: Ready,
  held: HeldSource,
  options: DevOptions,
  progress: Progress,
): Promise<Running> {
  const { project } = built;
  const recompiler = await createRenewableRecompiler(project, loaded);
  const settings = { ...options, signals: false, development: true, recompiler, loaded };
  const { server, api, token, administrator } = await serveOne(project, held.current(), settings, progress);
  reportDrift(server.drifts(), progress);
  progress.event('listening', { url: server.url });
  printListening(project, { url: server.url, pages: server.pages, token, api, administrator }, progress);
  progress.print('\nWatching the database, the configuration, permissions, templates, extensions and documents.');
  const folders = [outputOf(project), 'extensions'];
  const types = options.types
    ? startTypeChecks({ folder: project.folder, folders }, (verdict) => printTypes(verdict, progress))
    : null;
  types?.check();
  const state = { stale: null, isChosen: false, isBuilt: true, unread: null };
  return { server, held, recompiler, types, built, project, ...state };
}

/** Serves every change until the signal to stop. */
async function follow(running: Running, watcher: Watcher, stopping: AbortSignal, progress: Progress): Promise<void> {
  for (;;) {
    const noticed = await watcher.next(running.project, stopping);
    if (noticed === null) return;
    await change(running, noticed, watcher, stopping, progress);
  }
}

function reasonsOf({ paths, tables }: Noticed): readonly string[] {
  return [...paths, ...(tables === null ? [] : ['database'])];
}

async function change(
  running: Running,
  noticed: Noticed,
  watcher: Watcher,
  stopping: AbortSignal,
  progress: Progress,
): Promise<void> {
  const { number, paths, tables, isProof, start } = noticed;
  const reasons = reasonsOf(noticed);
  // The configuration chooses tables.
  const isChosen = running.isChosen || paths.some((path) => path.startsWith('platform.config.'));
  const stale = bothChanges(running.stale, bothChanges(tables, isChosen ? 'all' : null));
  // The error was reported; all tables are read when it is fixed.
  if (isProof && !running.isBuilt) return void Object.assign(running, { stale });
  // After an error each build is told, also one that changes nothing: it is the word that the error is mended.
  const isMended = !running.isBuilt;
  const onlyTables = paths.length === 0 && running.isBuilt;
  Object.assign(running, { stale, isChosen, isBuilt: false });
  // Tables that could not be read are left until a look is answered, unless others are chosen.
  const read = running.unread !== null && tables === null && !isChosen ? null : stale;
  const { server, held, recompiler, types, built: before } = running;
  try {
    const { folder, stateFolder } = running.project;
    const project = await loadProject(folder, stateFolder, number);
    running.project = project;
    const waitFor = async <T>(reading: Promise<T>, longestMs?: number): Promise<T | null> => {
      const facts = await watcher.waitFor(reading, project, stopping, longestMs);
      running.unread = facts === null ? 'A change of files has come first.' : null;
      return facts;
    };
    const rebuilt = await rebuild(before, { project, number, tables: read, onlyTables, held, waitFor }, async (api) => {
      await server.replace(api);
      await recompiler?.renew(project, api);
    });
    if (rebuilt === null) return watcher.forgetTables();
    const { built, served, unwritten } = rebuilt;
    // Files that could not be written are written with the next change.
    Object.assign(running, { built, isBuilt: unwritten === null });
    if (read === stale) Object.assign(running, { stale: null, isChosen: false });
    if (served === null) return;
    // Effects of a changed relation are looked up in the catalog; the check for more runs when the process is idle.
    if (read !== null && read !== 'all') watcher.proveTables();
    if (unwritten !== null) {
      printFailure(reasons, unwritten, 'It is served. Its files are written with the next change.', progress);
      return;
    }
    const diff = differenceOf(before, built);
    const { written } = built.result;
    const isFromFiles = isMended || tables === null || paths.length > 0;
    if (!isFromFiles && diff.changes.length === 0 && written.written === 0) return;
    const ms = Math.round(served - start);
    printRebuilt({ reasons, diff, written, warnings: newWarnings(before, built), ms }, progress);
    types?.check();
  } catch (error) {
    if (!stopping.aborted) fail(running, noticed, error, watcher, progress);
  }
}

/** Reports why a change is not served. */
function fail(running: Running, noticed: Noticed, error: unknown, watcher: Watcher, progress: Progress): void {
  const unread = error instanceof CommandError && error.exitCode === exitCodes.database ? error.message : null;
  const isStillUnread = unread !== null && unread === running.unread && noticed.paths.length === 0;
  if (unread !== null) {
    running.unread = unread;
    watcher.forgetTables();
  }
  if (!isStillUnread) printFailure(reasonsOf(noticed), error, 'The version that was served before stays.', progress);
}

/** Is aborted by the first signal to stop; a later one ends the process. */
function stopsOnSignals(): AbortSignal {
  const controller = new AbortController();
  onStopSignals(
    () => controller.abort(),
    () => process.exit(1),
  );
  return controller.signal;
}
