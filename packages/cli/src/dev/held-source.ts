import { type CatalogStamps, readStamps } from '@tablewright/introspect';
import { readOptions } from '../compile/facts.ts';
import type { Project } from '../project/project.ts';
import { connect } from '../sources/connect.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';

/** The connection by which changes are looked for, opened again when it was lost. */
export interface HeldSource {
  /** The one in use. */
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
