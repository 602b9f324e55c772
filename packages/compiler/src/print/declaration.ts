/** Declarations of generated files as data, and the layout of their comments and constants. */

import type { Value } from './expression.ts';
import { commentLines, fitsLine, widthOf } from './text.ts';
import { addNames, type Type } from './type.ts';
import { printValue } from './value.ts';

/** An exported type. `notes` are paragraphs of its comment, written by anyone. */
export type TypeDeclaration =
  | { readonly kind: 'alias'; readonly name: string; readonly notes: Notes; readonly type: Type }
  | {
      readonly kind: 'interface';
      readonly name: string;
      readonly notes: Notes;
      readonly members: readonly DeclaredMember[];
    };

/** A property of an interface, printed already: several interfaces may have it. */
export interface DeclaredMember {
  readonly name: string;
  readonly type: Type;
  /** With its comment and the line end. */
  readonly text: string;
}

/** An exported constant. */
export interface ConstantDeclaration {
  readonly name: string;
  readonly notes: Notes;
  readonly value: Value;
}

/** The names of other types that declarations mention. */
export function namesIn(declarations: readonly TypeDeclaration[]): Set<string> {
  const found = new Set<string>();
  for (const declaration of declarations) {
    if (declaration.kind === 'alias') addNames(declaration.type, found);
    else
      for (let index = 0; index < declaration.members.length; index += 1)
        addNames(declaration.members[index]?.type ?? '', found);
  }
  for (const { name } of declarations) found.delete(name);
  return found;
}

/** Paragraphs of a comment; null ones are left out. */
export type Notes = readonly (string | null)[];

/** Prints a constant of a script, on one line where it fits. */
export function printConstant({ name, notes, value }: ConstantDeclaration): string {
  const start = `export const ${name} = `;
  return `${printComment(notes, 0)}${start}${printValue(value, widthOf(start), 1, 0)};\n`;
}

/** A comment on one line where it fits, else one line per line; empty without a note. */
export function printComment(notes: Notes, indent: number): string {
  const text = docText(notes, indent);
  if (text === null) return '';
  const space = ' '.repeat(indent);
  if (!text.startsWith('\n')) return `${space}/** ${text} */\n`;
  const lines = text.split('\n').slice(1);
  return `${space}/**\n${lines.map((line) => `${space} *${line === '' ? '' : ` ${line}`}\n`).join('')}${space} */\n`;
}

/** The text inside a comment: one line if it fits, or lines that each begin with a line end; null without a note. */
export function docText(notes: Notes, indent: number): string | null {
  const lines: string[] = [];
  for (let index = 0; index < notes.length; index += 1) {
    const note = notes[index] ?? '';
    if (note.trim() === '') continue;
    if (lines.length > 0) lines.push('');
    lines.push(...commentLines(note));
  }
  const only = lines[0];
  if (only === undefined) return null;
  return lines.length === 1 && fitsLine(indent + 7, only) ? only : `\n${lines.join('\n')}`;
}
