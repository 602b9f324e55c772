/** Declarations of generated files as data, and the layout of their comments and constants. */
import { commentLines, lineWidth, widthOf } from './text.ts';
import { printTyped, type Type } from './type.ts';
import { printOpen, printValue, type Value } from './value.ts';

/** An exported type. `notes` are paragraphs of its comment, written by anyone. */
export type TypeDeclaration =
  | { readonly kind: 'alias'; readonly name: string; readonly notes: Notes; readonly type: Type }
  | { readonly kind: 'interface'; readonly name: string; readonly notes: Notes; readonly members: readonly Member[] };

/** A property of an interface. */
export interface Member {
  readonly name: string;
  readonly optional: boolean;
  readonly notes: Notes;
  readonly type: Type;
}

/** An exported constant. */
export interface ConstantDeclaration {
  readonly name: string;
  readonly notes: Notes;
  readonly type: Type;
  readonly value: Value;
}

/** Paragraphs of a comment; null ones are left out. */
export type Notes = readonly (string | null)[];

/** Prints a constant: an object with every property on a line of its own, anything else on one line where it fits. */
export function printConstant({ name, notes, type, value }: ConstantDeclaration): string {
  const declared = `export const ${name}`;
  const start = `${declared}${printTyped(declared, ':', type, 0)} = `;
  const text = value.kind === 'object' ? printOpen(value, 0) : printValue(value, widthOf(start), 1, 0);
  return `${printComment(notes, 0)}${start}${text};\n`;
}

/** A comment on one line where it fits, else one line per line; nothing when nobody wrote anything. */
export function printComment(notes: Notes, indent: number): string {
  const text = docText(notes, indent);
  if (text === null) return '';
  const space = ' '.repeat(indent);
  if (!text.startsWith('\n')) return `${space}/** ${text} */\n`;
  const lines = text.split('\n').slice(1);
  return `${space}/**\n${lines.map((line) => `${space} *${line === '' ? '' : ` ${line}`}\n`).join('')}${space} */\n`;
}

/**
 * What stands inside a comment: the text that fits one line, or lines that each begin with a line end; null when
 * nobody wrote anything.
 */
export function docText(notes: Notes, indent: number): string | null {
  const paragraphs = notes.flatMap((note) => (note === null || note.trim() === '' ? [] : [commentLines(note)]));
  const lines = paragraphs.flatMap((paragraph, index) => (index === 0 ? paragraph : ['', ...paragraph]));
  const [only] = lines;
  if (only === undefined) return null;
  return lines.length === 1 && widthOf(only) + indent + 7 <= lineWidth ? only : `\n${lines.join('\n')}`;
}
