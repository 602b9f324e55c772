/** Calls of hooks, one after the other. */
import type { Caller } from '../../caller.ts';
import type { PlatformError } from '../../errors.ts';
import { callHook } from '../../extensions/hooks.ts';
import { toJson } from '../../extensions/shapes.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, CompiledApi, HookEvent, JsonValue, RegisteredHook } from '../../language/index.ts';
import { createRowContexts } from '../../row-security/contexts.ts';
import type { Keys } from '../decode/keys.ts';
import type { RequestOrigin } from '../execute/running.ts';
import type { Action, HookPayload, WriteCommand } from '../write-command.ts';
import { sentKeys } from './copy-payload.ts';
import type { DoneBelow } from './hook-tree.ts';

export interface HookCalls {
  /** Calls all of them for each payload. Rejects with the first error. `added` takes the fields that they add. */
  callAll(
    called: readonly RegisteredHook[],
    hookPayloads: readonly HookPayload[],
    itemsContext: HookItemsContext,
    caller: Caller,
    added?: AddedField[],
  ): Promise<void>;
  /** Calls the hooks that wait for a COMMIT; their errors are reported. Never rejects. */
  callAfterCommit(done: readonly DoneBelow[], itemsContext: HookItemsContext, caller: Caller): Promise<void>;
}

/** A field that a hook has added to a payload. */
export interface AddedField {
  readonly event: string;
  readonly field: string;
}

/** The fields that a refused write lacks permission for, as far as hooks have added them. */
export function refusedFields({ missing }: PlatformError, added: readonly AddedField[]): readonly AddedField[] {
  return added.filter(
    ({ event, field }) => missing === `${JSON.stringify(field)} of ${event.slice(0, event.lastIndexOf('.'))}`,
  );
}

/** Makes calls of at most `timeoutMs`. */
export function createHookCalls(
  openItems: ReturnType<typeof createItems>,
  timeoutMs: number,
  reportError: (event: string, thrown: unknown) => void,
): HookCalls {
  const calls: HookCalls = {
    async callAll(called, hookPayloads, itemsContext, caller, added) {
      const items = openItems(itemsContext, caller);
      for (const { payload, keys } of hookPayloads) {
        const [key = null] = keys ?? [];
        const event: HookEvent = { caller, items, payload, keys, key };
        for (const hook of called) {
          const names = new Set(namesOf(payload));
          await callHook(hook, event, timeoutMs);
          const more = namesOf(payload).filter((name) => !names.has(name));
          added?.push(...more.map((field) => ({ event: hook.event, field })));
        }
      }
    },
    async callAfterCommit(done, itemsContext, caller) {
      for (const { hooks, payloads } of done) {
        for (const hookPayload of payloads) {
          for (const hook of hooks.afterCommit) {
            const called = calls.callAll([hook], [hookPayload], itemsContext, caller);
            await called.catch((thrown: unknown) => reportError(hook.event, thrown));
          }
        }
      }
    },
  };
  return calls;
}

function namesOf(payload: JsonValue | undefined): readonly string[] {
  return payload !== undefined && isObject(payload) ? Object.keys(payload) : [];
}

/** Context of reads and writes of an extension: in a transaction under way, or each in one of its own. */
export interface HookItemsContext {
  readonly sender: RequestOrigin;
  /** Answers the data of a list. */
  read(caller: Caller, collection: string, query: JsonValue): Promise<JsonValue>;
  write(command: WriteCommand): Promise<Keys | null>;
}

/** Makes the function that opens `items` for a caller. Names that have no path below `/items` are unknown. */
export function createItems(api: CompiledApi): (itemsContext: HookItemsContext, caller: Caller) => unknown {
  const collections = new Map(api.routes.map(({ collection }) => [collection.name, collection]));
  const administrator = api.access.find(({ admin }) => admin)?.name;
  const rowContext = createRowContexts(api);

  function opener(itemsContext: HookItemsContext, caller: Caller) {
    return function open(name: string) {
      const descriptor = collections.get(name);
      if (descriptor === undefined) throw new TypeError(`There is no collection "${name}".`);
      return itemsOf(itemsContext, caller, descriptor);
    };
  }

  return function openItems(itemsContext, caller) {
    const claimed = { role: null, admin: true, user: caller.user, roleKey: caller.role };
    const asAdmin =
      administrator === undefined ? caller : { ...caller, accessClass: administrator, ...rowContext(claimed) };
    return Object.assign(opener(itemsContext, caller), { asAdmin: opener(itemsContext, asAdmin) });
  };
}

function itemsOf(itemsContext: HookItemsContext, caller: Caller, descriptor: CollectionDescriptor) {
  const collection = descriptor.name;
  const request = { caller, collection, query: '', sender: itemsContext.sender };
  const write = (action: Action, body: unknown) =>
    itemsContext.write({
      action,
      request,
      body: toJson(body),
      ...(descriptor.singleton && { singleton: true as const }),
    });
  const create = async (body: unknown) => {
    const keys = await write('create', body);
    return keys === null ? [] : sentKeys(descriptor, keys);
  };
  const list = async (query: unknown) => {
    const data = await itemsContext.read(caller, collection, toJson(query));
    return Array.isArray(data) ? data : [data];
  };
  const update = async (keys: unknown, data: unknown) => {
    await write('update', descriptor.singleton ? keys : { keys: listOf(keys), data });
  };
  const remove = async (keys: unknown) => {
    await write('delete', { keys: listOf(keys) });
  };
  return {
    list: (query: unknown = {}) => heeded(list(query)),
    create: (payload: unknown) => heeded(create(payload).then(([key]) => key)),
    createMany: (payloads: unknown) => heeded(create(payloads)),
    update: (keys: unknown, data?: unknown) => heeded(update(keys, data)),
    delete: (keys: unknown) => heeded(remove(keys)),
  };
}

/** A failure that a hook does not wait for must not end the process; the transaction knows of it. */
function heeded<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

function listOf(keys: unknown): readonly unknown[] {
  return Array.isArray(keys) ? keys : [keys];
}
