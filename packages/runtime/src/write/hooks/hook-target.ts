/** A write as hooks see it: its payloads by the action on their items, and the way back to a write plan. */

import { isDeepStrictEqual } from 'node:util';
import { PlatformError } from '../../errors.ts';
import { toJson } from '../../extensions/shapes.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { readRows } from '../../sql/array-text.ts';
import { type Keys, oneKey } from '../decode/keys.ts';
import type { Running } from '../execute/running.ts';
import type { WriteExecutor } from '../execute/write-executor.ts';
import type { Entry } from '../tree/parse/nested-write.ts';
import { checkTree } from '../tree/prepare-tree.ts';
import { readUpsert, type Upsert } from '../upsert/prepare-upsert.ts';
import {
  type Action,
  bodyOf,
  entriesOf,
  guardOfCommand,
  type HookPayload,
  hookPayloadsOf,
  prepareCommand,
  type WriteCommand,
  writtenPayloads,
} from '../write-command.ts';
import { type WriteContext, type WritePlan, writableOf } from '../write-plan.ts';
import { copyPayload, sentKeys } from './copy-payload.ts';

/** A payload with what is done with its items. */
interface TopPayload extends HookPayload {
  readonly action: Action;
}

/** A write with its items found as far as hooks have to know them. */
export type HookTarget = ReturnType<typeof askTarget>;

/** Opens a write for its hooks. `judged` is what was made of its body as it was sent, when that was possible. */
export async function openTarget(
  context: WriteContext,
  command: WriteCommand,
  running: Running,
  judged?: WritePlan,
): Promise<HookTarget> {
  const upsert = command.action === 'create' ? readUpsert(context, command.body) : null;
  return upsert === null ? askTarget(context, command, judged) : upsertTarget(context, upsert, running);
}

function askTarget(context: WriteContext, command: WriteCommand, judged: WritePlan | undefined) {
  const { action } = command;
  const named = (hookPayloads: readonly HookPayload[]) =>
    hookPayloads.map((hookPayload): TopPayload => ({ ...hookPayload, action }));
  return {
    topPayloads: named(hookPayloadsOf(context, command)),
    bodyOf: (hookPayloads: readonly HookPayload[]): JsonValue | undefined => bodyOf(command, hookPayloads),
    /** The top of the tree of such a body; null where no payload has related items. */
    entriesOf: (body: JsonValue | undefined): readonly Entry[] | null => entriesOf(context, command, body),
    async prepare(body: JsonValue | undefined): Promise<WritePlan> {
      // A body that hooks left unchanged is neither decoded nor hashed again.
      const same = judged !== undefined && isDeepStrictEqual(body, bodyOf(command, hookPayloadsOf(context, command)));
      return same ? judged : prepareCommand(context, command, body);
    },
    /** The payloads of such a body with the keys of what was written. */
    written: (body: JsonValue | undefined, keys: Keys | null): readonly TopPayload[] =>
      named(writtenPayloads(context, hookPayloadsOf(context, { ...command, body }), keys)),
  };
}

/** The body is the list of its payloads, of which it is known by now what each one does. */
async function upsertTarget(context: WriteContext, upsert: Upsert, running: Running): Promise<HookTarget> {
  const { collection } = writableOf(context);
  const { descriptor } = collection;
  const found = await upsert.find(running);
  await checkEntries(context, found, running);
  const copy = (payload: JsonValue) => copyPayload(context.scope.open, collection, payload);
  const enter = (body: JsonValue | undefined): readonly Entry[] =>
    found.map((entry, index) => {
      const payload = Array.isArray(body) ? body[index] : undefined;
      return { ...entry, payload: isObject(payload) ? payload : {} };
    });
  const topPayload = ({ form, key, payload }: Entry): TopPayload => ({
    action: form === 'update' ? 'update' : 'create',
    payload: copy(payload),
    keys: key === null ? null : sentKeys(descriptor, oneKey(key)),
  });
  return {
    topPayloads: found.map(topPayload),
    bodyOf: (hookPayloads) => hookPayloads.map(({ payload }) => toJson(payload)),
    entriesOf: enter,
    async prepare(body) {
      const { returning, affected, isConflict } = upsert;
      const work = (writing: Running) => upsert.write(writing, enter(body));
      return { returning, affected, ...(isConflict && { isConflict }), work };
    },
    written(body, keys) {
      const rows = keys === null ? [] : keys.many ? readRows(keys.values) : [keys.values];
      return enter(body).map((entry, index) => {
        const key = rows[index];
        return { ...topPayload(entry), keys: key === undefined ? [] : sentKeys(descriptor, oneKey(key)) };
      });
    },
  };
}

/** Judges what only the database knows of a request before hooks run: the item's entity tag, and which items there are. */
export async function checkStored(
  context: WriteContext,
  command: WriteCommand,
  running: Running,
  { checkGuard }: Pick<WriteExecutor, 'checkGuard'>,
): Promise<void> {
  const guard = guardOfCommand(context, command);
  if (guard !== undefined) await checkGuard(running.transaction, guard);
  const upsert = command.action === 'create' && readUpsert(context, command.body) !== null;
  const entries = command.singleton === true || upsert ? null : entriesOf(context, command, command.body);
  if (entries !== null) await checkEntries(context, entries, running);
}

function checkEntries(context: WriteContext, entries: readonly Entry[], running: Running): Promise<void> {
  return check(() => checkTree(context, writableOf(context), entries, running));
}

/** Judges before any hook runs; undefined where only values are wrong, which hooks may still make valid. */
export async function check<T>(judging: () => Promise<T>): Promise<T | undefined> {
  try {
    return await judging();
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'FAILED_VALIDATION') return undefined;
    throw error;
  }
}
