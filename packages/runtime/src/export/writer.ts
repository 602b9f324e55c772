import { ByteWriter, giveBack } from '../json/byte-writer.ts';
import type { Shape, ShapeField } from '../json/shape.ts';
import { createTranscoder } from '../json/transcode.ts';
import type { Answer, AnswerWriter } from '../query/answer.ts';
import type { ExportFormat } from '../query/parse/request.ts';
import type { ReadPlan } from '../query/plan/plan.ts';
import { compactJson, isNull, plainText, type RawJson, type RawMember, readRawJson } from './raw-json.ts';

/** Rows that go into the file as JSON, with these bytes around and between. */
interface Framed {
  /** True if each row is one line. */
  readonly lines: boolean;
  readonly start: Buffer;
  readonly between: Buffer;
  readonly behind: Buffer;
  readonly end: Buffer;
}

/** Prepares how the rows of an exported plan become a file; once per plan. */
export function createExportWriter(plan: ReadPlan, format: ExportFormat): AnswerWriter {
  const transcode = createTranscoder(plan.fields);
  const framed = framing[format];
  if (framed !== undefined) return () => createFramed(framed, transcode);
  const file = fileFormat(format, plan.fields);
  return () => createFile(file, transcode);
}

const bytes = (text: string): Buffer => Buffer.from(text);

const framing: Readonly<Partial<Record<ExportFormat, Framed>>> = {
  json: { lines: false, start: bytes('['), between: bytes(','), behind: bytes(''), end: bytes(']') },
  ndjson: { lines: true, start: bytes(''), between: bytes(''), behind: bytes('\n'), end: bytes('') },
};

function fileFormat(format: ExportFormat, fields: readonly ShapeField[]): FileFormat {
  if (format === 'csv') return createCsv(fields);
  return format === 'xml' ? xml : yaml;
}

type Transcode = ReturnType<typeof createTranscoder>;
type PutRow = (out: ByteWriter, items: number, buffer: Buffer, offset: number) => void;

/** Writes rows with the bytes around and between them. */
function createFramed({ lines, start, between, behind, end }: Framed, transcode: Transcode): Answer {
  const put: PutRow = (out, items, buffer, offset) => {
    if (items > 0) out.append(between);
    const before = out.length;
    transcode(buffer, offset, out);
    if (lines) joinLines(out.bytes.subarray(out.position - (out.length - before), out.position));
    out.append(behind);
  };
  return new FileAnswer(start, put, () => end);
}

/** Makes spaces of line breaks, which stand in stored JSON between its tokens only. */
function joinLines(json: Buffer): void {
  for (const lineBreak of [10, 13]) {
    for (let found = json.indexOf(lineBreak); found >= 0; found = json.indexOf(lineBreak, found)) json[found] = 32;
  }
}

function createFile(format: FileFormat, transcode: Transcode): Answer {
  const scratch = new ByteWriter();
  const put: PutRow = (out, _items, buffer, offset) => {
    transcode(buffer, offset, scratch);
    const json = scratch.takeBytes();
    const text = json.toString();
    giveBack(json);
    out.appendText(format.row(readRawJson(text)));
  };
  return new FileAnswer(bytes(format.start), put, (items) => bytes(format.end(items)));
}

/** Rows with what stands before the first and after the last of them. */
class FileAnswer implements Answer {
  items = 0;
  readonly #start: Buffer;
  readonly #put: PutRow;
  readonly #endOf: (items: number) => Buffer;
  readonly #out = new ByteWriter();
  #started = false;
  #ended: Buffer | undefined;

  constructor(start: Buffer, put: PutRow, endOf: (items: number) => Buffer) {
    this.#start = start;
    this.#put = put;
    this.#endOf = endOf;
  }

  row(buffer: Buffer, offset: number): void {
    this.#begin();
    this.#put(this.#out, this.items++, buffer, offset);
  }

  read(): Buffer {
    return this.#out.takeBytes();
  }

