/** Parses the part of SQL in which checks list values. Anything else is `other` or nothing: the IR keeps the text. */

/** A part of a check. `array` stands for `ANY (ARRAY[…])`; the name of a column is null for a domain's VALUE. */
export type CheckNode =
  | { readonly kind: 'or' | 'and'; readonly of: readonly CheckNode[] }
  | { readonly kind: 'isNull'; readonly of: CheckNode }
  | { readonly kind: 'equals'; readonly left: CheckNode; readonly right: CheckNode }
  | { readonly kind: 'array'; readonly items: readonly CheckNode[] }
  | { readonly kind: 'cast'; readonly of: CheckNode; readonly type: string }
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'column'; readonly name: string | null }
  | { readonly kind: 'other' };

interface Token {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'sign';
  readonly text: string;
}

/** Remaining tokens; the only state of a parse. */
interface Tokens {
  readonly all: readonly Token[];
  next: number;
  /** Brackets that are open. */
  depth: number;
}

/** Brackets within each other that a list of values may have; bounds the stack. */
const maxDepth = 64;

/** Signals that the expression leaves the grammar. Never leaves this file. */
class Outside extends Error {}

/** Parses a whole expression; null when it is outside of the grammar. */
export function parseCheck(expression: string): CheckNode | null {
  try {
    const tokens: Tokens = { all: tokenize(expression), next: 0, depth: 0 };
    const node = parseOr(tokens);
    return tokens.next === tokens.all.length ? node : null;
  } catch (error) {
    if (error instanceof Outside) return null;
    throw error;
  }
}

// A backslash in a string stands for itself: the statement that prints the checks sets standard_conforming_strings.
const tokenPattern =
  /\s+|(?<string>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*")|(?<number>-?\d+(?:\.\d+)?)|(?<word>[A-Za-z_][\w$]*)|(?<sign>::|<>|<=|>=|[()[\],.=<>])/uy;

function tokenize(expression: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < expression.length) {
    const groups = tokenPattern.exec(expression)?.groups;
    if (!groups) throw new Outside();
    const token = tokenOf(groups);
    if (token) tokens.push(token);
  }
  return tokens;
}

function tokenOf(groups: Readonly<Record<string, string | undefined>>): Token | null {
  const { string, quoted, number, word, sign } = groups;
  if (string !== undefined) return { kind: 'string', text: string.slice(1, -1).replaceAll("''", "'") };
  if (quoted !== undefined) return { kind: 'quoted', text: quoted.slice(1, -1).replaceAll('""', '"') };
  if (number !== undefined) return { kind: 'number', text: number };
  if (word !== undefined) return { kind: 'word', text: word };
  if (sign !== undefined) return { kind: 'sign', text: sign };
  return null;
}

function parseOr(tokens: Tokens): CheckNode {
  return parseSeries(tokens, 'or', (inner) => parseSeries(inner, 'and', parseComparison));
}

function parseSeries(tokens: Tokens, kind: 'or' | 'and', parsePart: (tokens: Tokens) => CheckNode): CheckNode {
  const parts = [parsePart(tokens)];
  while (takeWord(tokens, kind.toUpperCase())) parts.push(parsePart(tokens));
  const [only] = parts;
  return parts.length === 1 && only ? only : { kind, of: parts };
}

function parseComparison(tokens: Tokens): CheckNode {
  const left = parseOperand(tokens);
  if (takeWord(tokens, 'IS')) {
    const negated = takeWord(tokens, 'NOT');
    if (!takeWord(tokens, 'NULL')) throw new Outside();
    return negated ? { kind: 'other' } : { kind: 'isNull', of: left };
  }
  if (takeSign(tokens, '=')) {
    return { kind: 'equals', left, right: takeWord(tokens, 'ANY') ? parseAny(tokens) : parseOperand(tokens) };
  }
  if (['<>', '<=', '>=', '<', '>'].some((sign) => takeSign(tokens, sign))) {
    parseOperand(tokens);
    return { kind: 'other' };
  }
  return left;
}

/** `ANY (ARRAY[…])`, the array maybe cast as a whole, or `ANY ('{…}'::text[])`. */
function parseAny(tokens: Tokens): CheckNode {
  let array = parseOperand(tokens);
  while (array.kind === 'cast') {
    if (!array.type.endsWith('[]')) throw new Outside();
    array = array.of;
  }
  if (array.kind === 'literal') return { kind: 'array', items: literalItems(array.value) };
  if (array.kind !== 'array') throw new Outside();
  return array;
}

