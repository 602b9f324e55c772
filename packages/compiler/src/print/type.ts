/** Types of generated code, laid out as the formatter would. */
import { fitsLine, lineWidth, widthOf } from './text.ts';

/** A type to print; a string is a type on one line. */
export type Type = string | Composed;

/** A member of a type that is an object; its name as it is printed. */
export interface TypeMember {
  readonly name: string;
  readonly optional: boolean;
  readonly type: Type;
}

/** A type of several: `readonly (…)[]` is a `list`, `(…)[]` an `array`, `name<…>` is `generic`. */
class Composed {
  readonly kind: 'union' | 'list' | 'array' | 'generic' | 'object';
  readonly of: readonly Type[];
  /** On one line, which is asked for more than once. */
  readonly text: string;
  /** Names that stand in front of each: members, or one name of a generic type. */
  readonly names: readonly string[];

  constructor(kind: Composed['kind'], parts: readonly Type[], text: string, names: readonly string[] = noNames) {
    this.kind = kind;
    this.of = parts;
    this.text = text;
    this.names = names;
  }
}

const noNames: readonly string[] = [];

/** The union of types, without a part that is there already. */
export function union(...parts: readonly Type[]): Type {
  return unionOf(isDistinct(parts) ? parts : distinctParts(parts));
}

/** True if there is nothing to leave out or to take apart, as nearly always. */
function isDistinct(parts: readonly Type[]): boolean {
  for (let index = 0; index < parts.length; index += 1) {
    const part = parts[index] ?? '';
    if (isUnion(part) || isAmong(part, parts, index)) return false;
  }
  return true;
}

/** True if one of the first `count` parts says the same. */
function isAmong(part: Type, parts: readonly Type[], count: number): boolean {
  const text = flat(part);
  for (let index = 0; index < count; index += 1) if (flat(parts[index] ?? '') === text) return true;
  return false;
}

function distinctParts(parts: readonly Type[]): readonly Type[] {
  const distinct: Type[] = [];
  for (const part of parts) {
    for (const member of isUnion(part) ? part.of : [part])
      if (!isAmong(member, distinct, distinct.length)) distinct.push(member);
  }
  return distinct;
}

/** The union of texts, as string literals or other names, no two of which are the same; `never` where there is none. */
export function unionOfTexts(texts: readonly string[]): Type {
  return texts.length === 0 ? 'never' : unionOf(texts);
}

function unionOf(parts: readonly Type[]): Type {
  const first = parts[0];
  return parts.length === 1 && first !== undefined ? first : new Composed('union', parts, flatAll(parts, ' | '));
}

export function list(element: Type): Type {
  return new Composed('list', [element], `readonly ${elementText(element)}[]`);
}

export function array(element: Type): Type {
  return new Composed('array', [element], `${elementText(element)}[]`);
}

function elementText(element: Type): string {
  const isGrouped = typeof element !== 'string' && (element.kind === 'union' || element.kind === 'list');
  return isGrouped ? `(${element.text})` : flat(element);
}

export function generic(name: string, ...parameters: readonly Type[]): Type {
  return new Composed('generic', parameters, `${name}<${flatAll(parameters, ', ')}>`, [name]);
}

/** An object of members, of which there is one at least. */
export function object(members: readonly TypeMember[]): Type {
  const names = members.map(({ name, optional }) => `${name}${optional ? '?' : ''}`);
  const texts = members.map(({ type }, index) => `${names[index]}: ${flat(type)}`);
  return new Composed(
    'object',
    members.map(({ type }) => type),
    `{ ${texts.join('; ')} }`,
    names,
  );
}

export function nullable(type: Type): Type {
  if (!isUnion(type)) return union(type, 'null');
  return isAmong('null', type.of, type.of.length)
    ? type
    : new Composed('union', [...type.of, 'null'], `${type.text} | null`);
}

function flatAll(types: readonly Type[], separator: string): string {
  let text = flat(types[0] ?? '');
  for (let index = 1; index < types.length; index += 1) text += `${separator}${flat(types[index] ?? '')}`;
  return text;
}

