import { setTimeout as wait } from 'node:timers/promises';
import type { RunningServer } from '@platform/runtime';
import { catalogMark } from '../dev/catalog-mark.ts';
import { refreshModules } from '../dev/fresh-modules.ts';
import { changedPaths, type InputMarks, takeMarks } from '../dev/input-marks.ts';
import { type Built, buildFirst, differenceOf, newWarnings, rebuild } from '../dev/rebuild.ts';
import { createRenewableRecompiler, type RenewableRecompiler } from '../dev/renewable-recompiler.ts';
import { tellFailure, tellRebuilt, tellTypes } from '../dev/tell.ts';
import { startTypeChecks, type TypeChecks } from '../dev/type-checks.ts';
import { outputOf } from '../extensions.ts';
import { type Progress, processProgress } from '../progress.ts';
import { loadProject, type Project } from '../project.ts';
import { connect, type Source } from '../source.ts';
import { printSummary } from '../steps.ts';
import { printWelcome } from '../welcome.ts';
import type { GlobalOptions } from './options.ts';
import { importApi, reportDrift, serveOne } from './start.ts';

/** Options of `platform dev`. */
export interface DevOptions extends GlobalOptions {
  /** False: types are not checked. */
  readonly types: boolean;
}

/** Milliseconds between two looks at the files, at the database, and at files that are being written. */
const rhythm = { files: 250, database: 1000, settling: 50 } as const;

/** `platform dev`: compiles and serves, and does both again whenever something changes. Resolves when it is told to stop. */
export async function dev(options: DevOptions): Promise<void> {
  const progress = processProgress(options);
  const project = await loadProject(options.project);
  const stopping = stopsOnSignals();
  refreshModules(project.folder);
  const source = await connect(project, progress);
  const marks = { files: await takeMarks(project), database: await catalogMark(source) };
  let running: Running | null = null;
  try {
    const built = await buildFirst(project, source, progress);
    printSummary(project, built.generation, progress);
    running = await serveFirst(built, source, options, progress);
    await follow(running, marks, stopping, progress);
  } finally {
    await running?.types?.close();
    await running?.server.close();
    // An embedded database is the server's, once there is one.
    if (source.embedded === null || running === null) await source.close().catch(() => undefined);
    await running?.reconnected?.close().catch(() => undefined);
  }
  process.exit(0);
}

interface Running {
  readonly server: RunningServer;
  readonly source: Source;
  readonly recompiler: RenewableRecompiler | null;
  readonly types: TypeChecks | null;
  built: Built;
  /** In the place of `source`, when that one was lost. */
  reconnected: Source | null;
}

async function serveFirst(built: Built, source: Source, options: DevOptions, progress: Progress): Promise<Running> {
  const { project } = built;
  const generated = await importApi(project);
  const compiles = generated.dialect === 'postgres' || project.config.permissionSource === 'tables';
  const recompiler = compiles ? await createRenewableRecompiler(project, generated) : null;
  const settings = { ...options, signals: false, development: true, ...(recompiler && { recompiler }) };
  const { server, api, token, administrator } = await serveOne(project, source, settings, progress);
  reportDrift(server.drifts(), progress);
  progress.event('listening', { url: server.url });
  printWelcome({ url: server.url, token, api, stateFolder: project.stateFolder, administrator }, progress);
  progress.say('\nWatching the database, the configuration, permissions, templates, extensions and documents.');
  const folders = [outputOf(project), 'extensions'];
  const types = options.types
    ? startTypeChecks({ folder: project.folder, folders }, (verdict) => tellTypes(verdict, progress))
    : null;
  types?.check();
  return { server, source, recompiler, types, built, reconnected: null };
}

interface Marks {
  files: InputMarks;
  database: string;
}

/** Looks for changes until it is told to stop. */
async function follow(running: Running, marks: Marks, stopping: AbortSignal, progress: Progress): Promise<void> {
  let asked = performance.now();
  let away = false;
  for (let number = 1; !stopping.aborted; ) {
    await wait(rhythm.files, undefined, { signal: stopping }).catch(() => undefined);
    const start = performance.now();
    const files = await settledMarks(running.built.project, marks.files);
    const paths = changedPaths(marks.files, files);
    let database = marks.database;
    if (start - asked >= rhythm.database) {
      asked = start;
      const seen = await markOfDatabase(running, progress);
      if (seen === null && !away) progress.say('  The database is away; it is asked again every second.');
      away = seen === null;
      database = seen ?? database;
    }
    const tables = database !== marks.database;
    if (stopping.aborted || (paths.length === 0 && !tables)) continue;
    marks.files = files;
    marks.database = database;
    await change(running, { number, paths, tables, start }, progress);
    number += 1;
  }
}

/** Whoever writes a file may empty it first: what has changed is looked at again until it stays. */
async function settledMarks(project: Project, before: InputMarks): Promise<InputMarks> {
  let seen = await takeMarks(project);
  for (let last = before; changedPaths(last, seen).length > 0; ) {
    await wait(rhythm.settling);
    last = seen;
    seen = await takeMarks(project);
  }
  return seen;
}

interface Noticed {
  readonly number: number;
  readonly paths: readonly string[];
  readonly tables: boolean;
  readonly start: number;
}

async function change(running: Running, { number, paths, tables, start }: Noticed, progress: Progress): Promise<void> {
  const reasons = [...paths, ...(tables ? ['database'] : [])];
  // The configuration chooses tables.
  const database = tables || paths.some((path) => path.startsWith('platform.config.'));
  const { server, recompiler, types, built: before } = running;
  const source = running.reconnected ?? running.source;
  try {
    const { built, served } = await rebuild(before, source, { number, database }, async (api, project) => {
      await server.replace(api);
      await recompiler?.renew(project, api);
    });
    running.built = built;
    const diff = differenceOf(before, built);
    const nothing = tables && paths.length === 0 && diff.changes.length === 0 && built.generation.written.written === 0;
    if (nothing) return;
    const { written } = built.generation;
    const ms = Math.round(served - start);
    tellRebuilt({ reasons, diff, written, warnings: newWarnings(before, built), ms }, progress);
    types?.check();
  } catch (error) {
    tellFailure(reasons, error, progress);
  }
}

/** Null while it is away; a lost connection is opened again. */
async function markOfDatabase(running: Running, progress: Progress): Promise<string | null> {
  const source = running.reconnected ?? running.source;
  try {
    return await catalogMark(source);
  } catch {
    if (source.embedded !== null) return null;
    await source.close().catch(() => undefined);
    const quiet: Progress = { ...progress, phase: async (_, work) => work(() => undefined) };
    running.reconnected = await connect(running.built.project, quiet).catch(() => running.reconnected);
    return null;
  }
}

/** Is aborted by the first SIGINT or SIGTERM; the second ends the process. */
function stopsOnSignals(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  return controller.signal;
}
