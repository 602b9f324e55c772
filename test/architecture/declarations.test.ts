import { describe, expect, test } from 'vitest';
import { declarationViolations } from './declarations.ts';
import { listFiles, readText } from './files.ts';

test('generated files hold declarations and one-line calls, never control flow', () => {
  const files = listFiles('test/golden/*/expected/**/*.ts');
  expect(files).not.toEqual([]);
  expect(files.flatMap((path) => declarationViolations(path, readText(path)))).toEqual([]);
});

describe('the law itself', () => {
  const check = (text: string): number => declarationViolations('file.ts', text).length;

  test.each([
    'export interface Item { readonly id: string; title?: string | null }',
    'export const a = { list: (caller: Caller, query: Query) => service.list(caller, query) } as const',
    'export default serve({ port: 1 }) satisfies Server',
    'type Maybe<T> = T extends string ? 1 : 2',
    'declare function f(a: number): void',
    '/** if (x) { for … } */ export const text = "any ?? as"',
  ])('allows %s', (text) => expect(check(text)).toBe(0));

  test.each([
    'if (a) b()',
    'for (const a of b) c()',
    'while (a) b()',
    'switch (a) {}',
    'try { a() } finally { b() }',
    'const a = b ? c : d',
    'const a = b && c',
    'const a = b || c',
    'const a = b ?? c',
    'const a = b?.c',
    'const a = () => { b() }',
    'function a() { return 1 }',
    'const a = { b() { return 1 } }',
    'let a: any',
    'const a = b as string',
    'const a = <string>b',
    'const a = b!',
    '// @ts-ignore\nconst a = 1',
  ])('refuses %s', (text) => expect(check(text)).toBe(1));
});
