import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** The top of the repository. */
export const root = join(import.meta.dirname, '../..');

/** Paths relative to the root, with `/`, sorted; installed and built files are left out. */
export function listFiles(...patterns: string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules', '**/dist'] })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** The text of a file given relative to the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The syntax tree of TypeScript text. */
export function parseSource(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
}

/** Every node of a tree, parents first. */
export function* walk(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* walk(child);
}

/** `path:line`, as editors and terminals link it. */
export function placeOf(node: ts.Node): string {
  const source = node.getSourceFile();
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
