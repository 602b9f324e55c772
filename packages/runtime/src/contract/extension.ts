/** What a project's own code adds, as the server takes it. */
import type { JsonValue } from './types.ts';

/** When a hook runs. */
export type Stage = 'before' | 'after' | 'afterCommit';

/** An extension as the server takes it. Made by `defineExtension` only. */
export interface Extension {
  readonly hooks: readonly RegisteredHook[];
}

/** One hook with the event that it waits for. */
export interface RegisteredHook {
  readonly stage: Stage;
  /** `articles.create` */
  readonly event: string;
  run(event: HookEvent): unknown;
}

/** What a hook is given, without its types. */
export interface HookEvent {
  readonly caller: HookCaller;
  readonly items: unknown;
  readonly payload: JsonValue | undefined;
  readonly key: JsonValue;
  readonly keys: readonly JsonValue[] | null;
}

/** Who asks: user and role as keys in text form, null where there is none. */
export interface HookCaller {
  readonly accessClass: string;
  readonly user: string | null;
  readonly role: string | null;
}
