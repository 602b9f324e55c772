/**
 * Documents of access classes → one file, in which each line that classes have in common is there once
 * (`class-documents.ts` of the language reads it). A part that two classes have alike is taken as a whole. The variants
 * of any other part are merged line by line.
 */
import {
  type CommentSign,
  classHeader,
  classMark,
  derivedOnce,
  findOrCreate,
  type JsonValue,
} from '@tablewright/runtime/language';
import { type Chunk, createChunks, joinChunks, packChunk, textOfChunk } from './chunks.ts';
import { chunksAt, type Layout } from './json.ts';

/** Whole lines of a document, without the line end of the last. */
export interface DocumentPart {
  /** Unique in the document. Parts of the same name are variants of each other. */
  readonly name: string;
  readonly text: readonly Chunk[];
}

export interface ClassDocument {
  readonly name: string;
  readonly parts: readonly DocumentPart[];
}

/** Arrangement of parts below each other. */
interface DocumentForm {
  readonly sign: CommentSign;
  /** Stands before every part. */
  readonly before: '' | '\n';
}

/** Prints the file of all documents; the first is the one of administrators. */
export function printClassDocuments(documents: readonly ClassDocument[], form: DocumentForm): readonly Chunk[] {
  const { sign, before } = form;
  const classes = documents.map(({ name }) => name);
  const lists = documents.map(({ name, parts }) =>
    parts.map((part): CommonPart => ({ key: part.name, variants: [{ text: part.text, classes: new Set([name]) }] })),
  );
  const combined = lists.reduce<readonly CommonPart[]>((first, second) => mergeOrdered(first, second, addVariants), []);
  const markOf = (having: ReadonlySet<string>): string => classMark(classes, having, sign);
  const chunks = createChunks();
  chunks.add(`${classHeader(classes, sign)}\n`);
  for (const { variants } of combined) {
    chunks.add(before);
    for (const chunk of printVariants(variants, markOf)) chunks.add(chunk);
    chunks.add('\n');
  }
  return chunks.all();
}

interface Variant {
  readonly text: readonly Chunk[];
  readonly classes: Set<string>;
}

/** A part as classes have it that have it at this place. */
interface CommonPart extends Keyed {
  readonly variants: Variant[];
}

function addVariants({ variants }: CommonPart, other: CommonPart): void {
  for (const variant of other.variants) {
    const same = variants.find(({ text }) => haveSameText(text, variant.text));
    if (same === undefined) variants.push(variant);
    else for (const name of variant.classes) same.classes.add(name);
  }
}

interface Keyed {
  readonly key: string;
}

/** Brings two lists into one that has the order of both; `met` gets common items. In conflict one stands twice. */
function mergeOrdered<Item extends Keyed>(
  first: readonly Item[],
  second: readonly Item[],
  met: (kept: Item, other: Item) => void,
): readonly Item[] {
  // The first of several places: those after it are of lists that disagreed.
  const positions = new Map(first.map(({ key }, index) => [key, index] as const).reverse());
  const combined: Item[] = [];
  let from = 0;
  for (const item of second) {
    const position = positions.get(item.key) ?? -1;
    const kept = first[position];
    if (position < from || kept === undefined) combined.push(item);
    else {
      combined.push(...first.slice(from, position + 1));
      met(kept, item);
      from = position + 1;
    }
  }
  return [...combined, ...first.slice(from)];
}

function haveSameText(first: readonly Chunk[], second: readonly Chunk[]): boolean {
  return haveSameChunks(first, second) || joinChunks(first) === joinChunks(second);
}

function haveSameChunks(first: readonly Chunk[], second: readonly Chunk[]): boolean {
  return first.length === second.length && first.every((chunk, index) => chunk === second[index]);
}

type MarkOf = (having: ReadonlySet<string>) => string;

function printVariants(variants: readonly Variant[], markOf: MarkOf): readonly Chunk[] {
  const [first, ...others] = variants;
  if (first === undefined) return [];
  if (others.length > 0) return [printByLine(variants, markOf)];
  const ending = markOf(first.classes);
  return ending === '' ? first.text : [...first.text.map((chunk) => marked(chunk, ending)), ending];
}

/** A text with the same ending on every line but the last. Those of long chunks are kept, as these are. */
function marked(chunk: Chunk, ending: string): Chunk {
  if (typeof chunk === 'string') return markedText(chunk, ending);
  const texts = findOrCreate(markedChunks, chunk, () => new Map<string, Chunk>());
  return findOrCreate(texts, ending, () => packChunk(markedText(textOfChunk(chunk), ending)));
}

const markedChunks = new WeakMap<Uint8Array, Map<string, Chunk>>();

function markedText(text: string, ending: string): string {
  return text.replaceAll('\n', `${ending}\n`).replaceAll(`\n${ending}\n`, '\n\n');
}

