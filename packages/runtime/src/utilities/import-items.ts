/** Items from a file: new ones, and changes of those that there are by their keys. Source: section 13, `/utils/import`. */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Caller } from '../caller.ts';
import type { Database, Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { checkBody, parseBodyText } from '../json/body.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, CompiledApi, FieldDescriptor, JsonValue } from '../language/index.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { retryOnConflict, runExplained, type TransactionBody } from '../write/execute/transaction-body.ts';
import type { Writer } from '../write/writer.ts';

export interface ImporterOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction'>;
  readonly writer: Pick<Writer, 'workOf'>;
  /** Items that one request writes at most; null: as many as its file holds. */
  readonly maxItems: number | null;
}

/** Caller of an import, and the collection to import into. */
interface ImportRequest {
  readonly caller: Caller;
  readonly collection: string;
  readonly sender: RequestOrigin;
}

export interface ItemsFile {
  readonly path: string;
  readonly format: 'csv' | 'json';
}

/** Imports; all items of a file are written in one transaction. */
interface Importer {
  /** Throws FORBIDDEN for who may not create and update items of the collection at all. */
  admit(request: Pick<ImportRequest, 'caller' | 'collection'>): void;
  /** Writes the items of a file. Rejects as writing them by requests would. */
  run(request: ImportRequest, file: ItemsFile): Promise<void>;
}

/** Items that are written by one write. */
const together = 1_000;

export function createImporter({ api, database, writer, maxItems }: ImporterOptions): Importer {
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

  return {
    admit: (request) => void descriptorOf(request),
    async run(request, file) {
      const descriptor = descriptorOf(request);
      let latest: TransactionBody | undefined;
      const begun = (work: TransactionBody) => {
        latest = work;
      };
      // A transaction may run again from its start, and then the file is read again.
      const isConflict = (error: unknown): boolean => latest?.isConflict?.(error) === true;
      const bring = () =>
        database.transaction(async (transaction) => {
          const done: TransactionBody[] = [];
          let count = 0;
          for await (const items of inBatches(itemsOf(file, descriptor))) {
            if (maxItems !== null && count + items.length > maxItems) {
              throw new PlatformError('INVALID_PAYLOAD', `A request writes at most ${maxItems} items.`);
            }
            const before = count;
            count += items.length;
            const written = writeBatch(writer, transaction, request, descriptor, items, begun);
            done.push(
              await written.catch((error: unknown) => {
                throw placedBehind(error, before);
              }),
            );
          }
          return { value: done };
        });
      const works = await retryOnConflict({ isConflict }, bring);
      for (const work of works) work.committed();
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
  begun: (work: TransactionBody) => void,
): Promise<TransactionBody> {
  const keyed = items.some(
    (item) => descriptor.key.length > 0 && descriptor.key.every((name) => Object.hasOwn(item, name)),
  );
  const query = keyed ? `on_conflict=${descriptor.key.map(encodeURIComponent).join(',')}` : '';
  const request = { caller, collection, query, sender, returning: () => null };
  const work = await writer.workOf({ action: 'create', request, body: [...items] });
  begun(work);
  await runExplained(work, transaction);
  return work;
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

function itemsOf({ path, format }: ItemsFile, descriptor: CollectionDescriptor): AsyncIterable<FilterObject> {
  return format === 'json' ? jsonItems(path, descriptor) : csvItems(path, descriptor);
}

async function* jsonItems(path: string, { key }: CollectionDescriptor): AsyncGenerator<FilterObject> {
  const text = checkBody(await readFile(path), { 'content-type': 'application/json' });
  const parsed = parseBodyText(text.replace(/^\ufeff/, ''));
  for (const item of Array.isArray(parsed) ? parsed : [parsed]) {
    if (!isObject(item)) throw refuse('must hold objects');
    yield withoutEmptyKeys(item, key);
  }
}

async function* csvItems(path: string, descriptor: CollectionDescriptor): AsyncGenerator<FilterObject> {
  let names: readonly string[] | undefined;
  let line = 0;
  for await (const row of readCsv(createReadStream(path))) {
    line++;
    if (names === undefined) names = headerOf(row);
    else if (row.length !== names.length)
      throw refuse(`has ${row.length} cells in row ${line}, and ${names.length} names`);
    else yield withoutEmptyKeys(itemOf(names, row, descriptor, line), descriptor.key);
  }
}

function headerOf(row: CsvRow): readonly string[] {
  const names = row.map((name, index) => (index === 0 ? (name ?? '').replace(/^\ufeff/, '') : (name ?? '')));
  if (names.includes('') || new Set(names).size < names.length)
    throw refuse('must begin with a row of different names');
  return names;
}

function itemOf(names: readonly string[], row: CsvRow, { fields }: CollectionDescriptor, line: number): FilterObject {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const entries = names.flatMap((name, index) => {
    const cell = row[index] ?? null;
    const field = byName.get(name);
    // A field that cannot be null gets its default.
    if (cell === null) return field === undefined || field.nullable ? [[name, null] as const] : [];
    return [[name, cellValue(field, cell, line)] as const];
  });
  return Object.fromEntries(entries);
}

/** The value that a cell stands for: lists and JSON are written as JSON, everything else is taken as it is. */
function cellValue(field: FieldDescriptor | undefined, cell: string, line: number): JsonValue {
  const isJson =
    field === undefined
      ? /^[[{]/.test(cell)
      : field.type === 'json' || field.type === 'array' || (field.type === 'csv' && cell.startsWith('['));
  if (!isJson) return cell;
  try {
    // Wrapped, because a cell may hold any value.
    const wrapped = parseBodyText(`[${cell}]`);
    return Array.isArray(wrapped) && wrapped.length === 1 ? (wrapped[0] ?? null) : refusedJson(line);
  } catch {
    return refusedJson(line);
  }
}

function refusedJson(line: number): never {
  throw refuse(`has a cell in row ${line} that is no JSON`);
}

/** A key that is not there is made by the database. */
function withoutEmptyKeys(item: FilterObject, key: readonly string[]): FilterObject {
  const empty = key.filter((name) => item[name] === null);
  return empty.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => !empty.includes(name)));
}

/** The cells of a row; null for an empty one. */
type CsvRow = readonly (string | null)[];

/** Characters of a cell at most: far more than any value that a request may hold. */
const longestCell = 16 * 1024 ** 2;

/**
 * Reads the rows of a text in UTF-8. Lines end in CR LF, LF or CR; empty ones are passed over. Throws INVALID_PAYLOAD for
 * bytes that are no text, and for quotes that do not fit.
 */
async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const parser = new CsvParser();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of chunks) yield* parser.read(decode(() => decoder.decode(chunk, { stream: true })));
  yield* parser.read(decode(() => decoder.decode()));
  yield* parser.end();
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw refuse('is not valid UTF-8');
  }
}

