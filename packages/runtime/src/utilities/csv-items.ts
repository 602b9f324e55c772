/** Items of a file of CSV. A dotted name is a field of a related item (`author_id.name`), as in exports. */
import { createReadStream } from 'node:fs';
import { hasParts } from '../dialects/fragment.ts';
import { PlatformError } from '../errors.ts';
import { parseBodyText } from '../json/body.ts';
import type { FilterObject } from '../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, FieldDescriptor, JsonValue, ManyToOne } from '../language/index.ts';

/** Collections that the columns of a file belong to. */
export interface ItemsLayout {
  readonly collection: CollectionDescriptor;
  /** All collections, among them those that relations lead to. */
  readonly collections: readonly CollectionDescriptor[];
  /** True if the caller may write the name. All others are like those that are not there. */
  isWritable(collection: string, name: string): boolean;
}

/** Columns that belong to one item of a row: its own, and those of related items. */
interface Columns {
  readonly key: readonly string[];
  readonly fields: Map<string, { readonly position: number; readonly field: FieldDescriptor | undefined }>;
  readonly related: Map<string, RelatedColumns>;
}

/** Columns of a related item; `holders` are the fields of the item above that hold its key. */
interface RelatedColumns {
  readonly relation: ManyToOne;
  readonly columns: Columns;
  readonly holders: readonly string[];
}

/**
 * Reads the items, whose rows have at most `maxLength` characters. Throws INVALID_PAYLOAD for another form, and for names
 * that do not fit each other.
 */
export async function* readCsvItems(
  path: string,
  layout: ItemsLayout,
  maxLength: number,
): AsyncGenerator<FilterObject> {
  let columns: Columns | undefined;
  let width = 0;
  let line = 0;
  for await (const row of readCsv(readTexts(path), maxLength)) {
    line++;
    if (columns === undefined) {
      columns = readHeader(row, layout);
      width = row.length;
    } else if (row.length !== width) throw refuse(`has ${row.length} cells in row ${line}, and ${width} names`);
    else yield itemOf(columns, row, line);
  }
}

function readHeader(row: CsvRow, layout: ItemsLayout): Columns {
  const names = row.map((name, index) => (index === 0 ? (name ?? '').replace(/^\ufeff/, '') : (name ?? '')));
  if (names.includes('') || new Set(names).size < names.length)
    throw refuse('must begin with a row of different names');
  // As spreadsheets of many countries write it.
  if (names.length === 1 && /[;\t]/.test(names[0] ?? '')) throw refuse('has no commas between its names');
  if (names.some((name) => name.split('.').includes('__proto__'))) throw refuse('has a name that is not allowed');
  const columns = emptyColumns(layout.collection);
  for (const [position, name] of names.entries())
    placeColumn(columns, layout, layout.collection, { name, position, all: name });
  return columns;
}

function emptyColumns({ key }: CollectionDescriptor): Columns {
  return { key, fields: new Map(), related: new Map() };
}

/** A column of the file: `all` is its name there, `name` the part of it that is left. */
interface NamedColumn {
  readonly name: string;
  readonly all: string;
  readonly position: number;
}

function placeColumn(
  columns: Columns,
  layout: ItemsLayout,
  collection: CollectionDescriptor,
  column: NamedColumn,
): void {
  const { name, all, position } = column;
  const isWritable = (named: { readonly name: string }): boolean => layout.isWritable(collection.name, named.name);
  const field = collection.fields.find((candidate) => candidate.name === name && isWritable(candidate));
  const above = [...collection.relations, ...collection.fields].find(
    (candidate) => name.startsWith(`${candidate.name}.`) && isWritable(candidate),
  );
  if (field !== undefined || above === undefined) {
    if (columns.related.has(name)) throw refuse(`has the column "${all}", and columns of the item that it is`);
    columns.fields.set(name, { position, field });
    return;
  }
  const relation = 'kind' in above && above.kind === 'm2o' ? above : undefined;
  const target = layout.collections.find((candidate) => candidate.name === relation?.target);
  if (relation === undefined || target === undefined)
    throw refuse(`has the column "${all}", but "${above.name}" is no related item`);
  if (columns.fields.has(relation.name)) throw refuse(`has the column "${all}", and one of the key of that item`);
  const holding = collection.fields.filter((held) => relation.on.some(({ from }) => from === held.column));
  const related = columns.related.get(relation.name) ?? {
    relation,
    columns: emptyColumns(target),
    holders: holding.map((held) => held.name),
  };
  columns.related.set(relation.name, related);
  placeColumn(related.columns, layout, target, { name: name.slice(relation.name.length + 1), all, position });
}

