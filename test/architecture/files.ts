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

/** Trees by path: several laws read the same files, and parsing takes most of their time. */
const parsed = new Map<string, ts.SourceFile>();

/** The syntax tree of TypeScript text. */
export function parseSource(path: string, text: string): ts.SourceFile {
  const earlier = parsed.get(path);
  if (earlier?.text === text) return earlier;
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  parsed.set(path, tree);
  return tree;
}

/** Every node of a tree, parents first: those of its documentation, too, and of tokens those that have a meaning. */
export function nodesOf(tree: ts.Node): readonly ts.Node[] {
  const earlier = walked.get(tree);
  if (earlier !== undefined) return earlier;
  const found: ts.Node[] = [];
  const visit = (node: ts.Node & { readonly jsDoc?: readonly ts.Node[] }): void => {
    found.push(node);
    node.jsDoc?.forEach(visit);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  walked.set(tree, found);
  return found;
}

const walked = new WeakMap<ts.Node, readonly ts.Node[]>();

/** `path:line`, as editors and terminals link it. */
export function placeOf(node: ts.Node): string {
  const source = node.getSourceFile();
  return `${source.fileName}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
