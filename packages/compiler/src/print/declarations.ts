/**
 * Types of generated code → text, by a printer of our own: whoever prints thousands of types cannot wait for syntax trees.
 *
 * The layout is that of the formatter, as `type.ts` and `declaration.ts` have it.
 */
import { type Member, type Notes, printComment, type TypeDeclaration } from './declaration.ts';
import { commentText, propertyKey } from './text.ts';
import { printTyped, type Type } from './type.ts';

/** A member with the reason why it should not be used any more; null for one that may be. */
export interface MarkedMember extends Member {
  readonly deprecated?: string | null;
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
  return declarations.map((one) => printDeclaration(one, empty)).join('\n');
}

function printDeclaration(declaration: TypeDeclaration, empty: string): string {
  const { name, notes } = declaration;
  if (declaration.kind === 'alias') return `${printComment(notes, 0)}${aliasOf(name, declaration.type)}`;
  const { members } = declaration;
  if (members.length === 0) return `${printComment(notes, 0)}${aliasOf(name, empty)}`;
  return `${printComment(notes, 0)}export interface ${name} {\n${members.map(printMember).join('')}}\n`;
}

function aliasOf(name: string, type: Type): string {
  const start = `export type ${name}`;
  return `${start}${printTyped(start, ' =', type, 0)};\n`;
}

function printMember(member: MarkedMember): string {
  const start = `  ${propertyKey(member.name)}${member.optional ? '?' : ''}`;
  return `${commentOf(member)}${start}${printTyped(start, ':', member.type, 2)};\n`;
}

function commentOf({ notes, deprecated = null }: MarkedMember): string {
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

/** Notes of a declaration that nobody wrote anything about. */
export function notesOr(note: string | null, otherwise: string): Notes {
  return [note ?? otherwise];
}
