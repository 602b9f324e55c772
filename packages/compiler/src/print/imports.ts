import { lineWidth, widthOf } from './text.ts';

/** One import declaration: what is imported from where. Names begin with `type ` where only the type is meant. */
export interface Import {
  readonly from: string;
  readonly names: readonly string[];
}

/** Import declarations in the order that the linter wants: packages, then outer folders, then inner; names naturally. */
export function printImports(imports: readonly Import[]): string {
  const sorted = [...imports].sort((a, b) => distance(a.from) - distance(b.from) || naturalOrder(a.from, b.from));
  return sorted.map(printImport).join('\n');
}

/** When every name is a type, the whole declaration is one. */
function printImport({ from, names }: Import): string {
  const typesOnly = names.every((name) => name.startsWith('type '));
  const keyword = typesOnly ? 'import type' : 'import';
  const bare = (name: string): string => name.replace(/^type /, '');
  const sorted = [...names]
    .sort((a, b) => naturalOrder(bare(a), bare(b)))
    .map((name) => (typesOnly ? bare(name) : name));
  const line = `${keyword} { ${sorted.join(', ')} } from '${from}';`;
  if (widthOf(line) <= lineWidth || names.length === 1) return line;
  return `${keyword} {\n${sorted.map((name) => `  ${name},\n`).join('')}} from '${from}';`;
}

function distance(from: string): number {
  if (!from.startsWith('.')) return 0;
  return from.startsWith('../') ? 1 : 2;
}

/** `.`, `_`, digits, letters; runs of digits by their number; letters regardless of case, then capitals first. */
export function naturalOrder(a: string, b: string): number {
  const [left, right] = [tokens(a), tokens(b)];
  for (const [index, token] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    const order = compareTokens(token, other);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

interface Token {
  readonly text: string;
  readonly rank: number;
  readonly lower: string;
}

/** Names are compared many times each, in many files. */
const known = new Map<string, readonly Token[]>();
const mostKnown = 50_000;

function tokens(text: string): readonly Token[] {
  const found = known.get(text);
  if (found !== undefined) return found;
  const made = (text.match(/\d+|\D/gu) ?? []).map((one) => ({ text: one, rank: rank(one), lower: one.toLowerCase() }));
  if (known.size >= mostKnown) known.clear();
  known.set(text, made);
  return made;
}

function compareTokens(a: Token, b: Token): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.rank === 2) return Number(a.text) - Number(b.text);
  if (a.lower !== b.lower) return a.lower < b.lower ? -1 : 1;
  if (a.text === b.text) return 0;
  return a.text < b.text ? -1 : 1;
}

function rank(token: string): number {
  if (token === '.') return 0;
  if (token === '_') return 1;
  return /^\d/.test(token) ? 2 : 3;
}