type State = 'start' | 'plain' | 'quoted' | 'quote';

class CsvParser {
  #state: State = 'start';
  #cell = '';
  #row: (string | null)[] = [];
  #line = 1;
  #afterReturn = false;

  #endCell(): void {
    this.#row.push(this.#state === 'start' ? null : this.#cell);
    this.#cell = '';
    this.#state = 'start';
  }

  /** The row, null for an empty line. */
  #endRow(): CsvRow | null {
    const empty = this.#row.length === 0 && this.#state === 'start';
    this.#endCell();
    const done = this.#row;
    this.#row = [];
    this.#line++;
    return empty ? null : done;
  }

  #add(text: string): void {
    this.#cell += text;
    if (this.#cell.length > longestCell) throw refuse(`has too long a cell in line ${this.#line}`);
  }

  *read(text: string): Generator<CsvRow> {
    for (const letter of text) {
      const followsReturn = this.#afterReturn;
      this.#afterReturn = false;
      if (this.#state === 'quoted') {
        if (letter === '"') this.#state = 'quote';
        else this.#add(letter);
      } else if (letter === '"') {
        if (this.#state === 'plain') throw refuse(`has a quote within a cell in line ${this.#line}`);
        if (this.#state === 'quote') this.#add(letter);
        this.#state = 'quoted';
      } else if (letter === ',') {
        this.#endCell();
      } else if (letter === '\n' && followsReturn) {
        // The other half of a line's end.
      } else if (letter === '\r' || letter === '\n') {
        this.#afterReturn = letter === '\r';
        const done = this.#endRow();
        if (done !== null) yield done;
      } else {
        if (this.#state === 'quote') throw refuse(`has text after a quoted cell in line ${this.#line}`);
        this.#state = 'plain';
        this.#add(letter);
      }
    }
  }

  *end(): Generator<CsvRow> {
    if (this.#state === 'quoted') throw refuse('ends within quotes');
    if (this.#row.length === 0 && this.#state === 'start') return;
    const done = this.#endRow();
    if (done !== null) yield done;
  }
}

/** Error for an invalid CSV file; `problem` continues the sentence "The file". */
function refuse(problem: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `The file ${problem}.`);
}
