/**
 * Types of generated code → structures of ts-morph, printed once per file.
 *
 * ts-morph writes keywords, braces, comments and indentation. It knows no line width, so the layout of a type that does
 * not fit its line comes from `type.ts`; it writes what it is given as it is, so names and comments come from `text.ts`.
 */
import { createRequire } from 'node:module';
import type * as TsMorph from 'ts-morph';
import { docText, type Member, type TypeDeclaration } from './declaration.ts';
import { propertyKey } from './text.ts';
import { flat, printTyped, type Type } from './type.ts';

/** Prints the types of one file, with an empty line between them and a line end after the last. */
export type PrintTypes = (types: readonly TypeDeclaration[]) => string;

/**
 * Makes the printer that all files of a compilation share: one ts-morph project, in memory, without libraries, that
 * forgets each file once its text is taken.
 */
export function typePrinter(): PrintTypes {
  const { IndentationText, Project, StructureKind } = loadTsMorph();
  const project = new Project({
    useInMemoryFileSystem: true,
    skipLoadingLibFiles: true,
    manipulationSettings: { indentationText: IndentationText.TwoSpaces },
  });
  return (types) => {
    const statements = types.map((type) => structureOf(type, StructureKind));
    const file = project.createSourceFile('types.ts', { statements });
    const text = file.getFullText();
    file.forget();
    return text;
  };
}

/** Here and not at the top, so that a process that compiles nothing does not wait for it. `require` says `any`. */
function loadTsMorph(): typeof TsMorph {
  return createRequire(import.meta.url)('ts-morph');
}

/** An interface without properties would accept everything: it becomes an object that has none. */
function structureOf(declaration: TypeDeclaration, kinds: typeof TsMorph.StructureKind): TsMorph.StatementStructures {
  const { name } = declaration;
  const docs = docsOf(declaration.notes, 0);
  if (declaration.kind === 'alias') {
    const typed = typedName(name, `export type ${name}`, ' =', declaration.type, 0);
    return { type: '', ...typed, kind: kinds.TypeAlias, isExported: true, docs, leadingTrivia: emptyLine };
  }
  if (declaration.members.length === 0) {
    const type = 'Record<string, never>';
    return { name, type, kind: kinds.TypeAlias, isExported: true, docs, leadingTrivia: emptyLine };
  }
  return { name, kind: kinds.Interface, isExported: true, docs, properties: declaration.members.map(propertyOf) };
}

function propertyOf({ name, optional, notes, type }: Member): TsMorph.OptionalKind<TsMorph.PropertySignatureStructure> {
  const key = `${propertyKey(name)}${optional ? '?' : ''}`;
  return { ...typedName(key, `  ${key}`, ':', type, 2), docs: docsOf(notes, 2) };
}

/**
 * A name and its type. ts-morph hangs every line of a type below its first, closing brackets too, which no formatter
 * does; but it leaves a name alone: a type of several lines goes with its name.
 */
function typedName(
  name: string,
  before: string,
  separator: string,
  type: Type,
  indent: number,
): { readonly name: string; readonly type?: string } {
  const text = printTyped(before, separator, type, indent);
  if (!text.includes('\n')) return { name, type: flat(type) };
  return { name: `${name}${text.replaceAll(`\n${' '.repeat(indent)}`, '\n')}` };
}

function docsOf(notes: TypeDeclaration['notes'], indent: number): string[] {
  const text = docText(notes, indent);
  return text === null ? [] : [text];
}

/** ts-morph puts an empty line before every interface, and none between aliases. */
function emptyLine(writer: TsMorph.CodeBlockWriter): void {
  if (writer.getLength() > 0) writer.blankLineIfLastNot();
}
