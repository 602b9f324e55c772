/** Activity and revisions, in the transaction that writes. Source: API specification, sections 8.4, 10.1 and 10.10. */
import type { Transaction } from '../../database/database.ts';
import { allRows } from '../../database/own-statements.ts';
import type { Side } from '../../database/row-context.ts';
import { ownTables } from '../../dialects/index.ts';
import type { DriftGuard } from '../../drift-watch.ts';
import { type CollectionDescriptor, type CompiledApi, systemCollection } from '../../language/index.ts';
import type { Answer } from '../../query/answer.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import type { Scope } from '../../sql/scope.ts';
import { type ChangeOrigin, type LoggedChange, revisionOf } from '../../system/log-changes.ts';
import { logPlaceOf, type SystemPlace } from '../../system/place.ts';
import { filesName } from '../access/system-access.ts';
import type { Keys } from '../decode/keys.ts';
import { createImages, type Image, type Images, imagesOf } from './images.ts';

export type StepAction = 'create' | 'update' | 'delete';

export interface History {
  /** Starts watching a step; null when nothing of its collection is kept. `archives`: items to delete stay. */
  watch(action: StepAction, collection: string, keys: Keys | null, archives?: boolean): Watch | null;
  /** Sends the collected history, and fails with it. A promise, if any, must be awaited before COMMIT. */
  finish(): Promise<void> | undefined;
}

/** Watches one step. Values that must be read before the step were requested when the watch began. */
type Watch = ReturnType<typeof watchStep>;

/** Returns the read plan of rows that a write should return for history; undefined where none is kept. */
export type ReturnedImages = (descriptor: CollectionDescriptor) => ReadPlan | undefined;

type BeginHistory = (
  transaction: Transaction,
  driftGuard: DriftGuard,
  origin: ChangeOrigin,
  side: Side,
  /** Action to log instead of the one performed, for updates (`revert`) and new contents of files (`upload`). */
  called?: 'revert' | 'upload',
) => History;

/** Starts histories, and tells which rows it needs writes to return. */
export interface HistoryKeeper {
  readonly begin: BeginHistory;
  readonly images: ReturnedImages;
}

/** Makes what keeps history; null when the platform's own tables are not installed. */
export function createHistory(api: CompiledApi, open: Scope, limits: ReadLimits): HistoryKeeper | null {
  const location = logPlaceOf(api);
  if (location === null) return null;
  const read = createImages(open, limits);
  // Those of the platform are completed after the write.
  const images: ReturnedImages = (descriptor) =>
    isKept(descriptor) && descriptor.system !== true ? read.plan(descriptor, isWhole(descriptor)) : undefined;
  return { begin: beginWith(api, location, read), images };
}

function isKept({ accountability }: CollectionDescriptor): boolean {
  return accountability !== 'none';
}

/** True if a system hook writes the activity. */
function recordsItself({ name, system }: CollectionDescriptor, action: StepAction): boolean {
  return system === true && systemCollection(name)?.ownActivity?.includes(action) === true;
}

/** True if revisions hold the whole item. */
function isWhole({ accountability }: CollectionDescriptor): boolean {
  return accountability !== 'activity';
}

function beginWith(api: CompiledApi, location: SystemPlace, read: Images): BeginHistory {
  const { log } = ownTables(location).statements;
  const takes = createActionCheck(location);
  const collections = new Map(api.collections.map((descriptor) => [descriptor.name, descriptor]));
  return function beginHistory(transaction, driftGuard, origin, side, called) {
    const changes: LoggedChange[] = [];
    return {
      watch(action, collection, keys, archives = false) {
        const descriptor = collections.get(collection);
        if (descriptor === undefined || !isKept(descriptor) || recordsItself(descriptor, action)) return null;
        driftGuard({ tables: [descriptor.table] });
        return watchStep({ transaction, side, read, descriptor, action, archives, called, keys, changes });
      },
      finish() {
        if (changes.length === 0) return undefined;
        const taken = changes.every(({ action }) => action !== 'archive') || takes(transaction);
        if (taken === true) return log(transaction, origin, changes);
        return taken.then((isTaken) => log(transaction, origin, isTaken ? changes : changes.map(inOldWords)));
      },
    };
  };
}