/**
 * Prints what follows the name of a property or alias, from its separator on: `: string`, ` =\n  | 'a'\n  | 'b'`.
 *
 * @param before the text before it on its line, without indentation
 * @param separator `:` or ` =`
 */
export function printTyped(before: string, separator: string, type: Type, indent: number): string {
  const text = flat(type);
  if (fitsLine(indent + separator.length + 2, text, before) || isNameOrNull(type)) return `${separator} ${text}`;
  if (isUnion(type)) return `${separator}${unionLines(type.of, indent + 2)}`;
  const isMoved = typeof type === 'string' && separator === ' =';
  return isMoved ? `${separator}\n${' '.repeat(indent + 2)}${type}` : `${separator} ${broken(type, indent)}`;
}

/** The formatter keeps a name together with its null, however long. */
function isNameOrNull(type: Type): boolean {
  if (!isUnion(type) || type.of.length !== 2 || type.of[1] !== 'null') return false;
  const name = type.of[0];
  return typeof name === 'string' && !isLiteral(name) && !keywords.has(name);
}

const keywords: ReadonlySet<string> = new Set(['boolean', 'never', 'number', 'string']);

export function flat(type: Type): string {
  return typeof type === 'string' ? type : type.text;
}

export function addNames(type: Type, found: Set<string>): void {
  if (typeof type === 'string') {
    if (isName(type)) found.add(type);
    return;
  }
  const name = type.names[0];
  if (type.kind === 'generic' && name !== undefined) found.add(name);
  for (let index = 0; index < type.of.length; index += 1) addNames(type.of[index] ?? '', found);
}

function isLiteral(text: string): boolean {
  const first = text.charCodeAt(0);
  return first === 0x27 || first === 0x22;
}

/**
 * Literals begin with a quote, a digit or a sign. Keywords of the language such as `number` and `readonly []` begin
 * with a small letter: names that we give never do. `Facts['sort']` and `Partial<Create>` are made of types of the file itself.
 */
function isName(text: string): boolean {
  const first = text.charCodeAt(0);
  const isWord = first >= 0x61 && first <= 0x7a;
  return !isWord && first !== 0x2d && (first < 0x30 || first > 0x39) && !isLiteral(text) && !/[\]>]$/.test(text);
}

function isUnion(type: Type): type is Composed {
  return typeof type !== 'string' && type.kind === 'union';
}

function broken(type: Type, indent: number): string {
  if (typeof type === 'string') return type;
  const { kind, of: parts, names } = type;
  const first = parts[0] ?? '';
  switch (kind) {
    case 'union':
      return `${unionLines(parts, indent + 2)}\n${' '.repeat(indent)}`;
    case 'list':
      return `readonly ${brokenElement(first, indent + 'readonly '.length, indent)}[]`;
    case 'array':
      return `${brokenElement(first, indent, indent)}[]`;
    case 'object':
      return `{\n${parts.map((part, index) => memberLine(names[index] ?? '', part, indent + 2)).join('')}${' '.repeat(indent)}}`;
    case 'generic':
      return `${names[0]}<\n${parts.map((part) => argumentLine(part, indent + 2)).join(',\n')}\n${' '.repeat(indent)}>`;
  }
}

function brokenElement(element: Type, before: number, indent: number): string {
  return isUnion(element) ? `(${broken(element, indent)})` : fitted(element, before, indent);
}

function memberLine(name: string, type: Type, indent: number): string {
  return `${' '.repeat(indent)}${name}${printTyped(name, ':', type, indent)};\n`;
}

function argumentLine(type: Type, indent: number): string {
  const isBroken = isUnion(type) && indent + widthOf(type.text) + 1 > lineWidth;
  return isBroken ? unionLines(type.of, indent).slice(1) : `${' '.repeat(indent)}${fitted(type, indent, indent)}`;
}

function fitted(type: Type, before: number, indent: number): string {
  return fitsLine(before + 1, flat(type)) ? flat(type) : broken(type, indent);
}

function unionLines(parts: readonly Type[], indent: number): string {
  const start = `\n${' '.repeat(indent)}| `;
  let text = '';
  for (let index = 0; index < parts.length; index += 1)
    text += start + fitted(parts[index] ?? '', indent + 2, indent + 2);
  return text;
}
