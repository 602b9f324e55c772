/**
 * Types of generated code → text. A printer of our own, because syntax trees are too slow for thousands of types.
 * The layout is that of the formatter, as `type.ts` has it.
 */
import { printValue, type Value } from './expression.ts';
import { commentLines, commentText, fitsLine, propertyKey, widthOf } from './text.ts';
import { addNames, printTyped, type Type, union } from './type.ts';

/**
 * A member that has to be there.
 *
 * @param deprecated the reason why it should not be used any more; null for one that may be
 */
export function member(name: string, type: Type, notes: Notes = [], deprecated: string | null = null): DeclaredMember {
  return printMember(name, propertyKey(name), type, notes, deprecated);
}

/** Members that every object has: without them no object could be of an interface that redefines their names. */
const inherited: ReadonlySet<string> = new Set([
  ...['constructor', 'toString', 'toLocaleString', 'valueOf'],
  ...['hasOwnProperty', 'isPrototypeOf', 'propertyIsEnumerable'],
]);

/** A member that need not be there. */
export function optional(
  name: string,
  type: Type,
  notes: Notes = [],
  deprecated: string | null = null,
): DeclaredMember {
  const accepted = inherited.has(name) ? union(type, `object['${name}']`) : type;
  return printMember(name, `${propertyKey(name)}?`, accepted, notes, deprecated);
}

function printMember(name: string, start: string, type: Type, notes: Notes, deprecated: string | null): DeclaredMember {
  const typed = printTyped(start, ':', type, 2);
  return { name, type, text: `${commentOf(notes, deprecated)}  ${start}${typed};\n` };
}

export function declareInterface(name: string, note: string, members: readonly DeclaredMember[]): TypeDeclaration {
  return { kind: 'interface', name, notes: [note], members };
}

/**
 * Prints declarations with an empty line between them, and a line end after the last.
 *
 * @param empty what stands for an interface without members, which would accept everything
 */
export function printDeclarations(
  declarations: readonly TypeDeclaration[],
  empty: 'Record<never, never>' | 'Record<string, never>' = 'Record<never, never>',
): string {
  const parts: string[] = [];
  for (const declaration of declarations) {
    if (parts.length > 0) parts.push('\n');
    parts.push(printComment(declaration.notes, 0));
    addDeclaration(declaration, empty, parts);
  }
  return parts.join('');
}

function addDeclaration(declaration: TypeDeclaration, empty: string, parts: string[]): void {
  const { name } = declaration;
  const members = declaration.kind === 'interface' ? declaration.members : [];
  if (members.length === 0) {
    parts.push(aliasOf(name, declaration.kind === 'alias' ? declaration.type : empty));
    return;
  }
  parts.push(`export interface ${name} {\n`);
  for (let index = 0; index < members.length; index += 1) parts.push(members[index]?.text ?? '');
  parts.push('}\n');
}

function aliasOf(name: string, type: Type): string {
  const start = `export type ${name}`;
  return `${start}${printTyped(start, ' =', type, 0)};\n`;
}

function commentOf(notes: Notes, deprecated: string | null): string {
  if (deprecated === null) return printComment(notes, 2);
  const tag = `@deprecated ${commentText(deprecated)}`.trim();
  const above = printComment(notes, 2);
  if (above === '') return `  /** ${tag} */\n`;
  const lines = above.startsWith('  /** ')
    ? [above.slice(6, -4)]
    : above
        .split('\n')
        .slice(1, -2)
        .map((line) => line.slice(5));
  return `  /**\n${[...lines, '', tag].map((line) => `   *${line === '' ? '' : ` ${line}`}\n`).join('')}   */\n`;
}

export function notesOr(note: string | null, otherwise: string): Notes {
  return [note ?? otherwise];
}

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

interface ConstantDeclaration {
  readonly name: string;
  readonly notes: Notes;
  readonly value: Value;
}

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
type Notes = readonly (string | null)[];

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
function docText(notes: Notes, indent: number): string | null {
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
