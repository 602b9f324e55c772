/** `defineExtension`: from the code of a project to the list of what it registers. */
import type { Extension, RegisteredHook, RegisteredRoute, Stage } from '../language/index.ts';
import type { ExtensionTools } from './types.ts';

type Register = (event: string, hook: (event: never) => unknown) => void;
type RegisterRoute = (path: string, options: unknown, handler: (request: never) => unknown) => void;
type Tools = Readonly<Record<Stage, Register>> & { readonly route: RegisterRoute };

/**
 * Collects what an extension registers. Generated code gives it the types of the project.
 * @example export const defineExtension: DefineExtension<Collections, Role> = extension;
 */
export function extension<C, Role extends string>(register: (tools: ExtensionTools<C, Role>) => void): Extension;
// The types of events exist for the type checker only: here they are names and plain data.
export function extension(register: (tools: Tools) => void): Extension {
  const hooks: RegisteredHook[] = [];
  const routes: RegisteredRoute[] = [];
  const registerAt =
    (stage: Stage): Register =>
    (event, run) =>
      void hooks.push({ stage, event, run });
  register({
    before: registerAt('before'),
    after: registerAt('after'),
    afterCommit: registerAt('afterCommit'),
    // The roles that may call it, its input and its output were compiled.
    route: (path, _options, run) => void routes.push({ path, run }),
  });
  return { hooks, routes };
}
