/**
 * Types of generated code → structures of ts-morph, printed once per file.
 *
 * ts-morph writes keywords, braces, comments and indentation. It knows no line width, so the layout of a type that does
 * not fit its line comes from `type.ts`; it writes what it is given as it is, so names and comments come from `text.ts`.
 */
import type * as TsMorph from 'ts-morph';
import { docText, type Member, type Notes, type TypeDeclaration } from './declaration.ts';
import { loadTsMorph } from './load-ts-morph.ts';
import { propertyKey } from './text.ts';
import { printTyped } from './type.ts';

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

/** An interface without properties would accept everything: it becomes an object that has none. */
function structureOf(declaration: TypeDeclaration, kinds: typeof TsMorph.StructureKind): TsMorph.StatementStructures {
  const { name, notes } = declaration;
  const shared = { isExported: true, docs: docsOf(notes, 0) };
  if (declaration.kind === 'alias') return { ...aliasOf(declaration), ...shared, kind: kinds.TypeAlias };
  const { members } = declaration;
  if (members.length === 0) return structureOf({ kind: 'alias', name, notes, type: 'Record<string, never>' }, kinds);
  return { name, properties: members.map(propertyOf), ...shared, kind: kinds.Interface };
}

/**
 * ts-morph hangs every line of a type below its first, closing brackets too, which no formatter does; but it leaves a
 * name alone: a type of several lines goes with its name, here and in `propertyOf`.
 */
function aliasOf({
  name,
  type,
}: Alias): Pick<TsMorph.TypeAliasDeclarationStructure, 'name' | 'type' | 'leadingTrivia'> {
  const text = printTyped(`export type ${name}`, ' =', type, 0);
  const typed = isLong(text) ? { name: `${name}${text}`, type: '' } : { name, type: text.slice(' = '.length) };
  return { ...typed, leadingTrivia: emptyLine };
}

function propertyOf({ name, optional, notes, type }: Member): TsMorph.OptionalKind<TsMorph.PropertySignatureStructure> {
  const key = propertyKey(name);
  const start = `  ${key}${optional ? '?' : ''}`;
  const text = printTyped(start, ':', type, 2);
  const docs = docsOf(notes, 2);
  if (isLong(text)) return { name: `${start}${text}`.replaceAll(/^ {2}/gm, ''), docs };
  return { name: key, hasQuestionToken: optional, type: text.slice(': '.length), docs };
}

function isLong(text: string): boolean {
  return text.includes('\n');
}

function docsOf(notes: Notes, indent: number): string[] {
  const text = docText(notes, indent);
  return text === null ? [] : [text];
}

/** ts-morph puts an empty line before every interface, and none between aliases. */
function emptyLine(writer: TsMorph.CodeBlockWriter): void {
  if (writer.getLength() > 0) writer.blankLineIfLastNot();
}

type Alias = Extract<TypeDeclaration, { readonly kind: 'alias' }>;