function itemOf(columns: Columns, row: CsvRow, line: number): FilterObject {
  const fields = [...columns.fields].flatMap(([name, { position, field }]): [string, JsonValue][] => {
    const cell = row[position] ?? null;
    // A field that cannot be null gets its default.
    if (cell === null) return field === undefined || field.nullable ? [[name, null]] : [];
    return [[name, cellValue(field, cell, line)]];
  });
  const related = [...columns.related].flatMap(
    ([name, { relation, columns: below, holders }]): [string, JsonValue][] => {
      if (hasCell(below, row)) return [[name, itemOf(below, row, line)]];
      // Columns of the key say the same, and more where only a part of it is null.
      const isComplete = holders.every((holder) => columns.fields.has(holder));
      return isComplete || !relation.nullable ? [] : [[name, null]];
    },
  );
  return withoutEmptyKeys(Object.fromEntries([...fields, ...related]), columns.key);
}

function hasCell({ fields, related }: Columns, row: CsvRow): boolean {
  const isThere = [...fields.values()].some(({ position }) => (row[position] ?? null) !== null);
  return isThere || [...related.values()].some(({ columns }) => hasCell(columns, row));
}

/** The value that a cell stands for: lists and JSON are written as JSON, everything else is taken as it is. */
function cellValue(field: FieldDescriptor | undefined, cell: string, line: number): JsonValue {
  const isJson =
    field === undefined
      ? /^[[{]/.test(cell)
      : ['json', 'vector'].includes(field.type) || hasParts(field) || (field.type === 'csv' && cell.startsWith('['));
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
export function withoutEmptyKeys(item: FilterObject, key: readonly string[]): FilterObject {
  const empty = key.filter((name) => item[name] === null);
  return empty.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => !empty.includes(name)));
}

/** The cells of a row; null for an empty one. */
type CsvRow = readonly (string | null)[];

/** Reads the rows; empty lines are passed over. Throws INVALID_PAYLOAD for quotes that do not end. */
async function* readCsv(texts: AsyncIterable<string>, maxLength: number): AsyncGenerator<CsvRow> {
  const parser = new CsvParser(maxLength);
  for await (const text of texts) yield* parser.read(text);
  yield* parser.end();
}

/** Reads a file in UTF-8 part by part, without its byte order mark. Throws INVALID_PAYLOAD for bytes that are no text. */
export async function* readTexts(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of createReadStream(path)) yield decode(() => decoder.decode(chunk, { stream: true }));
  yield decode(() => decoder.decode());
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
  readonly #maxLength: number;
  #state: State = 'start';
  #cell = '';
  #row: (string | null)[] = [];
  /** Characters of the row, without its quotes. */
  #length = 0;
  #line = 1;
  #afterReturn = false;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

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
    this.#length = 0;
    this.#line++;
    return empty ? null : done;
  }

  #add(text: string): void {
    this.#cell += text;
    this.#count(text);
  }

  #count({ length }: string): void {
    this.#length += length;
    if (this.#length <= this.#maxLength) return;
    throw refuse(`has more than ${this.#maxLength} characters in line ${this.#line} (MAX_PAYLOAD_SIZE)`);
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
        this.#count(letter);
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
export function refuse(problem: string): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `The file ${problem}.`);
}
