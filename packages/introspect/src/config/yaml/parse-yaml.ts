import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Diagnostic } from '../../diagnostic.ts';

/** A text as the parser understands it. */
export interface ParsedYaml {
  /** Null when the text nests so deeply that the parser's stack ends. */
  readonly document: Document.Parsed | null;
  /** Where an offset into the text is, from 1. */
  readonly positionAt: (offset: number) => { readonly line: number; readonly column: number };
}

/** Parses a text, by YAML 1.2 and its core schema. Whole numbers keep their digits. */
export function parseYaml(text: string): ParsedYaml {
  const lineCounter = new LineCounter();
  const positionAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  return { document: parseSafely(text, lineCounter), positionAt };
}

function parseSafely(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    return parseDocument(text, {
      lineCounter,
      version: '1.2',
      schema: 'core',
      intAsBigInt: true,
      uniqueKeys: true,
      prettyErrors: false,
      // With less, a second document would be passed over.
      logLevel: 'error',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Where a node begins; 0 for what stands nowhere. */
export function offsetOf(node: unknown): number {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : null;
  return range?.[0] ?? 0;
}

/** The parser's messages for programmers, with plain words and a hint in their place. */
const problems: ReadonlyMap<string, { readonly message?: string; readonly hint: string }> = new Map([
  ['DUPLICATE_KEY', { hint: 'Join the two entries into one.' }],
  ['MULTIPLE_DOCS', { message: 'A second document begins here; a file is one.', hint: 'Join them, without "---".' }],
]);

/** Diagnostic of a parser's error, by its code and message. */
export function syntaxError(location: string, message: string, code?: string): Diagnostic {
  const problem = code === undefined ? undefined : problems.get(code);
  const { hint = null } = problem ?? {};
  return {
    code: 'yaml-syntax',
    severity: 'error',
    place: location,
    message: problem?.message ?? firstLine(message),
    hint,
  };
}

/** A key that is no text; `source` as it is written, where it is a single value. */
export function keyError(location: string, source: string | undefined): Diagnostic {
  const message = `The key ${source === undefined ? 'at this place' : `"${source}"`} is not a text.`;
  const hint = 'Write names that look like numbers, booleans or null in quotes.';
  return { code: 'yaml-key', severity: 'error', place: location, message, hint };
}

/** Levels of nesting a file may have; bounds the stack. */
export const maxDepth = 64;

/** Nesting beyond that. */
export function tooDeep(location: string): Diagnostic {
  const message = `The values nest deeper than ${maxDepth} levels.`;
  return { code: 'yaml-depth', severity: 'error', place: location, message, hint: null };
}

/** Values that the aliases of a file may stand for; bounds what a few bytes can grow to. */
export const maxFollowed = 100_000;

/** Aliases that stand for more. */
export function tooLarge(location: string): Diagnostic {
  const message = `The aliases of the file stand for more than ${maxFollowed} values.`;
  return { code: 'yaml-size', severity: 'error', place: location, message, hint: 'Use fewer anchors and aliases.' };
}

function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? message;
  return line.endsWith('.') ? line : `${line}.`;
}
