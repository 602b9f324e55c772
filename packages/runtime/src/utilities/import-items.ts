/** Items from a file: new ones, and changes of those that there are by their keys. Source: section 13, `/utils/import`. */
import { readFile } from 'node:fs/promises';
import type { Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { checkBody, parseBodyText } from '../json/body.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, CompiledApi } from '../language/index.ts';
import { bodyOfParts, type PartsRun, type TransactionBody } from '../write/execute/transaction-body.ts';
import { explainViolation } from '../write/execute/violation.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type ItemsLayout, readCsvItems, refuse, withoutEmptyKeys } from './csv-items.ts';

export interface ImporterOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'workOf'>;
  /** Items that one request writes at most; null: as many as its file holds. */
  readonly maxItems: number | null;
}

/** Caller of an import, and the collection to import into. */
type ImportRequest = Pick<WriteRequest, 'caller' | 'collection' | 'sender'>;

export interface ItemsFile {
  readonly path: string;
  readonly format: 'csv' | 'json';
}

/** Imports; all items of a file are written in one transaction. */
interface Importer {
  /** Throws FORBIDDEN for who may not create and update items of the collection at all. */
  admit(request: Pick<ImportRequest, 'caller' | 'collection'>): void;
  /** Returns the work that writes the items of a file. It is refused as writing them by requests would be. */
  workOf(request: ImportRequest, file: ItemsFile): TransactionBody;
}

/** Items that are written by one write. */
const together = 1_000;

export function createImporter({ api, writer, maxItems }: ImporterOptions): Importer {
  const byName = new Map(
    api.collections.filter(({ system }) => system !== true).map((collection) => [collection.name, collection]),
  );
  const granted = grantedCollections(api);

  function descriptorOf({ caller, collection }: Pick<ImportRequest, 'caller' | 'collection'>): CollectionDescriptor {
    const descriptor = byName.get(collection);
    const isGranted = granted.get(caller.accessClass)?.has(collection) === true;
    if (descriptor === undefined || !isGranted || descriptor.singleton === true) throw new PlatformError('FORBIDDEN');
    return descriptor;
  }

  function layoutOf(request: ImportRequest): ItemsLayout {
    const permissions = api.access.find(({ name }) => name === request.caller.accessClass)?.collections ?? [];
    return {
      collection: descriptorOf(request),
      collections: api.collections,
      isWritable(collection, name) {
        const { create = [], update = [] } = permissions.find((granted) => granted.collection === collection) ?? {};
        return [...create, ...update].some(({ fields }) => fields.includes(name));
      },
    };
  }

  return {
    admit: (request) => void descriptorOf(request),
    workOf(request, file) {
      const descriptor = descriptorOf(request);
      // A transaction may run again from its start, and then the file is read again.
      return bodyOfParts(async (transaction, parts) => {
        let count = 0;
        for await (const items of inBatches(itemsOf(file, layoutOf(request)))) {
          if (maxItems !== null && count + items.length > maxItems) {
            throw new PlatformError('INVALID_PAYLOAD', `A request writes at most ${maxItems} items.`);
          }
          const before = count;
          count += items.length;
          await writeBatch(writer, transaction, request, descriptor, items, parts).catch((error: unknown) => {
            throw placedBehind(error, before);
          });
        }
      });
    },
  };
}

/** Collections of each access class that may create and update items of them. */
function grantedCollections({ access }: CompiledApi): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    access.map(({ name, collections }) => [
      name,
      new Set(
        collections
          .filter(({ create = [], update = [] }) => create.length > 0 && update.length > 0)
          .map(({ collection }) => collection),
      ),
    ]),
  );
}

async function writeBatch(
  writer: ImporterOptions['writer'],
  transaction: Transaction,
  { caller, collection, sender }: ImportRequest,
  descriptor: CollectionDescriptor,
  items: readonly FilterObject[],
  { judgesFirst, begun }: PartsRun,
): Promise<void> {
  const keyed = items.some(
    (item) => descriptor.key.length > 0 && descriptor.key.every((name) => Object.hasOwn(item, name)),
  );
  const query = keyed ? `on_conflict=${descriptor.key.map(encodeURIComponent).join(',')}` : '';
  const request = { caller, collection, query, sender, isPart: true as const, judgesFirst, returning: () => null };
  const work = await writer.workOf({ action: 'create', request, body: [...items] });
  begun(work);
  await work.run(transaction).catch((error: unknown) => {
    throw explainViolation(error, work.affected());
  });
}

/** Errors tell the place of an item in its file. */
function placedBehind(error: unknown, before: number): unknown {
  if (!(error instanceof PlatformError) || before === 0) return error;
  const { index } = error.extensions;
  const others = error.others
    .map((other) => placedBehind(other, before))
    .filter((other) => other instanceof PlatformError);
  const extensions = typeof index === 'number' ? { ...error.extensions, index: index + before } : error.extensions;
  return new PlatformError(error.code, error.message, extensions, {
    cause: error.cause,
    headers: error.headers,
    others,
  });
}

async function* inBatches(items: AsyncIterable<FilterObject>): AsyncGenerator<readonly FilterObject[]> {
  let hookPayload: FilterObject[] = [];
  for await (const item of items) {
    hookPayload.push(item);
    if (hookPayload.length < together) continue;
    yield hookPayload;
    hookPayload = [];
  }
  if (hookPayload.length > 0) yield hookPayload;
}

function itemsOf({ path, format }: ItemsFile, layout: ItemsLayout): AsyncIterable<FilterObject> {
  return format === 'json' ? jsonItems(path, layout.collection) : readCsvItems(path, layout);
}

async function* jsonItems(path: string, { key }: CollectionDescriptor): AsyncGenerator<FilterObject> {
  const text = checkBody(await readFile(path), { 'content-type': 'application/json' });
  const parsed = parseBodyText(text.replace(/^\ufeff/, ''));
  for (const item of Array.isArray(parsed) ? parsed : [parsed]) {
    if (!isObject(item)) throw refuse('must hold objects');
    yield withoutEmptyKeys(item, key);
  }
}
