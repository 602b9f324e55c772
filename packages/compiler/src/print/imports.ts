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
  let [left, right] = [0, 0];
  while (left < a.length && right < b.length) {
    const [one, other] = [tokenAt(a, left), tokenAt(b, right)];
    if (one !== other) {
      const order = compareTokens(one, other);
      if (order !== 0) return order;
    }
    left += one.length;
    right += other.length;
  }
  return Number(left < a.length) - Number(right < b.length);
}

/** A run of digits, or one character of another kind. */
function tokenAt(text: string, at: number): string {
  if (!isDigit(text.charCodeAt(at))) return String.fromCodePoint(text.codePointAt(at) ?? 0);
  let end = at + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return text.slice(at, end);
}

function isDigit(character: number): boolean {
  return character >= 48 && character <= 57;
}

function compareTokens(a: string, b: string): number {
  const [left, right] = [rank(a), rank(b)];
  if (left !== right) return left - right;
  if (left === 2) return Number(a) - Number(b);
  const [one, other] = [a.toLowerCase(), b.toLowerCase()];
  if (one !== other) return one < other ? -1 : 1;
  return a < b ? -1 : 1;
}

function rank(token: string): number {
  if (token === '.') return 0;
  if (token === '_') return 1;
  return isDigit(token.charCodeAt(0)) ? 2 : 3;
}
