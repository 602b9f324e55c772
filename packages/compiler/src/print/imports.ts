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

function tokens(text: string): readonly string[] {
  return text.match(/\d+|\D/gu) ?? [];
}

function compareTokens(a: string, b: string): number {
  const [rankA, rankB] = [rank(a), rank(b)];
  if (rankA !== rankB) return rankA - rankB;
  if (rankA === 2) return Number(a) - Number(b);
  const [lowerA, lowerB] = [a.toLowerCase(), b.toLowerCase()];
  if (lowerA !== lowerB) return lowerA < lowerB ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function rank(token: string): number {
  if (token === '.') return 0;
  if (token === '_') return 1;
  return /^\d/.test(token) ? 2 : 3;
}
