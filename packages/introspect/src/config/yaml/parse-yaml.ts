import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';

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
