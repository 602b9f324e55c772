/** Types of generated code, laid out as the formatter would. */
import { lineWidth, widthOf } from './text.ts';

/** A type to print; a string is a type on one line. */
export type Type =
  | string
  | { readonly kind: 'union'; readonly of: readonly Type[] }
  /** `readonly (…)[]` */
  | { readonly kind: 'list'; readonly of: Type }
  /** `(…)[]` */
  | { readonly kind: 'array'; readonly of: Type }
  | { readonly kind: 'generic'; readonly name: string; readonly of: readonly Type[] }
  | { readonly kind: 'object'; readonly of: readonly TypeMember[] };

/** A member of a type that is an object; its name as it is printed. */
export interface TypeMember {
  readonly name: string;
  readonly optional: boolean;
  readonly type: Type;
}

/** The union of types, without a part that is there already. */
export function union(...parts: readonly Type[]): Type {
  if (parts.every((part) => typeof part === 'string')) return ofDistinct([...new Set(parts)]);
  const flatParts = parts.flatMap((part) => (typeof part === 'object' && part.kind === 'union' ? part.of : [part]));
  const seen = flatParts.map(flat);
  return ofDistinct(flatParts.filter((_, index) => seen.indexOf(seen[index] ?? '') === index));
}

function ofDistinct(of: readonly Type[]): Type {
  const [only] = of;
  return of.length === 1 && only !== undefined ? only : { kind: 'union', of };
}

/** An array that nobody may change. */
export function list(of: Type): Type {
  return { kind: 'list', of };
}

/** A type with arguments. */
export function generic(name: string, ...of: readonly Type[]): Type {
  return { kind: 'generic', name, of };
}

/** An array that whoever has it may change. */
export function array(of: Type): Type {
  return { kind: 'array', of };
}

/** A type, or null. */
export function nullable(type: Type): Type {
  return union(type, 'null');
}

/**
 * Prints what follows the name of a property or alias, from its separator on: `: string`, ` =\n  | 'a'\n  | 'b'`.
 *
 * @param before the text before it on its line, indentation included
 * @param separator `:` or ` =`
 */
export function printTyped(before: string, separator: string, type: Type, indent: number): string {
  const line = `${separator} ${flat(type)}`;
  if (widthOf(before) + widthOf(line) + 1 <= lineWidth || isNameOrNull(type)) return line;
  if (typeof type === 'object' && type.kind === 'union') return `${separator}${unionLines(type.of, indent + 2)}`;
  const isMoved = typeof type === 'string' && separator === ' =';
  return isMoved ? `${separator}\n${' '.repeat(indent + 2)}${type}` : `${separator} ${broken(type, indent)}`;
}

/** The formatter keeps a name together with its null, however long. */
function isNameOrNull(type: Type): boolean {
  if (!isUnion(type) || type.of.length !== 2 || type.of[1] !== 'null') return false;
  const [name] = type.of;
  return typeof name === 'string' && !/^['"]/.test(name) && !keywords.has(name);
}

const keywords: ReadonlySet<string> = new Set(['boolean', 'never', 'number', 'string']);

/** On one line. */
export function flat(type: Type): string {
  if (typeof type === 'string') return type;
  if (type.kind === 'union') return type.of.map(flat).join(' | ');
  if (type.kind === 'generic') return `${type.name}<${type.of.map(flat).join(', ')}>`;
  if (type.kind === 'object') {
    return `{ ${type.of.map((one) => `${startOf(one)}: ${flat(one.type)}`).join('; ')} }`;
  }
  const isGrouped = isUnion(type.of) || (typeof type.of === 'object' && type.of.kind === 'list');
  return `${type.kind === 'list' ? 'readonly ' : ''}${isGrouped ? `(${flat(type.of)})` : flat(type.of)}[]`;
}

function startOf({ name, optional }: TypeMember): string {
  return `${name}${optional ? '?' : ''}`;
}

/** Every name and literal that a type mentions. */
export function leaves(type: Type): readonly string[] {
  const found: string[] = [];
  addLeaves(type, found);
  return found;
}

function addLeaves(type: Type, found: string[]): void {
  if (typeof type === 'string') {
    found.push(type);
    return;
  }
  if (type.kind === 'generic') found.push(type.name);
  if (type.kind === 'list' || type.kind === 'array') addLeaves(type.of, found);
  else if (type.kind === 'object') for (const one of type.of) addLeaves(one.type, found);
  else for (const part of type.of) addLeaves(part, found);
}

function isUnion(type: Type): type is { readonly kind: 'union'; readonly of: readonly Type[] } {
  return typeof type === 'object' && type.kind === 'union';
}

function broken(type: Type, indent: number): string {
  if (typeof type === 'string') return type;
  if (type.kind === 'union') return `${unionLines(type.of, indent + 2)}\n${' '.repeat(indent)}`;
  if (type.kind === 'list' || type.kind === 'array') {
    const start = type.kind === 'list' ? 'readonly ' : '';
    return isUnion(type.of)
      ? `${start}(${broken(type.of, indent)})[]`
      : `${start}${fitted(type.of, indent + start.length, indent)}[]`;
  }
  if (type.kind === 'object') {
    const space = ' '.repeat(indent + 2);
    const lines = type.of.map((one) => {
      const start = `${space}${startOf(one)}`;
      return `${start}${printTyped(start, ':', one.type, indent + 2)};\n`;
    });
    return `{\n${lines.join('')}${' '.repeat(indent)}}`;
  }
  const lines = type.of.map((part) => argumentLine(part, indent + 2));
  return `${type.name}<\n${lines.join(',\n')}\n${' '.repeat(indent)}>`;
}

function argumentLine(type: Type, indent: number): string {
  const isBroken = isUnion(type) && indent + widthOf(flat(type)) + 1 > lineWidth;
  return isBroken ? unionLines(type.of, indent).slice(1) : `${' '.repeat(indent)}${fitted(type, indent, indent)}`;
}

function fitted(type: Type, before: number, indent: number): string {
  return before + widthOf(flat(type)) + 1 <= lineWidth ? flat(type) : broken(type, indent);
}

function unionLines(parts: readonly Type[], indent: number): string {
  return parts.map((part) => `\n${' '.repeat(indent)}| ${fitted(part, indent + 2, indent + 2)}`).join('');
}
