import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import type { Diagnostic } from '../../diagnostic.ts';
import { movedNode, type SourceEntry, type SourceNode, type SourceScalar } from './source.ts';

interface ParsedYaml {
  /** Null when the text nests so deeply that the parser's stack ends. */
  readonly document: Document.Parsed | null;
  /** Line and column of an offset into the text, from 1. */
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

/** Offset at which a node begins; 0 for what stands nowhere. */
export function offsetOf(node: unknown): number {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : null;
  return range?.[0] ?? 0;
}

/** The parser's messages for programmers, with plain words and a hint in their place. */
const problems: ReadonlyMap<string, { readonly message?: string; readonly hint: string }> = new Map([
  ['DUPLICATE_KEY', { hint: 'Join the two entries into one.' }],
  ['MULTIPLE_DOCS', { message: 'A second document begins here; a file is one.', hint: 'Join them, without "---".' }],
]);

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
function keyError(location: string, source: string | undefined): Diagnostic {
  const message = `The key ${source === undefined ? 'at this place' : `"${source}"`} is not a text.`;
  const hint = 'Write names that look like numbers, booleans or null in quotes.';
  return { code: 'yaml-key', severity: 'error', place: location, message, hint };
}

/** Levels of nesting a file may have; bounds the stack. */
const maxDepth = 64;

export function tooDeep(location: string): Diagnostic {
  const message = `The values nest deeper than ${maxDepth} levels.`;
  return { code: 'yaml-depth', severity: 'error', place: location, message, hint: null };
}

/** Values that the aliases of a file may stand for; bounds what a few bytes can grow to. */
const maxFollowed = 100_000;

function tooLarge(location: string): Diagnostic {
  const message = `The aliases of the file stand for more than ${maxFollowed} values.`;
  return { code: 'yaml-size', severity: 'error', place: location, message, hint: 'Use fewer anchors and aliases.' };
}

function firstLine(message: string): string {
  const line = message.split('\n')[0] ?? message;
  return line.endsWith('.') ? line : `${line}.`;
}

/** Context and findings of reading a document. */
interface YamlReading extends ParsedYaml {
  readonly fileName: string;
  readonly document: Document.Parsed;
  /** Entries without their value, and those that have it: they are read before. */
  readonly repeated: ReadonlyMap<Pair, Pair>;
  readonly entries: Map<Pair, SourceEntry>;
  readonly diagnostics: Diagnostic[];
  /** Nodes that the aliases stand for, looked for at the first alias: each by itself takes a look at the whole file. */
  targets: ReadonlyMap<Node, Node> | null;
  /** Aliases that lead to what is being read, all aliases, and the values that were found behind them. */
  following: number;
  aliases: number;
  followed: number;
}

/** Starts to read a document in which nothing is left out, or what `repeated` says. */
export function startReading(
  fileName: string,
  document: Pick<YamlReading, 'document' | 'positionAt'>,
  repeated: ReadonlyMap<Pair, Pair> = new Map(),
): YamlReading {
  return {
    fileName,
    ...document,
    repeated,
    entries: new Map(),
    diagnostics: [],
    targets: null,
    following: 0,
    aliases: 0,
    followed: 0,
  };
}

/** Reads a node. A wrong node is reported and left out. */
export function readNode(node: unknown, reading: YamlReading, depth = 0): SourceNode | null {
  const location = placeOf(node, reading);
  if (depth > maxDepth) return refuse(reading, tooDeep(location));
  if (reading.following > 0) {
    reading.followed += 1;
    if (reading.followed > maxFollowed) {
      return reading.followed === maxFollowed + 1 ? refuse(reading, tooLarge(location)) : null;
    }
  }
  if (isAlias(node)) return readAlias(node, reading, depth);
  if (isMap(node)) return { kind: 'map', place: location, entries: readEntries(node, reading, depth) };
  if (isSeq(node)) {
    const items = node.items.flatMap((item) => readNode(item, reading, depth + 1) ?? []);
    return { kind: 'list', place: location, items };
  }
  return { kind: 'scalar', place: location, ...(isScalar(node) ? scalarValue(node) : nothing) };
}

function placeOf(node: unknown, { fileName, positionAt }: YamlReading): string {
  const { line, column } = positionAt(offsetOf(node));
  return `${fileName}:${line}:${column}`;
}

function readAlias(alias: Alias, reading: YamlReading, depth: number): SourceNode | null {
  reading.aliases += 1;
  reading.targets ??= findTargets(reading.document);
  const target = reading.targets.get(alias);
  if (target === undefined) return refuse(reading, syntaxError(placeOf(alias, reading), 'The alias names no anchor.'));
  reading.following += 1;
  const value = readNode(target, reading, depth + 1);
  reading.following -= 1;
  return value;
}

/** The last node with the anchor of each alias before it. */
function findTargets(document: Document.Parsed): ReadonlyMap<Node, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  visit(document, {
    Node(_, node) {
      const target = isAlias(node) ? anchors.get(node.source) : undefined;
      if (target !== undefined) targets.set(node, target);
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function readEntries(map: YAMLMap, reading: YamlReading, depth: number): readonly SourceEntry[] {
  return map.items.flatMap((pair) => {
    if (reading.followed > maxFollowed) return [];
    const entry = readEntry(pair, reading, depth);
    if (entry === null) return [];
    reading.entries.set(pair, entry);
    return [entry];
  });
}

function readEntry(pair: Pair, reading: YamlReading, depth: number): SourceEntry | null {
  const name = keyName(pair, reading);
  if (name === null) return null;
  const location = placeOf(pair.key, reading);
  const first = reading.repeated.get(pair);
  if (first !== undefined) return repeatedEntry({ name, place: location }, pair, first, reading);
  const value = readNode(pair.value, reading, depth + 1);
  if (value === null) return null;
  // A key without a value has no node of its own to take the place from.
  return { key: { name, place: location }, value: pair.value === null ? { ...value, place: location } : value };
}

/** The value is that of the first entry, with its own places. */
function repeatedEntry(
  key: SourceEntry['key'],
  pair: Pair,
  pairBefore: Pair,
  { positionAt, entries }: YamlReading,
): SourceEntry | null {
  const first = entries.get(pairBefore);
  if (first === undefined) return null;
  const lines = positionAt(offsetOf(pair.key)).line - positionAt(offsetOf(pairBefore.key)).line;
  return {
    key,
    get value() {
      return movedNode(first.value, lines);
    },
    repeats: { first, lines },
  };
}

function keyName({ key }: Pair, reading: YamlReading): string | null {
  if (isScalar(key) && typeof key.value === 'string') return key.value;
  return refuse(reading, keyError(placeOf(key, reading), isScalar(key) ? String(key.source) : undefined));
}

function refuse(reading: YamlReading, diagnostic: Diagnostic): null {
  reading.diagnostics.push(diagnostic);
  return null;
}

const nothing = { value: null, empty: true } as const;

/** Value of a scalar. Numbers that JSON would round, or that begin with zeros as codes do, are texts. */
function scalarValue({ value, source }: Scalar): Pick<SourceScalar, 'value' | 'digits' | 'empty'> {
  if (value === null && source === '') return nothing;
  if (typeof value !== 'string' && source !== undefined && /^0\d+$/.test(source)) return { value: source };
  if (typeof value === 'bigint') return isSafe(value) ? { value: Number(value) } : written(value.toString());
  if (typeof value === 'number') return numberValue(value, source ?? String(value));
  return { value: typeof value === 'string' || typeof value === 'boolean' ? value : null };
}

function written(digits: string): Pick<SourceScalar, 'value' | 'digits'> {
  return { value: digits, digits: true };
}

function isSafe(value: bigint): boolean {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
}

function numberValue(value: number, source: string): Pick<SourceScalar, 'value' | 'digits'> {
  if (Number.isNaN(value)) return { value: 'NaN' };
  if (!Number.isFinite(value) && /^[-+]?\.i/i.test(source)) return { value: value > 0 ? 'Infinity' : '-Infinity' };
  const digits = source.replace(/e.*$/i, '').replaceAll(/[^\d]/g, '').replace(/^0+/, '');
  return digits.length > 15 || !Number.isFinite(value) ? written(asJson(source)) : { value };
}

/** A number as JSON writes it: YAML takes a plus, zeros before it, and a point at either end. */
function asJson(source: string): string {
  return source
    .replace(/^\+/, '')
    .replace(/^(-?)0+(?=\d)/, '$1')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?!\d)/, '');
}
