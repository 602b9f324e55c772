/** Parts of `platform dev` that are made anew when they are lost or their project changes. */
import { type CatalogStamps, readStamps } from '@tablewright/introspect';
import type { CompiledApi, Recompiler } from '@tablewright/runtime';
import { readOptions } from '../compile/facts.ts';
import type { Project } from '../project/project.ts';
import { createRecompiler } from '../recompile/recompiler.ts';
import { connect } from '../sources/connect.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** The connection by which changes are looked for, opened again when it was lost. */
export interface HeldSource {
  current(): Source;
  /** As of `readStamps`; null while the database is away. */
  stamps(project: Project): Promise<CatalogStamps | null>;
  /** Closes the current connection, unless it is the first one and `first` is false. */
  close(first: boolean): Promise<void>;
}

/** Holds a connection that is open already. An embedded database is never opened again. */
export function holdSource(first: Source, progress: Progress): HeldSource {
  const quiet: Progress = { ...progress, phase: async (_, work) => work(() => undefined) };
  let current = first;
  return {
    current: () => current,
    async stamps(project) {
      try {
        return await readStamps(current.dialect, current.run, readOptions(project));
      } catch {
        if (current.embedded !== null) return null;
        await current.close().catch(() => undefined);
        current = await connect(project, quiet).catch(() => current);
        return null;
      }
    },
    async close(isFirst) {
      if (isFirst || current !== first) await current.close().catch(() => undefined);
    },
  };
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
