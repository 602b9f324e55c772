/** Items from a file: new ones, and changes of those that there are by their keys. Source: section 13, `/utils/import`. */
import type { Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { parseBodyText } from '../json/body.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, CompiledApi, JsonValue } from '../language/index.ts';
import { checkCount } from '../write/decode/parse-body.ts';
import { bodyOfParts, type PartsRun, type TransactionBody } from '../write/execute/transaction-body.ts';
import { explainViolation } from '../write/execute/violation.ts';
import type { WriteRequest } from '../write/write-plan.ts';
import type { Writer } from '../write/writer.ts';
import { type ItemsLayout, readCsvItems, readTexts, refuse, withoutEmptyKeys } from './csv-items.ts';

export interface ImporterOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'workOf'>;
  /** Items that one request writes at most; null: as many as its file holds. */
  readonly maxItems: number | null;
  /** Characters of an item at most: those of a request have no more. */
  readonly itemSize: number;
}

type ImportRequest = Pick<WriteRequest, 'caller' | 'collection' | 'sender'>;

export interface ItemsFile {
  readonly path: string;
  readonly format: 'csv' | 'json';
}

/** Items that are written by one write. */
const together = 1_000;

export function createImporter({ api, writer, maxItems, itemSize }: ImporterOptions) {
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
    /** Throws FORBIDDEN for who may not create and update items of the collection at all. */
    admit: (request: Pick<ImportRequest, 'caller' | 'collection'>): void => void descriptorOf(request),
    /** Returns the work that writes the items of a file. It is refused as writing them by requests would be. */
    workOf(request: ImportRequest, file: ItemsFile): TransactionBody {
      const descriptor = descriptorOf(request);
      // A transaction may run again from its start, and then the file is read again.
      return bodyOfParts(async (transaction, parts) => {
        let count = 0;
        for await (const items of inBatches(itemsOf(file, layoutOf(request), itemSize))) {
          const before = count;
          count += items.length;
          checkCount(count, maxItems);
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

function itemsOf({ path, format }: ItemsFile, layout: ItemsLayout, itemSize: number): AsyncIterable<FilterObject> {
  return format === 'json' ? jsonItems(path, layout.collection, itemSize) : readCsvItems(path, layout, itemSize);
}

/** Parses item by item: a whole file would keep all other requests waiting. */
async function* jsonItems(path: string, { key }: CollectionDescriptor, itemSize: number): AsyncGenerator<FilterObject> {
  const elements = new ListElements(itemSize);
  for await (const text of readTexts(path)) {
    for (const element of elements.read(text)) yield withoutEmptyKeys(element, key);
  }
  for (const element of elements.end()) yield withoutEmptyKeys(element, key);
}

/** Objects of a JSON list whose text comes in parts; a text that is no list is one object. */
class ListElements {
  readonly #maxLength: number;
  #state: 'start' | 'single' | 'list' | 'after' = 'start';
  /** Text of the element under way. */
  #text = '';
  #count = 0;
  #depth = 0;
  #isQuoted = false;
  #isEscaped = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  *read(text: string): Generator<FilterObject> {
    let from = 0;
    for (let position = 0; position < text.length; position++) {
      const letter = text[position] ?? '';
      if (this.#state === 'list') {
        if (!this.#endsElement(letter)) continue;
        this.#add(text.slice(from, position));
        yield* this.#take(letter);
        from = position + 1;
      } else if (this.#state === 'start' && !isSpace(letter)) {
        this.#state = letter === '[' ? 'list' : 'single';
        from = letter === '[' ? position + 1 : position;
      } else if (this.#state === 'after' && !isSpace(letter)) throw refuse('goes on after its list');
    }
    if (this.#state === 'list' || this.#state === 'single') this.#add(text.slice(from));
  }

  *end(): Generator<FilterObject> {
    if (this.#state === 'list') throw refuse('ends within its list');
    if (this.#state !== 'after') yield this.#parse();
  }

  /** True for the comma or bracket behind an element. */
  #endsElement(letter: string): boolean {
    if (this.#isQuoted) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (letter === '\\') this.#isEscaped = true;
      else if (letter === '"') this.#isQuoted = false;
    } else if (letter === '"') this.#isQuoted = true;
    else if (letter === '{' || letter === '[') this.#depth++;
    else if (this.#depth === 0) return letter === ',' || letter === ']';
    else if (letter === '}' || letter === ']') this.#depth--;
    return false;
  }

  #add(text: string): void {
    this.#text += text;
    if (this.#text.length <= this.#maxLength) return;
    throw itemFault(this.#count, `has more than ${this.#maxLength} characters (MAX_PAYLOAD_SIZE)`);
  }

  /** The element in front of a comma or bracket; none in an empty list. */
  *#take(letter: string): Generator<FilterObject> {
    if (letter === ']') this.#state = 'after';
    const isNone = letter === ']' && this.#count === 0 && /^[ \t\r\n]*$/.test(this.#text);
    if (!isNone) yield this.#parse();
    this.#text = '';
    this.#count++;
  }

  #parse(): FilterObject {
    const parsed = parseElement(this.#text, this.#count);
    if (!isObject(parsed)) throw itemFault(this.#count, 'must be an object');
    return parsed;
  }
}

function isSpace(letter: string): boolean {
  return letter === ' ' || letter === '\n' || letter === '\r' || letter === '\t';
}

function parseElement(text: string, index: number): JsonValue {
  try {
    return parseBodyText(text);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw itemFault(index, error.message.replace(/^The body |\.$/g, ''));
  }
}

function itemFault(index: number, problem: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `Item ${index} of the file ${problem}.`, { index });
}
