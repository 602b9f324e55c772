/**
 * What remains of writes: activity and revisions, in the transaction that writes, by a number of statements that does not
 * depend on how many items are written. Source: API specification, sections 8.4, 10.1 and 10.10.
 */
import type { CollectionDescriptor, CompiledApi } from '../contract/index.ts';
import type { Transaction } from '../database/database.ts';
import type { ReadLimits } from '../query/parse-read.ts';
import type { Scope } from '../query/scope.ts';
import { type ChangeOrigin, type LoggedChange, logChanges, revisionOf } from '../system/log-changes.ts';
import { logSchemaOf } from '../system/schema.ts';
import { createImages, type Image, type ReadImages } from './images.ts';
import type { Keys } from './keys.ts';
import { lockRows } from './lock-rows.ts';
import { nameStatement } from './statement.ts';

/** What a step does with items. */
export type StepAction = 'create' | 'update' | 'delete';

/** Keeps the history of one attempt at a request. */
export interface History {
  /** Starts watching a step that is about to be sent; null when nothing of its collection is kept. */
  watch(action: StepAction, collection: string, keys: Keys | null): Watch | null;
  /** Sends what is to be kept. What goes wrong with it goes wrong with the transaction. */
  finish(): void;
}

/** Watches one step. What has to be read before it was sent when the watch began. */
export interface Watch {
  /** The step was sent: sends what can be read behind it at once. */
  follow(): void;
  /** The step has written so many rows of those keys. */
  settle(keys: Keys, count: number): Promise<void>;
}

/** Starts the history of an attempt. */
export type BeginHistory = (
  transaction: Transaction,
  gate: (statement: string) => void,
  origin: ChangeOrigin,
) => History;

/** Makes what keeps history; null when the platform's own tables are not installed. */
export function createHistory(api: CompiledApi, open: Scope, limits: ReadLimits): BeginHistory | null {
  const schema = logSchemaOf(api);
  if (schema === null) return null;
  const read = createImages(open, limits);
  const collections = new Map(api.collections.map((descriptor) => [descriptor.name, descriptor]));
  return function beginHistory(transaction, gate, origin) {
    const changes: LoggedChange[] = [];
    return {
      watch(action, collection, keys) {
        const descriptor = collections.get(collection);
        if (descriptor === undefined || descriptor.accountability === 'none') return null;
        gate(descriptor.table);
        return watchStep({ transaction, read, descriptor, action, keys, changes });
      },
      finish() {
        if (changes.length === 0) return;
        const { text, parameters } = logChanges(schema, origin, changes);
        transaction.run(nameStatement(text), parameters, { row: () => {} }).catch(() => {});
      },
    };
  };
}

interface Watching {
  readonly transaction: Transaction;
  readonly read: ReadImages;
  readonly descriptor: CollectionDescriptor;
  readonly action: StepAction;
  /** Null when items are made. */
  readonly keys: Keys | null;
  readonly changes: LoggedChange[];
}

function watchStep(watching: Watching): Watch {
  const { transaction, read, descriptor, action, keys, changes } = watching;
  const whole = action !== 'delete' && descriptor.accountability !== 'activity';
  const before = keys === null ? nothing : held(readLocked(watching, keys, whole));
  let after: Promise<readonly Image[]> | undefined;
  const readAfter = (of: Keys) => (after ??= held(read(transaction, descriptor, of, whole)));
  return {
    follow() {
      if (action === 'update' && keys !== null) readAfter(keys);
    },
    async settle(written, count) {
      const stored = await before;
      // All that were there are gone, unless some were passed over.
      const left = action === 'delete' && count === stored.length ? [] : await readAfter(written);
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

/** The locks and the images go together, in front of the step. */
async function readLocked(
  { transaction, read, descriptor, action }: Watching,
  keys: Keys,
  whole: boolean,
): Promise<readonly Image[]> {
  const locked = lockRows(transaction, descriptor, keys, action === 'delete' ? 'UPDATE' : 'NO KEY UPDATE');
  const [images] = await Promise.all([read(transaction, descriptor, keys, whole), locked]);
  return images;
}

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
  { action, descriptor }: Watching,
  whole: boolean,
  before: Image | undefined,
  { key, item }: Image,
): LoggedChange | null {
  // It came while we were looking, so it is none of ours.
  if (action === 'update' && before === undefined) return null;
  const revision = whole ? revisionOf(descriptor, before?.item ?? null, item) : null;
  return { action, collection: descriptor.name, item: key, revision, parent: null };
}
