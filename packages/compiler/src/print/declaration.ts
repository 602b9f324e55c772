/** Declarations of generated files as data, and their one printer. */
import { commentLines, lineWidth, propertyKey, widthOf } from './text.ts';
import { printTyped, type Type } from './type.ts';
import { printOpen, type Value } from './value.ts';

/** An exported declaration. `notes` are paragraphs of its comment, written by anyone. */
export type Declaration =
  | { readonly kind: 'alias'; readonly name: string; readonly notes: Notes; readonly type: Type }
  | { readonly kind: 'interface'; readonly name: string; readonly notes: Notes; readonly members: readonly Member[] }
  | {
      readonly kind: 'constant';
      readonly name: string;
      readonly notes: Notes;
      readonly type: Type;
      readonly value: Value;
    };

/** A property of an interface. */
export interface Member {
  readonly name: string;
  readonly optional: boolean;
  readonly notes: Notes;
  readonly type: Type;
}

/** Paragraphs of a comment; null ones are left out. */
export type Notes = readonly (string | null)[];

/** Prints declarations with an empty line between them. */
export function printDeclarations(declarations: readonly Declaration[]): string {
  return declarations.map(printDeclaration).join('\n');
}

function printDeclaration(declaration: Declaration): string {
  const comment = printComment(declaration.notes, 0);
  switch (declaration.kind) {
    case 'alias': {
      const start = `export type ${declaration.name}`;
      return `${comment}${start}${printTyped(start, ' =', declaration.type, 0)};\n`;
    }
    case 'interface':
      return `${comment}${printInterface(declaration.name, declaration.members)}`;
    case 'constant': {
      const start = `export const ${declaration.name}`;
      return `${comment}${start}${printTyped(start, ':', declaration.type, 0)} = ${printOpen(declaration.value, 0)};\n`;
    }
  }
}

/** An interface without properties would accept everything: it becomes an object that has none. */
function printInterface(name: string, members: readonly Member[]): string {
  if (members.length === 0) return `export type ${name} = Record<string, never>;\n`;
  return `export interface ${name} {\n${members.map(printMember).join('')}}\n`;
}

function printMember({ name, optional, notes, type }: Member): string {
  const start = `  ${propertyKey(name)}${optional ? '?' : ''}`;
  return `${printComment(notes, 2)}${start}${printTyped(start, ':', type, 2)};\n`;
}

/** A comment on one line where it fits, else one line per line; nothing when nobody wrote anything. */
export function printComment(notes: Notes, indent: number): string {
  const paragraphs = notes.flatMap((note) => (note === null || note.trim() === '' ? [] : [commentLines(note)]));
  const lines = paragraphs.flatMap((paragraph, index) => (index === 0 ? paragraph : ['', ...paragraph]));
  const [only] = lines;
  if (only === undefined) return '';
  const space = ' '.repeat(indent);
  if (lines.length === 1 && widthOf(only) + indent + 7 <= lineWidth) return `${space}/** ${only} */\n`;
  return `${space}/**\n${lines.map((line) => `${space} *${line === '' ? '' : ` ${line}`}\n`).join('')}${space} */\n`;
}
