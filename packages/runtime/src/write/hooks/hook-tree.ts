/** Hooks of the items below others in a payload, which is written as one tree. */
import { PlatformError } from '../../errors.ts';
import type { EventHooks, Hooks } from '../../extensions/hooks.ts';
import { toJson } from '../../extensions/shapes.ts';
import { createProblems } from '../../json/problems.ts';
import type { FilterObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue, RegisteredHook } from '../../language/index.ts';
import { type Keys, oneKey } from '../decode/keys.ts';
import type { Running, TreeWatcher } from '../execute/running.ts';
import { type Group, groupsOf, itemId, type TreeNode } from '../tree/parse/group.ts';
import type { Entry } from '../tree/parse/nested-write.ts';
import { parseNestedWrite } from '../tree/parse/parse-nested-write.ts';
import { keysOfRows } from '../tree/removal.ts';
import { type Found, findNamed, keyOfNode, missing, resolveReferences } from '../tree/resolve/references.ts';
import { type Action, entriesOf, type HookPayload, type WriteCommand } from '../write-command.ts';
import { type WriteContext, writableOf } from '../write-plan.ts';
import { copyPayload, sentKeys } from './copy-payload.ts';
import type { HookTarget } from './hook-target.ts';

interface TreeHooking {
  readonly context: WriteContext;
  readonly target: Pick<HookTarget, 'entriesOf'>;
  readonly hooks: Hooks;
  readonly running: Running;
  /** Calls hooks, and waits for all that they began. */
  call(hooks: readonly RegisteredHook[], hookPayloads: readonly HookPayload[]): Promise<void>;
}

/** True if hooks are registered for related items in the payloads. Errors are reported elsewhere. */
export function reachesHooks(context: WriteContext, command: WriteCommand, { collections }: Hooks): boolean {
  if (collections.size === 0) return false;
  try {
    const root = grow(context, entriesOf(context, command, command.body));
    const below = root === null ? [] : groupsOf(root).slice(1);
    return below.some((group) => collections.has(nameOf(group)));
  } catch (error) {
    if (error instanceof PlatformError) return false;
    throw error;
  }
}

/** Calls `before` hooks of the items below a write, top down, each with what those above left; gives the final body. */
export async function hookTree(hooking: TreeHooking, body: JsonValue | undefined): Promise<JsonValue | undefined> {
  const { context, target, hooks, running } = hooking;
  let current = body;
  const made = new Set<string>();
  // The depth of a body is judged while it grows.
  for (let depth = 1; ; depth++) {
    const root = grow(context, target.entriesOf(current));
    const groups = root === null ? [] : groupsAt(root, depth);
    if (root === null || groups.length === 0) return current;
    for (const node of depth === 1 ? root.nodes : []) remember(made, root, node);
    if (!groups.some((group) => hooks.collections.has(nameOf(group)))) continue;
    const { found } = await findNamed(running, context.scope, root);
    // A new item that is named in several places is hooked in one of them, with all that is said of it.
    const settled = resolveReferences(root, found, (group, node) => missing(context.scope, group, node));
    const hooked = groupsAt(settled, depth).filter((group) => hooks.collections.has(nameOf(group)));
    for (const group of hooked) await hookGroup(hooking, group, found, made);
    // Hooks may have left anything, also the same object in two places.
    current = toJson(current);
  }
}

function grow(context: WriteContext, entries: readonly Entry[] | null): Group | null {
  return entries === null ? null : parseNestedWrite(context, createProblems(), writableOf(context), entries);
}

/** The groups so many relations below the top. */
function groupsAt(root: Group, depth: number): readonly Group[] {
  if (depth === 0) return [root];
  return [...root.before, ...root.children, ...root.targets].flatMap(({ group }) => groupsAt(group, depth - 1));
}