function printByLine(variants: readonly Variant[], markOf: MarkOf): Chunk {
  const marks = variants.map(({ classes }) => markOf(classes)).join();
  const texts = variants.flatMap(({ text }) => text);
  const owner = texts.find((chunk) => typeof chunk !== 'string');
  const cached = owner && printedTexts.get(owner);
  if (cached?.marks === marks && haveSameChunks(cached.texts, texts)) return cached.result;
  const result = packChunk(textOfLines(mergeLines(variants), markOf));
  if (owner !== undefined) printedTexts.set(owner, { texts, marks, result });
  return result;
}

/** The last of each long chunk, for compilations that go on with what earlier ones made. */
const printedTexts = new WeakMap<
  Uint8Array,
  { readonly texts: readonly Chunk[]; readonly marks: string; readonly result: Chunk }
>();

interface CommonLine extends Keyed {
  text: string;
  classes: ReadonlySet<string>;
}

function mergeLines(variants: readonly Variant[]): readonly CommonLine[] {
  const numbers = new Map<string, number>();
  return variants
    .map(({ text, classes }) => keyedLines(joinChunks(text), classes, numbers))
    .reduce((first, second) =>
      mergeOrdered(first, second, (kept, other) => {
        kept.classes = new Set([...kept.classes, ...other.classes]);
        // With the comma that only some variants need; readers put commas where they belong.
        if (other.text.endsWith(',')) kept.text = other.text;
      }),
    );
}

/** Lines with keys that tell where they stand: below which other line, by its number, and as which of equal ones. */
function keyedLines(text: string, classes: ReadonlySet<string>, numbers: Map<string, number>): readonly CommonLine[] {
  const open: { readonly depth: number; readonly number: number }[] = [];
  const seen = new Map<string, number>();
  return text.split('\n').map((line, index, lines) => {
    const depth = line.length - line.trimStart().length;
    // The end of a block stands below the line that begins it.
    const above = /^ *[}\])]/.test(line) ? depth : depth - 1;
    while ((open.at(-1)?.depth ?? -1) > above) open.pop();
    const path = `${open.at(-1)?.number ?? ''} ${line.endsWith(',') ? line.slice(0, -1) : line}${describedBy(line, lines[index + 1])}`;
    const count = seen.get(path) ?? 0;
    seen.set(path, count + 1);
    const key = `${count} ${path}`;
    const number = findOrCreate(numbers, key, () => numbers.size);
    open.push({ depth, number });
    return { key, text: line, classes };
  });
}

/** Name of what a description of GraphQL stands above: the same text may stand above several. */
function describedBy(line: string, next: string | undefined): string {
  return line.endsWith('"') && next !== undefined ? (/^ *(?:(?:type|input) )?\w+/.exec(next)?.[0] ?? '') : '';
}

function textOfLines(lines: readonly CommonLine[], markOf: MarkOf): string {
  const cached = derivedOnce(markOf);
  return lines.map(({ text, classes }) => (text === '' ? '' : `${text}${cached(classes)}`)).join('\n');
}

interface JsonDivision {
  readonly layoutAt: (indent: number) => Layout;
  /** Members whose members are parts, by paths such as `/components/schemas`. */
  readonly opened: readonly string[];
  /** True if members that stand in one text (`onlyText`) are parts of their own, as they are in other documents. */
  readonly split: boolean;
}

/** Parts of a JSON document: one for each member, or each text of several. */
export function jsonParts(
  document: Readonly<Record<string, JsonValue>>,
  { layoutAt, opened, split }: JsonDivision,
): readonly DocumentPart[] {
  const parts: DocumentPart[] = [{ name: '{', text: ['{'] }];
  const add = (members: object, path: string, indent: number): void => {
    for (const [key, item] of Object.entries(members)) {
      const name = `${path}/${key}`;
      const space = ' '.repeat(indent);
      const start = `${space}${JSON.stringify(key)}: `;
      if (!opened.includes(name)) {
        const text = [start, ...chunksAt(item, indent, layoutAt(indent)), ','];
        if (split) parts.push(...splitMembers(joinChunks(text), path, indent));
        else parts.push({ name, text });
      } else {
        parts.push({ name: `${name} {`, text: [`${start}{`] });
        add(item, name, indent + 2);
        parts.push({ name: `${name} }`, text: [`${space}},`] });
      }
    }
  };
  add(document, '', 2);
  return [...parts, { name: '}', text: ['}'] }];
}

/** A part for every member, which begins at the indentation. */
function splitMembers(text: string, path: string, indent: number): readonly DocumentPart[] {
  return text.split(new RegExp(`\\n(?= {${indent}}")`)).map((member) => {
    const name: string = JSON.parse(/"(?:[^"\\]|\\.)*"/.exec(member)?.[0] ?? '""');
    return { name: `${path}/${name}`, text: [member] };
  });
}
