import type { CompiledApi, Recompiler } from '@platform/runtime';
import type { Project } from '../project.ts';
import { createRecompiler } from '../recompile/recompiler.ts';

/** A recompiler of rules that live in tables, for a server whose tables change, too. */
export interface RenewableRecompiler extends Recompiler {
  /** Compiles over `platform.schema.json` as it is now; `api` is what is served of it. */
  renew(project: Project, api: CompiledApi): Promise<void>;
}

/** Makes one over what was generated of a project. */
export async function createRenewableRecompiler(project: Project, api: CompiledApi): Promise<RenewableRecompiler> {
  let current = await createRecompiler(project, api);
  return {
    digest: (rows) => current.digest(rows),
    compile: (rows) => current.compile(rows),
    close: () => current.close(),
    async renew(changed, served) {
      const previous = current;
      current = await createRecompiler(changed, served);
      await previous.close();
    },
  };
}
