import { type Document, isMap, isScalar, type Pair } from 'yaml';
import type { Diagnostic } from '../../diagnostic.ts';
import { offsetOf, parseYaml, syntaxError, tooDeep } from './parse-yaml.ts';
import { type Repeat, type Shortened, withoutRepeats } from './repeated-blocks.ts';
import type { SourceNode } from './source.ts';
import { readNode, startReading } from './yaml-node.ts';

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

/**
 * Null where reading the whole text might give another result. That is so where there is a problem to report, and where
 * an alias might mean an anchor in a block that was left out.
 */
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
