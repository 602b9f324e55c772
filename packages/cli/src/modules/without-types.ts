/**
 * Code of a generated file for the engine: its text with spaces in place of the types. So every line and column stays
 * where it is. Generated files with facts have types in three places only: declarations that import types, types among
 * other imports, and after the name of a constant. Null when the text has a line that the compiler does not print, as a
 * template of a project may.
 *
 * ```ts
 * withoutTypes("// Routes.\nexport const a: readonly Route[] = [\n];\n"); // "…\nexport const a                   = [\n];\n"
 * ```
 */
export function withoutTypes(text: string): string | null {
  if (!text.startsWith('//') || unknownLine.test(text)) return null;
  return text
    .replace(typeImport, blank)
    .replace(mixedImport, (declaration) => declaration.replace(importedType, blank))
    .replace(constant, (_, name: string, type: string) => `${name}${blank(type)} =`);
}

/** The begin of a line that is no part of a value, a comment, an import, a constant, nor the end of one. */
const unknownLine = /\n(?! {2}|\n|$|\/\/|\/\*\*| \*|import |\} from '|(?:export )?const |[\])}]+;\n)/;

const typeImport = /^import type [^;]*;/gm;
const mixedImport = /^import \{[^}]*\}/gm;
const importedType = /\btype \w+,?/g;
const constant = /^((?:export )?const \w+)(: (?:readonly )?\w+(?:\[\])?) =/gm;

function blank(part: string): string {
  return part.replace(/[^\n]/g, ' ');
}
