/** Sources of the packages as the laws read them: parsed once, without tests and what they share. */
import type ts from 'typescript';
import { listFiles, parseSource, readText } from '../files.ts';

/** One source file. */
export interface Source {
  /** Path relative to the top of the repository. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly tree: ts.SourceFile;
}

/** Every non-test TypeScript file of `packages/<name>/src`, sorted by path. */
export function readSources(): readonly Source[] {
  return listFiles('packages/*/src/**/*.ts')
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/testing/'))
    .map((path) => {
      const text = readText(path);
      return { path, text, lines: text.split('\n').length - 1, tree: parseSource(path, text) };
    });
}

/** Lines that a node spans. */
export function linesOf(node: ts.Node): number {
  const source = node.getSourceFile();
  const line = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  return line(node.getEnd()) - line(node.getStart()) + 1;
}
