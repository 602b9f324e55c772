/** `defineExtension`: from the code of a project to the list of what it registers. */
import type { Extension, RegisteredHook, Stage } from '../contract/index.ts';
import type { ExtensionTools } from './types.ts';

type Register = (event: string, hook: (event: never) => unknown) => void;

/**
 * Collects what an extension registers. Generated code gives it the types of the project:
 *
 * ```ts
 * export const defineExtension: DefineExtension<Collections> = extension;
 * ```
 */
export function extension<C>(register: (tools: ExtensionTools<C>) => void): Extension;
// The types of events exist for the type checker only: here they are names and plain data.
export function extension(register: (tools: Readonly<Record<Stage, Register>>) => void): Extension {
  const hooks: RegisteredHook[] = [];
  const registerAt =
    (stage: Stage): Register =>
    (event, run) =>
      void hooks.push({ stage, event, run });
  register({ before: registerAt('before'), after: registerAt('after'), afterCommit: registerAt('afterCommit') });
  return { hooks };
}
