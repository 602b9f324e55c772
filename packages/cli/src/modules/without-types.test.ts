import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { withoutTypes } from './without-types.ts';

const goldens = join(import.meta.dirname, '../../../../test/golden');

/** Compiled files that a server loads, by path, of the projects of the golden tests. */
const files = new Map(
  readdirSync(goldens, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\/expected\/(server|fingerprint|(routes|access)\/[^/]+)\.ts$/.test(path))
    .map((path) => [path, readFileSync(join(goldens, path), 'utf8')]),
);

test('what remains is what a compiler of TypeScript leaves', () => {
  expect(files.size).toBeGreaterThan(30);
  for (const [path, text] of files) {
    const rest = withoutTypes(text);
    expect(rest, path).not.toBeNull();
    expect(compiled(rest ?? ''), path).toBe(compiled(text));
    expect(diagnosticsOf(rest ?? ''), path).toEqual([]);
  }
});

test('every line and column stays where it is', () => {
  for (const [path, text] of files) {
    const rest = withoutTypes(text) ?? '';
    expect(rest.length, path).toBe(text.length);
    const moved = [...rest].findIndex((character, at) => character !== text[at] && character !== ' ');
    expect(moved, path).toBe(-1);
  }
});

test('what the compiler does not print is left to Node', () => {
  const known = "// Facts.\n\nexport const a: Facts = {\n  type: 'text',\n};\n";
  expect(withoutTypes(known)).toBe("// Facts.\n\nexport const a        = {\n  type: 'text',\n};\n");
  for (const more of ['interface A {}\n', 'type A = 1;\n', 'export function a() {}\n', '} satisfies A;\n']) {
    expect(withoutTypes(known + more), more).toBeNull();
  }
  expect(withoutTypes(known.slice(known.indexOf('export')))).toBeNull();
});

const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true };

/** Comments are left out, because the compiler drops those of what it drops. */
function compiled(text: string): string {
  return ts.transpileModule(text, { compilerOptions: { ...options, removeComments: true } }).outputText;
}

/** Syntax errors of a text that is read as JavaScript. */
function diagnosticsOf(text: string): readonly string[] {
  const { diagnostics = [] } = ts.transpileModule(text, {
    fileName: 'a.js',
    reportDiagnostics: true,
    compilerOptions: { ...options, allowJs: true },
  });
  return diagnostics.map(({ messageText }) => String(messageText));
}
