import ts from 'typescript';
import { expect, test } from 'vitest';
import { listFiles, nodesOf, parseSource, readText } from './files.ts';

/** Files that make code out of text, as far as syntax can tell. */
function makersOfCode(path: string, text: string): string[] {
  const makes = nodesOf(parseSource(path, text)).some(
    (node) => ts.isIdentifier(node) && ['Function', 'eval'].includes(node.text) && !ts.isTypeReferenceNode(node.parent),
  );
  return makes ? [path] : [];
}

test('code is made of text in one place only (`docs/decisions/speed-of-reads.md`)', () => {
  const files = listFiles('packages/*/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  const makers = files.flatMap((path) => makersOfCode(path, readText(path)));
  expect(makers).toEqual(['packages/runtime/src/optimize/generated-code/generate.ts']);
});

test('the law itself sees every way', () => {
  for (const text of ['new Function("return 1")', 'Function("")', 'eval("1")', 'globalThis.eval("1")']) {
    expect(makersOfCode('file.ts', text)).toEqual(['file.ts']);
  }
  expect(makersOfCode('file.ts', 'const functions = 1; evaluate()')).toEqual([]);
});
