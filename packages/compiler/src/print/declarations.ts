/**
 * Types of generated code → text. A printer of our own, because syntax trees are too slow for thousands of types.
 * The layout is that of the formatter, as `type.ts` and `declaration.ts` have it.
 */
import { type DeclaredMember, type Notes, printComment, type TypeDeclaration } from './declaration.ts';
import { commentText, propertyKey } from './text.ts';
import { printTyped, type Type } from './type.ts';

/**
 * A member that has to be there.
 *
 * @param deprecated the reason why it should not be used any more; null for one that may be
 */
export function member(name: string, type: Type, notes: Notes = [], deprecated: string | null = null): DeclaredMember {
  return printMember(name, propertyKey(name), type, notes, deprecated);
}

/** A member that need not be there. */
export function optional(
  name: string,
  type: Type,
  notes: Notes = [],
  deprecated: string | null = null,
): DeclaredMember {
  return printMember(name, `${propertyKey(name)}?`, type, notes, deprecated);
}

function printMember(name: string, start: string, type: Type, notes: Notes, deprecated: string | null): DeclaredMember {
  const typed = printTyped(start, ':', type, 2);
  return { name, type, text: `${commentOf(notes, deprecated)}  ${start}${typed};\n` };
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

/** Notes of a declaration without a comment. */
export function notesOr(note: string | null, otherwise: string): Notes {
  return [note ?? otherwise];
}