/** A change in the words of tables that a migration is still to come to. */
function inOldWords(change: LoggedChange): LoggedChange {
  return change.action === 'archive' ? { ...change, action: 'delete' } : change;
}

interface Watching {
  readonly transaction: Transaction;
  readonly side: Side;
  readonly read: Images;
  readonly descriptor: CollectionDescriptor;
  readonly action: StepAction;
  readonly archives: boolean;
  readonly called: 'revert' | 'upload' | undefined;
  /** Null when items are made. */
  readonly keys: Keys | null;
  readonly changes: LoggedChange[];
}

function watchStep(watching: Watching) {
  const { transaction, side, read, descriptor, action, keys, changes } = watching;
  const whole = action !== 'delete' && isWhole(descriptor);
  const lock = action === 'delete' ? 'UPDATE' : 'NO KEY UPDATE';
  const before = keys === null ? nothing : held(read.read(transaction, { descriptor, keys, whole, side }, lock));
  let after: Promise<readonly Image[]> | undefined;
  const readAfter = (itemKeys: Keys) =>
    (after ??= held(read.read(transaction, { descriptor, keys: itemKeys, whole, side })));
  return {
    /** The step was sent: sends what can be read after it at once. */
    follow(): void {
      if (action === 'update' && keys !== null) readAfter(keys);
    },
    /** The step has written so many rows of those keys; `returned` is what it gave of them, as `ReturnedImages` wants it. */
    async resolve(written: Keys, count: number, returned?: Answer): Promise<void> {
      const stored = await before;
      // All that were there are gone, unless some were passed over.
      const gone = action === 'delete' && count === stored.length;
      const left = gone ? [] : returned === undefined ? await readAfter(written) : imagesOf(descriptor, returned);
      const done = action === 'delete' ? without(stored, left) : left;
      const old = new Map(stored.map((image) => [image.key, image]));
      for (const image of done) {
        const change = changeOf(watching, whole, old.get(image.key), image);
        if (change !== null) changes.push(change);
      }
    },
  };
}

const nothing: Promise<readonly Image[]> = Promise.resolve([]);

/** A promise that is looked at later, perhaps never. */
function held<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function without(images: readonly Image[], others: readonly Image[]): readonly Image[] {
  const gone = new Set(others.map(({ key }) => key));
  return images.filter(({ key }) => !gone.has(key));
}

function changeOf(
  { action, archives, called, descriptor }: Watching,
  whole: boolean,
  before: Image | undefined,
  { key, item }: Image,
): LoggedChange | null {
  // It came while we were looking, so it is none of ours.
  if (action === 'update' && before === undefined) return null;
  const revision = whole ? revisionOf(descriptor, before?.item ?? null, item) : null;
  const done = action === 'delete' && archives ? 'archive' : action;
  const name = called !== undefined && isCalled(called, action, descriptor) ? called : done;
  return { action: name, collection: descriptor.name, item: key, revision, parent: null };
}

/** True if an action is logged under the name of its request (`revert`, `upload`) instead of its own. */
function isCalled(called: 'revert' | 'upload', action: StepAction, { name }: CollectionDescriptor): boolean {
  return called === 'revert' ? action === 'update' : action !== 'delete' && name === filesName;
}

/** Makes what tells if activity takes `archive` and `call`. Until it does, every transaction that needs to know looks again. */
export function createActionCheck(location: SystemPlace): (transaction: Transaction) => true | Promise<boolean> {
  const { takesActions } = ownTables(location).statements;
  let taken = false;
  return (transaction) => {
    if (taken) return true;
    return allRows(transaction, takesActions, []).then((rows) => {
      taken = rows.length > 0;
      return taken;
    });
  };
}
