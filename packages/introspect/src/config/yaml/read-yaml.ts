import { type Document, isMap, isScalar, type Pair } from 'yaml';
import type { Diagnostic } from '../../diagnostic.ts';
import { offsetOf, parseYaml, readNode, startReading, syntaxError, tooDeep } from './parse-yaml.ts';
import type { SourceNode } from './source.ts';

/** Parsed text. The root is null for an empty text and after a syntax error. */
interface YamlText {
  readonly root: SourceNode | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads a YAML text into plain values with their places.
 *
 * Keys must be texts and distinct; aliases are followed within bounds; merge keys and tags are not part of the form. Blocks
 * that repeat earlier ones are parsed once.
 */
export function readYaml(text: string, fileName: string): YamlText {
  const shortened = withoutRepeats(text);
  return (shortened === null ? null : readShortened(shortened, fileName)) ?? readWhole(text, fileName);
}

/** Reads a text as it stands; `readYaml` says the same sooner. */
export function readWhole(text: string, fileName: string): YamlText {
  const { document, positionAt } = parseYaml(text);
  if (document === null) return { root: null, diagnostics: [tooDeep(`${fileName}:1:1`)] };
  const placeOf = (offset: number): string => {
    const { line, column } = positionAt(offset);
    return `${fileName}:${line}:${column}`;
  };
  const faults = [...document.errors, ...document.warnings];
  const deepest = faults.find(isStackEnd);
  if (deepest !== undefined) return { root: null, diagnostics: [tooDeep(placeOf(deepest.pos[0]))] };
  const problems = faults.map(({ code, message, pos }) => syntaxError(placeOf(pos[0]), message, code));
  if (problems.length > 0 || document.contents === null) return { root: null, diagnostics: problems };
  const reading = startReading(fileName, { document, positionAt });
  const root = readNode(document.contents, reading);
  return { root, diagnostics: reading.diagnostics };
}

/** The parser reports the end of its stack like a mistake in the text. */
function isStackEnd({ message }: { readonly message: string }): boolean {
  return message.startsWith('Maximum call stack size exceeded');
}

/** Null where reading the whole text might differ: there is a problem, or an alias of an anchor left out. */
function readShortened({ text, lines, repeats }: Shortened, fileName: string): YamlText | null {
  const { document, ...parsed } = parseYaml(text);
  if (document === null || document.errors.length > 0 || document.warnings.length > 0) return null;
  const repeated = pairRepeats(document, repeats);
  if (repeated === null) return null;
  const positionAt = (offset: number) => {
    const { line, column } = parsed.positionAt(offset);
    return { line: lines[line - 1] ?? line, column };
  };
  const reading = startReading(fileName, { document, positionAt }, repeated);
  const root = readNode(document.contents, reading);
  return reading.diagnostics.length > 0 || reading.aliases > 0 ? null : { root, diagnostics: [] };
}

/** Entries whose value was left out, with those that have it. Null where the parser found no such entries. */
function pairRepeats({ contents }: Document.Parsed, repeats: readonly Repeat[]): ReadonlyMap<Pair, Pair> | null {
  const inner = isMap(contents) ? contents.items.flatMap(({ value }) => (isMap(value) ? value.items : [])) : [];
  const byOffset = new Map(inner.map((pair) => [offsetOf(pair.key), pair]));
  const repeated = new Map<Pair, Pair>();
  for (const { key, first } of repeats) {
    const [later, earlier] = [byOffset.get(key), byOffset.get(first)];
    if (later === undefined || earlier === undefined || !isAbsent(later.value)) return null;
    repeated.set(later, earlier);
  }
  return repeated;
}

function isAbsent(value: unknown): boolean {
  return isScalar(value) && value.source === '';
}

/** A text without its repeated blocks. */
interface Shortened {
  readonly text: string;
  /** Line of the whole text that each of its lines is, from 1. */
  readonly lines: readonly number[];
  /** In the order of the text; never empty. */
  readonly repeats: readonly Repeat[];
}

/** A block that was left out, by offsets into the shortened text. */
interface Repeat {
  /** Offset at which its key begins. */
  readonly key: number;
  /** Offset at which the key of the first block that says the same begins. */
  readonly first: number;
}

/**
 * Null when nothing repeats, and for a text in which blocks may be something else than they look like.
 *
 * Finds blocks of a YAML text that repeat earlier ones word for word, so that they need not be parsed again. The rules
 * of many roles that may do the same are such blocks. The parser decides the meaning of a block; this module finds
 * where one begins and ends. Blocks stand below the keys of a mapping in the outermost mapping:
 *
 *     permissions:
 *       editor:
 *         articles: …
 *       author:
 *         articles: …
 *
 * Only a text of the plainest layout is cut: these keys stand on lines of their own, and every other line is further
 * in.
 */
function withoutRepeats(text: string): Shortened | null {
  const repeats: Repeat[] = [];
  const removed: Block[] = [];
  const firsts = new Map<string, number>();
  let [kept, shortened] = [0, ''];
  for (const block of findBlocks(text) ?? []) {
    const key = shortened.length + block.key - kept;
    const content = `${block.indent} ${text.slice(block.start, block.end)}`;
    const first = firsts.get(content);
    if (first === undefined) firsts.set(content, key);
    else {
      repeats.push({ key, first });
      removed.push(block);
      shortened += text.slice(kept, block.start);
      kept = block.end;
    }
  }
  if (repeats.length === 0) return null;
  return { text: shortened + text.slice(kept), lines: linesBeside(removed, text), repeats };
}

/** The numbers of the lines that stand in none of some blocks. */
function linesBeside(blocks: readonly Block[], text: string): readonly number[] {
  const lines: number[] = [];
  let [start, next] = [0, 0];
  for (let line = 1; line === 1 || start > 0; line += 1) {
    if (start >= (blocks[next]?.end ?? text.length + 1)) next += 1;
    if (start < (blocks[next]?.start ?? text.length + 1)) lines.push(line);
    start = text.indexOf('\n', start) + 1;
  }
  return lines;
}

/** Offsets of a key, which has so many spaces before it, and of the lines below it that belong to it. */
interface Block {
  readonly indent: number;
  readonly key: number;
  readonly start: number;
  end: number;
}

/** All blocks, in order. Null when the layout is another one. */
function findBlocks(text: string): readonly Block[] | null {
  const blocks: Block[] = [];
  let block: Block | null = null;
  /** Spaces before the keys of the mapping that a line stands in: null in none, 0 before its first key. */
  let margin: number | null = null;
  for (const { start, end, indent, content } of linesOf(text)) {
    if (/^[\r\n]*$/.test(content)) {
      // After a block they belong to it: a literal text may end with them.
      if (block?.end === start) block.end = end;
    } else if (margin !== null && margin > 0 && indent > margin) {
      if (block !== null) block.end = end;
    } else if (content[0] !== '#' && (indent === 0 || margin !== null)) {
      const key = keyIn(content);
      if (key === null || (indent > 0 && indent < (margin ?? 0))) return null;
      block = indent > 0 && key.isAlone ? { indent, key: start + indent, start: end, end } : null;
      if (block !== null) blocks.push(block);
      margin = indent > 0 ? indent : key.isAlone ? 0 : null;
    }
  }
  return blocks.filter(({ start, end }) => end > start);
}

/** Lines below the mark that a file may begin with; `content` is what stands after their spaces, line breaks included. */
function* linesOf(text: string) {
  const begin = /^---\r?\n/.exec(text)?.[0].length ?? 0;
  for (let start = begin, end = begin; start < text.length; start = end) {
    end = text.indexOf('\n', start) + 1 || text.length;
    let from = start;
    while (text[from] === ' ') from += 1;
    yield { start, end, indent: from - start, content: text.slice(from, end) };
  }
}

/** A key that is written plainly or in quotes, and what stands after its colon. */
const keyed = /^(?:[\p{L}\p{N}_$][\p{L}\p{N}_$@./ -]*|"[^"\\]*"|'[^']*'):(?: (.*))?\r?\n?$/u;

/** True if only a comment follows the key that a line begins with; null without a key. */
function keyIn(content: string): { readonly isAlone: boolean } | null {
  const match = keyed.exec(content);
  return match && { isAlone: /^ *(?:#.*)?$/.test(match[1] ?? '') };
}