async function hookGroup({ hooks, call }: TreeHooking, group: Group, found: Found, made: Set<string>): Promise<void> {
  const { descriptor } = group.writable.collection;
  for (const action of ['create', 'update'] as const) {
    const eventHooks = hooks.of(`${descriptor.name}.${action}`);
    if (eventHooks === undefined || eventHooks.before.length === 0) continue;
    const acted = group.nodes.filter((node) => actionOf(node, descriptor.key, found) === action);
    // An item that hooks have already seen as new may look new again elsewhere in the payload.
    const nodes = acted.filter((node) => action === 'update' || remember(made, group, node));
    const hookPayloads = [...Map.groupBy(nodes, ({ sources }) => foldSources(sources, descriptor.key))].map(
      ([payload, same]): HookPayload => {
        const rows = same.flatMap(({ key }) => (key === null ? [] : [key]));
        return { payload, keys: action === 'create' ? null : sentKeys(descriptor, keysOfRows(rows)) };
      },
    );
    await call(eventHooks.before, hookPayloads);
  }
}

/** Notes a new item by its key; false when it was known. One without a key is always another. */
function remember(made: Set<string>, group: Group, node: TreeNode): boolean {
  const key = keyOfNode(group, node);
  if (key === undefined) return true;
  const id = itemId(nameOf(group), key);
  const isRepeated = made.has(id);
  made.add(id);
  return !isRepeated;
}

/** Action on an item; null for a mere link. */
function actionOf(node: TreeNode, key: readonly string[], found: Found): 'create' | 'update' | null {
  if (node.form === 'create' || (node.form === 'either' && !found(node))) return 'create';
  const hasContent = node.sources.some((source) => Object.keys(source).some((name) => !key.includes(name)));
  return hasContent ? 'update' : null;
}

/** Merges several objects about the same item into the last of them, as the nested write takes it. */
function foldSources(sources: readonly FilterObject[], key: readonly string[]): FilterObject {
  const distinct = [...new Set(sources)];
  const last = distinct.at(-1) ?? {};
  const combined: FilterObject = Object.assign({}, ...distinct);
  for (const source of distinct.slice(0, -1)) keepMembers(source, key);
  Object.assign(last, combined);
  return last;
}

function keepMembers(target: Record<string, JsonValue>, names: readonly string[]): void {
  for (const name of Object.keys(target)) if (!names.includes(name)) delete target[name];
}

function nameOf({ writable }: Group): string {
  return writable.collection.descriptor.name;
}

/** Items below others that were written or removed, with the hooks that wait for it. */
export interface DoneBelow {
  readonly hooks: EventHooks;
  readonly payloads: readonly HookPayload[];
}

/** Watches a tree for hooks: those before a removal run at once, what is left for the others is in `done`. */
export function watchTree({ context, hooks, call }: Pick<TreeHooking, 'context' | 'hooks' | 'call'>): {
  readonly watcher: TreeWatcher;
  readonly done: readonly DoneBelow[];
} {
  const { open } = context.scope;
  const done: DoneBelow[] = [];
  const waiting = (collection: string, action: Action) => {
    const eventHooks = hooks.of(`${collection}.${action}`);
    const scope = open.collections.get(collection);
    return eventHooks === undefined || scope === undefined ? null : { hooks: eventHooks, scope };
  };
  return {
    done,
    watcher: {
      wrote(action, collection, nodes) {
        const found = waiting(collection, action);
        if (found === null) return;
        const { descriptor } = found.scope;
        const copy = (payload: FilterObject) => copyPayload(open, found.scope, payload);
        const made = () =>
          nodes.map(({ key, payload }) => ({ payload: copy(payload), keys: sentKeys(descriptor, oneKey(key)) }));
        const changed = () =>
          [...Map.groupBy(nodes, ({ payload }) => payload)].map(([payload, same]) => {
            const keys: Keys = keysOfRows(same.map(({ key }) => key));
            return { payload: copy(payload), keys: sentKeys(descriptor, keys) };
          });
        done.push({ hooks: found.hooks, payloads: action === 'create' ? made() : changed() });
      },
      async removes(collection, keys) {
        const found = waiting(collection, 'delete');
        if (found === null) return;
        const hookPayloads = [{ payload: undefined, keys: sentKeys(found.scope.descriptor, keys) }];
        await call(found.hooks.before, hookPayloads);
        done.push({ hooks: found.hooks, payloads: hookPayloads });
      },
    },
  };
}