/** Items of a one-dimensional array literal that needs no quotes inside: `{draft,published}`. */
function literalItems(literal: string): CheckNode[] {
  const body = /^\{([^{}"\\]+)\}$/.exec(literal)?.[1];
  if (body === undefined) throw new Outside();
  return body.split(',').map((item) => {
    const value = item.trim();
    if (value === '' || value.toUpperCase() === 'NULL') throw new Outside();
    return { kind: 'literal', value };
  });
}

function parseOperand(tokens: Tokens): CheckNode {
  let node = parsePrimary(tokens);
  while (takeSign(tokens, '::')) node = { kind: 'cast', of: node, type: parseType(tokens) };
  return node;
}

function parsePrimary(tokens: Tokens): CheckNode {
  if (takeSign(tokens, '(')) {
    if (tokens.depth === maxDepth) throw new Outside();
    tokens.depth += 1;
    const inner = parseOr(tokens);
    expectSign(tokens, ')');
    tokens.depth -= 1;
    return inner;
  }
  const token = consume(tokens);
  switch (token.kind) {
    case 'string':
    case 'number':
      return { kind: 'literal', value: token.text };
    case 'quoted':
      return { kind: 'column', name: token.text };
    case 'word':
      return parseWord(tokens, token.text);
    default:
      throw new Outside();
  }
}

function parseWord(tokens: Tokens, word: string): CheckNode {
  if (word === 'ARRAY') return parseArray(tokens);
  if (word === 'VALUE') return { kind: 'column', name: null };
  // A function call, or a constant such as NULL and true: columns of these names are printed in quotes.
  if (peekSign(tokens, '(') || /^(NULL|NOT|CASE|true|false|[A-Z][A-Z_]*)$/.test(word)) throw new Outside();
  return { kind: 'column', name: word };
}

function parseArray(tokens: Tokens): CheckNode {
  if (tokens.depth === maxDepth) throw new Outside();
  tokens.depth += 1;
  expectSign(tokens, '[');
  const items = [parseOperand(tokens)];
  while (takeSign(tokens, ',')) items.push(parseOperand(tokens));
  expectSign(tokens, ']');
  tokens.depth -= 1;
  return { kind: 'array', items };
}

/** A type name as `format_type` prints it, with modifier and brackets: `character varying(3)[]`. */
function parseType(tokens: Tokens): string {
  const terms = [typeWord(tokens)];
  while (takeSign(tokens, '.')) terms.push('.', typeWord(tokens));
  while (isTypeTail(tokens.all[tokens.next])) terms.push(' ', typeWord(tokens));
  if (takeSign(tokens, '(')) {
    while (!takeSign(tokens, ')')) consume(tokens);
    terms.push('(…)');
  }
  while (takeSign(tokens, '[')) {
    expectSign(tokens, ']');
    terms.push('[]');
  }
  return terms.join('');
}

function isTypeTail(token: Token | undefined): boolean {
  return token?.kind === 'word' && ['varying', 'precision', 'with', 'without', 'time', 'zone'].includes(token.text);
}

function typeWord(tokens: Tokens): string {
  const token = consume(tokens);
  if (token.kind !== 'word' && token.kind !== 'quoted') throw new Outside();
  return token.kind === 'quoted' ? `"${token.text}"` : token.text;
}

function consume(tokens: Tokens): Token {
  const token = tokens.all[tokens.next];
  if (!token) throw new Outside();
  tokens.next += 1;
  return token;
}

function peekSign(tokens: Tokens, text: string): boolean {
  const token = tokens.all[tokens.next];
  return token?.kind === 'sign' && token.text === text;
}

function takeSign(tokens: Tokens, text: string): boolean {
  const found = peekSign(tokens, text);
  if (found) tokens.next += 1;
  return found;
}

function takeWord(tokens: Tokens, text: string): boolean {
  const token = tokens.all[tokens.next];
  const found = token?.kind === 'word' && token.text === text;
  if (found) tokens.next += 1;
  return found;
}

function expectSign(tokens: Tokens, text: string): void {
  if (!takeSign(tokens, text)) throw new Outside();
}
