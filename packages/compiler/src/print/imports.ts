import { lineWidth, widthOf } from './text.ts';

/** One import declaration: names and their module. */
interface Import {
  readonly from: string;
  /** Imported names, which begin with `type ` where only the type is meant, but not in a declaration of types only. */
  readonly names: readonly string[];
  /** Default: false. */
  readonly typesOnly?: boolean;
}

/** Types that generated files may import from a package. */
export interface LibraryTypes {
  readonly from: string;
  readonly types: ReadonlySet<string>;
}

const languageTypes: ReadonlySet<string> = new Set(['Date', 'Omit', 'Pick', 'Record']);

/** Imports of all types that a file names. Throws for one that nothing declares, which would be `any`. */
export function importTypes(
  names: ReadonlySet<string>,
  libraries: readonly LibraryTypes[],
  files: Pick<ReadonlyMap<string, string>, 'get'>,
): readonly Import[] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const from = libraries.find(({ types }) => types.has(name))?.from ?? files.get(name);
    if (from === undefined && languageTypes.has(name)) continue;
    if (from === undefined) throw new Error(`No generated file and no library declares the type ${name}.`);
    const group = groups.get(from);
    if (group === undefined) groups.set(from, [name]);
    else group.push(name);
  }
  return [...groups].map(([from, imported]) => ({ from, names: imported, typesOnly: true }));
}

/** Import declarations in the order that the linter wants: packages, then outer folders, then inner; names naturally. */
export function printImports(imports: readonly Import[]): string {
  const sorted = [...imports].sort((a, b) => distance(a.from) - distance(b.from) || naturalOrder(a.from, b.from));
  return sorted.map(printImport).join('\n');
}

/** Prints an import, which is one of types where every name is a type. */
function printImport({ from, names, typesOnly = false }: Import): string {
  if (!typesOnly && names.every(isType)) return printImport({ from, names: names.map(bareName), typesOnly: true });
  const keyword = typesOnly ? 'import type' : 'import';
  const sorted = names.toSorted(typesOnly ? naturalOrder : (a, b) => naturalOrder(bareName(a), bareName(b)));
  const line = `${keyword} { ${sorted.join(', ')} } from '${from}';`;
  if (widthOf(line) <= lineWidth || names.length === 1) return line;
  return `${keyword} {\n${sorted.map((name) => `  ${name},\n`).join('')}} from '${from}';`;
}

function isType(name: string): boolean {
  return name.startsWith('type ');
}

function bareName(name: string): string {
  return isType(name) ? name.slice('type '.length) : name;
}

function distance(from: string): number {
  if (!from.startsWith('.')) return 0;
  return from.startsWith('../') ? 1 : 2;
}

/** `.`, `_`, digits, letters; runs of digits by their number; letters regardless of case, then capitals first. */
export function naturalOrder(a: string, b: string): number {
  let index = startOfDifference(a, b);
  let other = index;
  while (index < a.length && other < b.length) {
    const end = endOfToken(a, index);
    const otherEnd = endOfToken(b, other);
    const order = compareTokens(a.slice(index, end), b.slice(other, otherEnd));
    if (order !== 0) return order;
    index = end;
    other = otherEnd;
  }
  return Number(index < a.length) - Number(other < b.length);
}

/** Position of the first tokens that may differ: names of neighbours have much in common. */
function startOfDifference(a: string, b: string): number {
  let index = 0;
  while (index < a.length && a.charCodeAt(index) === b.charCodeAt(index)) index += 1;
  while (index > 0 && !endsToken(a.charCodeAt(index - 1))) index -= 1;
  return index;
}

/** Digits run on, and half a character may stand in front of its other half. */
function endsToken(unit: number): boolean {
  return !isDigit(unit) && (unit < 0xd800 || unit > 0xdfff);
}

/** A token is a run of digits, or one character of another kind. */
function endOfToken(text: string, index: number): number {
  if (!isDigit(text.charCodeAt(index))) return index + ((text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1);
  let end = index + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

function isDigit(character: number): boolean {
  return character >= 48 && character <= 57;
}

function compareTokens(a: string, b: string): number {
  if (a === b) return 0;
  const kind = rank(a);
  const otherKind = rank(b);
  if (kind !== otherKind) return kind - otherKind;
  if (kind === 2) return Number(a) - Number(b);
  const small = a.toLowerCase();
  const otherSmall = b.toLowerCase();
  if (small !== otherSmall) return small < otherSmall ? -1 : 1;
  return a < b ? -1 : 1;
}

function rank(token: string): number {
  if (token === '.') return 0;
  if (token === '_') return 1;
  return isDigit(token.charCodeAt(0)) ? 2 : 3;
}