  end(): Buffer {
    if (this.#ended !== undefined) return this.#ended;
    this.#begin();
    this.#out.append(this.#endOf(this.items));
    this.#ended = this.#out.takeBytes();
    return this.#ended;
  }

  #begin(): void {
    if (!this.#started) this.#out.append(this.#start);
    this.#started = true;
  }
}

/** Format of a file, which rows are written into one at a time. */
interface FileFormat {
  /** In front of the first row, also when there is none. */
  readonly start: string;
  row(item: RawJson): string;
  /** After the last row. */
  end(rows: number): string;
}

/** One column: the names that lead to it, and whether it holds JSON text. */
interface Column {
  readonly path: readonly string[];
  readonly json: boolean;
}

/**
 * CSV (RFC 4180): a header row, lines that end in CR LF, quotes where they are needed.
 *
 * Nested objects become dotted columns; lists and JSON values are written as JSON text. Null is an empty cell, the empty
 * text a quoted one.
 */
export function createCsv(fields: readonly ShapeField[]): FileFormat {
  const columns = flatten(fields, []);
  return {
    start: line(columns.map(({ path }) => quoted(path.join('.')))),
    row: (item) => line(columns.map(({ path, json }) => cellOf(valueAt(item, path), json))),
    end: () => '',
  };
}

function flatten(fields: readonly ShapeField[], above: readonly string[]): readonly Column[] {
  return fields.flatMap(({ key, shape }): readonly Column[] => {
    const path = [...above, key];
    if (shape.kind === 'record' && shape.fields.length > 0) return flatten(shape.fields, path);
    return [{ path, json: !isPlain(shape) }];
  });
}

function isPlain(shape: Shape): boolean {
  return shape.kind === 'scalar' && shape.wire !== 'json' && shape.wire !== 'jsonb' && shape.wire !== 'csv';
}

function line(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/** The value at the end of a path; undefined where an object on the way is null. */
function valueAt(item: RawJson, path: readonly string[]): RawJson | undefined {
  let value: RawJson | undefined = item;
  for (const name of path) {
    value = value?.kind === 'object' ? value.members.find(([member]) => member === name)?.[1] : undefined;
  }
  return value;
}

function cellOf(value: RawJson | undefined, json: boolean): string {
  if (value === undefined || isNull(value)) return '';
  if (json || value.kind !== 'scalar') return quoted(compactJson(value));
  return value.text === '""' ? '""' : quoted(plainText(value.text));
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * XML 1.0: one `item` per row under `items`, an element per field, an `item` per element of a list. Null is an element with
 * `xsi:nil`. A name that is no XML name stands in the attribute `name` of an element `field`.
 */
export const xml: FileFormat = {
  start: '<?xml version="1.0" encoding="UTF-8"?>\n<items xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n',
  row: (item) => `  ${element('item', item)}\n`,
  end: () => '</items>\n',
};

function element(name: string, value: RawJson): string {
  const usable = /^[A-Za-z_][\w.-]*$/.test(name) && !/^xml/i.test(name);
  const tag = usable ? name : 'field';
  const start = usable ? tag : `field name="${attribute(name)}"`;
  if (isNull(value)) return `<${start} xsi:nil="true"/>`;
  const content = contentOf(value);
  return content === '' ? `<${start}/>` : `<${start}>${content}</${tag}>`;
}

function contentOf(value: RawJson): string {
  if (value.kind === 'scalar') return escaped(plainText(value.text));
  if (value.kind === 'list') return value.items.map((item) => element('item', item)).join('');
  return value.members.map(([name, inner]) => element(name, inner)).join('');
}

/** Characters that XML 1.0 cannot hold in any spelling. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const impossible = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;

/** Characters that need an escape, or have none: most texts hold none of them, and are not copied. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters looked for
const special = /[&<>\u0000-\u0008\u000b-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** A carriage return would be read back as a line feed. */
function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;')
    .replace(impossible, '\ufffd');
}

function attribute(text: string): string {
  return escaped(text).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
}

/**
 * YAML 1.2: a list of mappings with one line per field, nested objects indented. Scalars are written as in JSON, which
 * YAML reads alike; lists and objects inside lists are in JSON's form too, except the rows themselves.
 */
export const yaml: FileFormat = {
  start: '',
  row: (item) => `- ${item.kind === 'object' && item.members.length > 0 ? mapping(item.members, '  ') : flow(item)}\n`,
  end: (rows) => (rows === 0 ? '[]\n' : ''),
};

function mapping(members: readonly RawMember[], indent: string): string {
  return members.map(([name, value]) => `${key(name)}:${below(value, indent)}`).join(`\n${indent}`);
}

function below(value: RawJson, indent: string): string {
  if (value.kind !== 'object' || value.members.length === 0 || indent.length > deepest) return ` ${flow(value)}`;
  const inner = `${indent}  `;
  return `\n${inner}${mapping(value.members, inner)}`;
}

/** Spaces beyond which nesting is written in one line. */
const deepest = 40;

/** Words that are values in some version of YAML are quoted, as is everything that is no plain word. */
function key(name: string): string {
  const plain = /^[A-Za-z_][\w-]*$/.test(name) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(name);
  return plain ? name : scalar(JSON.stringify(name));
}

function flow(value: RawJson): string {
  if (value.kind === 'scalar') return scalar(value.text);
  if (value.kind === 'list') return `[${value.items.map(flow).join(', ')}]`;
  if (value.members.length === 0) return compactJson(value);
  return `{${value.members.map(([name, inner]) => `${scalar(JSON.stringify(name))}: ${flow(inner)}`).join(', ')}}`;
}

/** JSON may spell a character beyond the first plane as two escapes, which YAML would read as two characters. */
function scalar(text: string): string {
  return text.includes('\\u') ? JSON.stringify(plainText(text)) : text;
}
