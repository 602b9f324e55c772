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
export type HeldSource = ReturnType<typeof holdSource>;

/** Holds a connection that is open already. An embedded database is never opened again. */
export function holdSource(first: Source, progress: Progress) {
  const quiet: Progress = { ...progress, phase: async (_, work) => work(() => undefined) };
  let current = first;
  return {
    current: (): Source => current,
    /** As of `readStamps`; null while the database is away. */
    async stamps(project: Project): Promise<CatalogStamps | null> {
      try {
        return await readStamps(current.dialect, current.run, readOptions(project));
      } catch {
        if (current.embedded !== null) return null;
        await current.close().catch(() => undefined);
        current = await connect(project, quiet).catch(() => current);
        return null;
      }
    },
    /** Closes the current connection, unless it is the first one and `isFirst` is false. */
    async close(isFirst: boolean): Promise<void> {
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
