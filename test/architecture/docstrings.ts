/** The law of docstrings: whatever a package's public entries export says what it is. */
import { relative } from 'node:path';
import ts from 'typescript';
import { programOf } from './examples.ts';
import { root } from './files.ts';

/** Exports of the entry files (absolute paths) without a docstring, each as `path:line name`. */
export function undocumentedExports(entries: readonly string[], program = programOf(entries)): string[] {
  const checker = program.getTypeChecker();
  const found = entries.flatMap((entry) => {
    const source = program.getSourceFile(entry);
    const module = source && checker.getSymbolAtLocation(source);
    if (!module) return [`${relative(root, entry)}:1 is missing or exports nothing`];
    return checker.getExportsOfModule(module).flatMap((symbol) => undocumented(checker, symbol));
  });
  return [...new Set(found)].sort();
}

function undocumented(checker: ts.TypeChecker, symbol: ts.Symbol): string[] {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  if (target.getDocumentationComment(checker).length > 0) return [];
  const declaration = target.declarations?.[0];
  if (!declaration) return [`${symbol.name} leads nowhere`];
  const source = declaration.getSourceFile();
  // What other people's packages document is theirs.
  if (source.fileName.includes('/node_modules/')) return [];
  const line = source.getLineAndCharacterOfPosition(declaration.getStart()).line + 1;
  return [`${relative(root, source.fileName)}:${line} ${symbol.name}`];
}
