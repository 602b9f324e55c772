import type { CompiledApi, Recompiler } from '@tablewright/runtime';
import type { Project } from '../project/project.ts';
import { createRecompiler } from '../recompile/recompiler.ts';

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
