/** The one way into a GraphQL schema text: names as the contract spells them, other texts strings of one line. */
import { lineWidth, widthOf } from './text.ts';

/** A field of a type, an argument, or a field of an input. */
export interface SdlField {
  /** Already a GraphQL name. */
  readonly name: string;
  /** `[articles!]!` */
  readonly type: string;
  /** Default: none. */
  readonly note?: string | null;
  /** Reason why it should not be used any more; may be empty. Default: it may. */
  readonly deprecated?: string | null;
  /** Default: none. */
  readonly args?: readonly SdlField[];
}

/** Prints an object type or an input. Without fields it has one that says so, since GraphQL knows no empty types. */
export function sdlType(
  kind: 'type' | 'input',
  name: string,
  fields: readonly (SdlField | PrintedField)[],
  note: string | null = null,
): string {
  const body =
    fields.map((field) => (typeof field === 'string' ? field : sdlField(field))).join('') || sdlLine('_empty', 'Void');
  return `${described(note, '')}${kind} ${name} {\n${body}}\n`;
}

export function sdlUnion(name: string, members: readonly string[]): string {
  const line = `union ${name} = ${members.join(' | ')}`;
  if (line.length <= lineWidth) return `${line}\n`;
  return `union ${name} =\n${members.map((member) => `  | ${member}\n`).join('')}`;
}

export function sdlEnum(name: string, values: readonly string[]): string {
  return `enum ${name} {\n${values.map((value) => `  ${value}\n`).join('')}}\n`;
}

export function sdlScalar(name: string, note: string): string {
  return `${described(note, '')}scalar ${name}\n`;
}

/** A string literal. Characters that do not print, or that turn the direction of a text, are escaped. */
export function sdlString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (character) =>
    escaped(character),
  );
}

/** A field that is printed already, with its line end. */
export type PrintedField = string;

export function sdlField({ name, type, note = null, deprecated = null, args = [] }: SdlField): PrintedField {
  if (args.length === 0) return sdlLine(name, type, note, deprecated);
  // However long: the same few arguments stand after most fields.
  const parameters = args.map((argument) => `${argument.name}: ${argument.type}`).join(', ');
  return sdlLine(`${name}(${parameters})`, type, note, deprecated);
}

/** Prints a field without arguments. */
export function sdlLine(
  name: string,
  type: string,
  note: string | null = null,
  deprecated: string | null = null,
): PrintedField {
  const line = `  ${name}: ${type}`;
  return `${described(note, '  ')}${line}${deprecated === null ? '' : deprecation(line, deprecated)}\n`;
}

/** After a field, or below it where the line is full. */
function deprecation(lines: string, deprecated: string): string {
  if (deprecated === '') return ' @deprecated';
  const reason = `reason: ${sdlString(deprecated)}`;
  const last = lines.slice(lines.lastIndexOf('\n') + 1);
  if (widthOf(`${last} @deprecated(${reason})`) <= lineWidth) return ` @deprecated(${reason})`;
  const below = `    @deprecated(${reason})`;
  return widthOf(below) <= lineWidth ? `\n${below}` : `\n    @deprecated(\n      ${reason}\n    )`;
}

function described(note: string | null, indent: string): string {
  return note === null || note === '' ? '' : `${indent}${sdlString(note)}\n`;
}

/** By its UTF-16 units, which every version of GraphQL reads. */
function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
}
