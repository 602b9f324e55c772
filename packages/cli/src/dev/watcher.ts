/** Watches a project under development for changes of its files, and of the tables of its database. */
import { setTimeout as wait } from 'node:timers/promises';
import { type ChangedRelations, changedRelations } from '@tablewright/introspect';
import type { Project } from '../project/project.ts';
import type { HeldSource } from './held-source.ts';
import { changedPaths, type InputStamps, takeStamps } from './input-stamps.ts';

/** Noticed change. */
export interface Noticed {
  /** One more than that of the change before; the first is 1. */
  readonly number: number;
  /** Files from the project's folder on. */
  readonly paths: readonly string[];
  /** Which relations of the database may have changed; null where none did. */
  readonly tables: ChangedRelations | null;
  /** True if no change was noticed, and it is time to prove that. */
  readonly isProof: boolean;
  /** When it was noticed, as of `performance.now()`. */
  readonly start: number;
}

/**
 * Milliseconds between two checks: of the files, of the database, of a database that reports changes, and of files that
 * are being written. `proof` counts from a change to the proof that it was the only one.
 */
const rhythm = { files: 250, database: 1000, told: 30_000, settling: 50, proof: 3000 } as const;

/** Where changes are looked for. */
export interface Watcher {
  /** Tables may have changed: they are looked at at once. */
  readonly wake: () => void;
  /** Sets if the database reports changes by `wake`, so that it is queried less often. Default: false. */
  readonly relyOnEvents: (rely: boolean) => void;
  /** Discards the last reading of the tables: they count as changed as soon as they can be read again. */
  readonly forgetTables: () => void;
  /** All tables may have changed; this is reported when no other change has come for a while. */
  readonly proveTables: () => void;
  /** Resolves to the next change; null on the signal to stop. `project` is the latest one that could be read. */
  next(project: Project, stopping: AbortSignal): Promise<Noticed | null>;
}

/** Begins to watch; the present state is no change. `say` reports that the database is away. */
export async function startWatcher(
  project: Project,
  source: HeldSource,
  print: (text: string) => void,
): Promise<Watcher> {
  let files = await takeStamps(project);
  let database = await source.stamps(project);
  let lastRead = performance.now();
  let away = false;
  let number = 0;
  let isReporting = false;
  let woken = false;
  let isForgotten = false;
  let proofAt = Number.POSITIVE_INFINITY;
  let interrupt = new AbortController();
  const lookAtTables = async (latest: Project): Promise<ChangedRelations | null> => {
    lastRead = performance.now();
    woken = false;
    const taken = await source.stamps(latest);
    if (taken === null && !away) print('  The database is away; it is asked again every second.');
    if (taken !== null && away) print('  The database is back.');
    away = taken === null;
    isForgotten &&= away;
    if (taken === null) return null;
    const changed = database === null ? 'all' : changedRelations(database, taken);
    database = taken;
    return changed;
  };
  const isDue = (now: number): boolean =>
    woken || now - lastRead >= (isReporting && !away && !isForgotten ? rhythm.told : rhythm.database);
  return {
    wake() {
      woken = true;
      interrupt.abort();
    },
    relyOnEvents(rely) {
      isReporting = rely;
    },
    forgetTables() {
      database = null;
      // The next look must not wait for a notification, since none will come.
      isForgotten = true;
    },
    proveTables() {
      proofAt = performance.now() + rhythm.proof;
    },
    async next(latest, stopping) {
      while (!stopping.aborted) {
        interrupt = new AbortController();
        const signal = AbortSignal.any([stopping, interrupt.signal]);
        if (!woken) await wait(rhythm.files, undefined, { signal }).catch(() => undefined);
        const start = performance.now();
        const taken = await settledStamps(latest, files);
        const paths = changedPaths(files, taken);
        const readTables = isDue(start) ? await lookAtTables(latest) : null;
        const isQuiet = paths.length === 0 && readTables === null;
        const isProof = isQuiet && start >= proofAt && !away;
        if (stopping.aborted || (isQuiet && !isProof)) continue;
        const tables = isProof ? 'all' : readTables;
        if (tables === 'all') proofAt = Number.POSITIVE_INFINITY;
        files = taken;
        number += 1;
        return { number, paths, tables, isProof, start };
      }
      return null;
    },
  };
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
