/** Parts of `platform dev` that are made anew when they are lost or their project changes. */
import { setTimeout as wait } from 'node:timers/promises';
import { type CatalogStamps, readStamps } from '@tablewright/introspect';
import type { CompiledApi, Recompiler } from '@tablewright/runtime';
import { readOptions } from '../compile/facts.ts';
import { CommandError } from '../errors/failures.ts';
import type { Project } from '../project/project.ts';
import { createRecompiler } from '../recompile/recompiler.ts';
import { unreachable } from '../sources/commands.ts';
import { connect } from '../sources/connect.ts';
import type { Source, WaitListener } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** The connection by which changes are looked for, opened again when it was lost. */
export type HeldSource = ReturnType<typeof holdSource>;

/** Milliseconds after which a look counts as unanswered. */
const longestLook = 30_000;

/** Opens the project's database, and takes down why it has not answered for five seconds; null where it has. */
export async function openWatched(project: Project, progress: Progress) {
  let reason: string | null = null;
  const onWait: WaitListener = (now) => {
    reason = now;
  };
  const source = await connect(project, progress, { onWait });
  return { source, onWait, waitsFor: (): string | null => reason };
}

/** Holds a connection that is open already. An embedded database is never opened again. */
export function holdSource(
  { source: first, onWait, waitsFor }: Awaited<ReturnType<typeof openWatched>>,
  progress: Progress,
  stopping: AbortSignal,
) {
  const quiet: Progress = { ...progress, phase: async (_, work) => work(() => undefined) };
  let current = first;
  let lost: CommandError | null = null;
  const look = (project: Project): Promise<CatalogStamps> =>
    unlessStopped(readStamps(current.dialect, current.run, readOptions(project)), stopping, longestLook);
  const lose = (error: unknown): CommandError => {
    if (current.embedded === null) current.close().catch(() => undefined);
    lost = error instanceof CommandError ? error : unreachable(current.label, error);
    return lost;
  };
  return {
    waitsFor,
    /** Throws the reason why the database is away. */
    current(): Source {
      if (lost !== null) throw lost;
      return current;
    },
    /** As of `readStamps`. Rejects with the reason why the database is away. */
    async stamps(project: Project): Promise<CatalogStamps> {
      const taken = lost === null ? await look(project).catch(lose) : lost;
      if (!(taken instanceof CommandError)) return taken;
      try {
        if (current.embedded === null) current = await connect(project, quiet, { onWait });
        const again = await look(project);
        lost = null;
        return again;
      } catch (error) {
        throw lose(error);
      }
    },
    /** Closes the current connection, unless it is the first one and `isFirst` is false. */
    async close(isFirst: boolean): Promise<void> {
      if (!isFirst && current === first) return;
      await current.close().catch(() => undefined);
    },
  };
}

/** Rejects on the signal to stop, and after `ms`: a database that hangs answers no statement. */
export async function unlessStopped<T>(work: Promise<T>, stopping: AbortSignal, ms = 2 ** 31 - 1): Promise<T> {
  const done = new AbortController();
  const options = { signal: AbortSignal.any([stopping, done.signal]), ref: false };
  const silence = wait(ms, undefined, options).then(() => {
    throw new Error(`it does not answer within ${ms / 1000} seconds`);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    done.abort();
  }
}

/** A recompiler for requests that change the model, in a project whose files change, too. */
export interface RenewableRecompiler extends Recompiler {
  /** Goes on with the project as it is now; `api` is its served API. */
  renew(project: Project, api: CompiledApi): Promise<void>;
}

/** Makes one for the generated API of a project. */
export async function createRenewableRecompiler(project: Project, api: CompiledApi): Promise<RenewableRecompiler> {
  let current = await createRecompiler(project, api);
  return {
    get permissions() {
      return current.permissions;
    },
    get schema() {
      return current.schema;
    },
    digests: (rows) => current.digests(rows),
    compile: (...question) => current.compile(...question),
    migrationNames: () => current.migrationNames(),
    keep: (served, migrations) => current.keep(served, migrations),
    close: () => current.close(),
    async renew(changed, served) {
      const previous = current;
      current = await createRecompiler(changed, served);
      await previous.close();
    },
  };
}
