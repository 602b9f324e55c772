/** A write as hooks see it: its payloads by the action on their items, and the way back to a write plan. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import { copyPayload } from '../extensions/copy-payload.ts';
import { toJson } from '../extensions/json.ts';
import { sentKeys } from '../extensions/keys.ts';
import { readRows } from '../sql/array-text.ts';
import {
  type Action,
  type Ask,
  bodyOf,
  entriesOf,
  guardOfAsk,
  type Portion,
  portionsOf,
  prepareAsk,
  writtenPortions,
} from './ask.ts';
import { type Desk, type Job, writableOf } from './job.ts';
import { type Keys, oneKey } from './keys.ts';
import type { Performer } from './perform.ts';
import type { Running } from './step.ts';
import type { Entry } from './tree/lead.ts';
import { isStructure } from './tree/members.ts';
import { judgeTree } from './tree/prepare-tree.ts';
import { readUpsert, type Upsert } from './upsert/prepare-upsert.ts';

/** A payload with what is done with its items. */
export interface TopPortion extends Portion {
  readonly action: Action;
}

/** A write with its items found as far as hooks have to know them. */
export interface HookTarget {
  readonly portions: readonly TopPortion[];
  /** The body with payloads that hooks have changed. */
  bodyOf(portions: readonly Portion[]): JsonValue | undefined;
  /** The top of the tree of such a body; null where no payload has related items. */
  entriesOf(body: JsonValue | undefined): readonly Entry[] | null;
  /** The job of such a body. */
  prepare(body: JsonValue | undefined): Promise<Job>;
  /** The payloads of such a body with the keys of what was written. */
  written(body: JsonValue | undefined, keys: Keys | null): readonly TopPortion[];
}

/** Opens a write for its hooks. `judged` is what was made of its body as it was sent, when that was possible. */
export async function openTarget(desk: Desk, ask: Ask, running: Running, judged?: Job): Promise<HookTarget> {
  const upsert = ask.action === 'create' ? readUpsert(desk, ask.body) : null;
  return upsert === null ? askTarget(desk, ask, judged) : upsertTarget(desk, upsert, running);
}

function askTarget(desk: Desk, ask: Ask, judged: Job | undefined): HookTarget {
  const { action } = ask;
  const named = (portions: readonly Portion[]) => portions.map((portion): TopPortion => ({ ...portion, action }));
  return {
    portions: named(portionsOf(desk, ask)),
    bodyOf: (portions) => bodyOf(ask, portions),
    entriesOf: (body) => entriesOf(desk, ask, body),
    async prepare(body) {
      // A body that hooks left unchanged is neither decoded nor hashed again.
      const same = judged !== undefined && isDeepStrictEqual(body, bodyOf(ask, portionsOf(desk, ask)));
      return same ? judged : prepareAsk(desk, ask, body);
    },
    written: (body, keys) => named(writtenPortions(desk, portionsOf(desk, { ...ask, body }), keys)),
  };
}

/** The body is the list of its payloads, of which it is known by now what each one does. */
async function upsertTarget(desk: Desk, upsert: Upsert, running: Running): Promise<HookTarget> {
  const { collection } = writableOf(desk);
  const { descriptor } = collection;
  const found = await upsert.find(running);
  await judgeEntries(desk, found, running);
  const copy = (payload: JsonValue) => copyPayload(desk.scope.open, collection, payload);
  const enter = (body: JsonValue | undefined): readonly Entry[] =>
    found.map((entry, index) => {
      const payload = Array.isArray(body) ? body[index] : undefined;
      return { ...entry, payload: isStructure(payload) ? payload : {} };
    });
  const portionOf = ({ form, given: key, payload }: Entry): TopPortion => ({
    action: form === 'update' ? 'update' : 'create',
    payload: copy(payload),
    keys: key === null ? null : sentKeys(descriptor, oneKey(key)),
  });
  return {
    portions: found.map(portionOf),
    bodyOf: (portions) => portions.map(({ payload }) => toJson(payload)),
    entriesOf: enter,
    async prepare(body) {
      const { echo, touched, overtaken } = upsert;
      const work = (writing: Running) => upsert.write(writing, enter(body));
      return { echo, touched, ...(overtaken && { overtaken }), work };
    },
    written(body, keys) {
      const rows = keys === null ? [] : keys.many ? readRows(keys.values) : [keys.values];
      return enter(body).map((entry, index) => {
        const key = rows[index];
        return { ...portionOf(entry), keys: key === undefined ? [] : sentKeys(descriptor, oneKey(key)) };
      });
    },
  };
}

/** Judges what only the database knows of a request before hooks run: the item's entity tag, and which items there are. */
export async function judgeStored(
  desk: Desk,
  ask: Ask,
  running: Running,
  { checkGuard }: Pick<Performer, 'checkGuard'>,
): Promise<void> {
  const guard = guardOfAsk(desk, ask);
  if (guard !== undefined) await checkGuard(running.transaction, guard);
  const upsert = ask.action === 'create' && readUpsert(desk, ask.body) !== null;
  const entries = ask.singleton === true || upsert ? null : entriesOf(desk, ask, ask.body);
  if (entries !== null) await judgeEntries(desk, entries, running);
}

function judgeEntries(desk: Desk, entries: readonly Entry[], running: Running): Promise<void> {
  return judge(() => judgeTree(desk, writableOf(desk), entries, running));
}

/** Judges before any hook runs; undefined where only values are wrong, which hooks may still make valid. */
export async function judge<T>(judging: () => Promise<T>): Promise<T | undefined> {
  try {
    return await judging();
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'FAILED_VALIDATION') return undefined;
    throw error;
  }
}
