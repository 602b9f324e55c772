import type { Alias, Document, Pair, Scalar, YAMLMap } from 'yaml';
import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Diagnostic } from '../diagnostic.ts';
import type { SourceEntry, SourceNode } from './source.ts';

/** Levels of nesting a file may have; bounds the stack. */
const maxDepth = 64;

/** Values a file may hold once its aliases are followed; bounds what a few bytes can grow to. */
const maxValues = 100_000;

/**
 * Reads a YAML text into plain values with their places. The root is null for an empty text and after a syntax error.
 *
 * Keys must be texts and distinct; aliases are followed within bounds; merge keys and tags are not part of the form.
 */
export function readYaml(
  text: string,
  fileName: string,
): { readonly root: SourceNode | null; readonly diagnostics: readonly Diagnostic[] } {
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${fileName}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const document = parseSafely(text, lines);
  if (document === null) return { root: null, diagnostics: [tooDeep(`${fileName}:1:1`)] };
  const problems = [...document.errors, ...document.warnings].map(({ code, message, pos }) =>
    syntaxError(placeAt(pos[0]), firstLine(message), code),
  );
  if (problems.length > 0 || document.contents === null) return { root: null, diagnostics: problems };
  const reading: Reading = { document, placeAt, diagnostics: [], values: 0 };
  const root = readNode(document.contents, reading, 0);
  return { root, diagnostics: reading.diagnostics };
}

interface Reading {
  readonly document: Document.Parsed;
  readonly placeAt: (offset: number) => string;
  readonly diagnostics: Diagnostic[];
  values: number;
}

/** Null when the text nests so deeply that the parser's stack ends. */
function parseSafely(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    return parseDocument(text, {
      lineCounter,
      version: '1.2',
      schema: 'core',
      intAsBigInt: true,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readNode(node: unknown, reading: Reading, depth: number): SourceNode | null {
  const place = reading.placeAt(offsetOf(node));
  reading.values += 1;
  if (depth > maxDepth) return refuse(reading, tooDeep(place));
  if (reading.values > maxValues) {
    return reading.values === maxValues + 1 ? refuse(reading, tooLarge(place)) : null;
  }
  if (isAlias(node)) return readAlias(node, reading, depth);
  if (isMap(node)) return { kind: 'map', place, entries: readEntries(node, reading, depth) };
  if (isSeq(node)) {
    const items = node.items.flatMap((item) => readNode(item, reading, depth + 1) ?? []);
    return { kind: 'list', place, items };
  }
  return { kind: 'scalar', place, value: isScalar(node) ? scalarValue(node) : null };
}

function readAlias(alias: Alias, reading: Reading, depth: number): SourceNode | null {
  const target = alias.resolve(reading.document);
  if (target === undefined)
    return refuse(reading, syntaxError(reading.placeAt(offsetOf(alias)), 'The alias names no anchor.'));
  return readNode(target, reading, depth + 1);
}

function readEntries(map: YAMLMap, reading: Reading, depth: number): readonly SourceEntry[] {
  return map.items.flatMap((pair) => {
    if (reading.values > maxValues) return [];
    const name = keyName(pair, reading);
    const value = name === null ? null : readNode(pair.value, reading, depth + 1);
    if (name === null || value === null) return [];
    const place = reading.placeAt(offsetOf(pair.key));
    // A key without a value has no node of its own to take the place from.
    return [{ key: { name, place }, value: pair.value === null ? { ...value, place } : value }];
  });
}

function keyName(pair: Pair, reading: Reading): string | null {
  if (isPair(pair) && isScalar(pair.key) && typeof pair.key.value === 'string') return pair.key.value;
  const place = reading.placeAt(offsetOf(pair.key));
  reading.diagnostics.push({
    code: 'yaml-key',
    severity: 'error',
    place,
    message: `The key ${isScalar(pair.key) ? `"${String(pair.key.source)}"` : 'at this place'} is not a text.`,
    hint: 'Write names that look like numbers, booleans or null in quotes.',
  });
  return null;
}

/** Numbers keep every digit: those that a JSON number would round are given as their text. */
function scalarValue(scalar: Scalar): string | number | boolean | null {
  const { value, source } = scalar;
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : value.toString();
  if (typeof value === 'number') return numberValue(value, source ?? String(value));
  return typeof value === 'string' || typeof value === 'boolean' ? value : null;
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

function numberValue(value: number, source: string): number | string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return /^[-+]?\./.test(source) ? (value > 0 ? 'Infinity' : '-Infinity') : source;
  const digits = source.replace(/e.*$/i, '').replaceAll(/[^\d]/g, '').replace(/^0+/, '');
  return digits.length > 15 ? source.replace(/^\+/, '') : value;
}

function offsetOf(node: unknown): number {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : null;
  return range?.[0] ?? 0;
}

function refuse(reading: Reading, diagnostic: Diagnostic): null {
  reading.diagnostics.push(diagnostic);
  return null;
}

function syntaxError(place: string, message: string, code?: string): Diagnostic {
  const hint = code === 'DUPLICATE_KEY' ? 'Join the two entries into one.' : null;
  return { code: 'yaml-syntax', severity: 'error', place, message, hint };
}

function tooDeep(place: string): Diagnostic {
  const message = `The values nest deeper than ${maxDepth} levels.`;
  return { code: 'yaml-depth', severity: 'error', place, message, hint: null };
}

function tooLarge(place: string): Diagnostic {
  const message = `The file holds more than ${maxValues} values once its aliases are followed.`;
  return { code: 'yaml-size', severity: 'error', place, message, hint: 'Use fewer anchors and aliases.' };
}

function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? message;
  return line.endsWith('.') ? line : `${line}.`;
}
