import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { undocumentedExports } from './docstrings.ts';
import { exampleErrors, examplesOf, programOf } from './examples.ts';
import { listFiles, readText, root } from './files.ts';

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
}

function publicEntries(): string[] {
  return listFiles('packages/*/package.json').flatMap((path) => {
    const manifest: Manifest = JSON.parse(readText(path));
    return Object.values(manifest.exports).map((entry) => join(root, path, '..', entry));
  });
}

let made: ReturnType<typeof programOf> | undefined;

/** One program for all laws: most of their time is reading the packages. */
function publicProgram(): ReturnType<typeof programOf> {
  made ??= programOf([...publicEntries(), ...forUsers]);
  return made;
}

test('every public export has a docstring', { timeout: 600_000 }, () => {
  expect(undocumentedExports(publicEntries(), publicProgram())).toEqual([]);
});

test('the law itself finds what has none, also through re-exports', () => {
  mkdirSync(join(root, '.tmp'), { recursive: true });
  const directory = mkdtempSync(join(root, '.tmp', 'docstrings-'));
  const entry = join(directory, 'index.ts');
  writeFileSync(entry, `export * from './inner.ts';\n/** Documented. */\nexport type A = 1;\nexport const bare = 1;\n`);
  writeFileSync(join(directory, 'inner.ts'), `/** Documented. */\nexport const fine = 1;\nexport interface Bare {}\n`);
  const names = undocumentedExports([entry]).map((line) => line.split(' ').at(-1));
  rmSync(directory, { recursive: true });
  expect(names.sort()).toEqual(['Bare', 'bare']);
});

/** Lines of docstrings that no declaration follows, behind the first code of a file. */
function looseDocstrings(text: string): readonly number[] {
  return [...text.matchAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\/\n\n/g)].flatMap(({ index }) => {
    const before = text.slice(0, index);
    return before.trim() === '' || before.startsWith('#!') ? [] : [before.split('\n').length];
  });
}

test('every docstring stands on a declaration, or at the top of its file', () => {
  const loose = listFiles('packages/*/src/**/*.ts').flatMap((path) =>
    looseDocstrings(readText(path)).map((line) => `${path}:${line}`),
  );
  expect(loose).toEqual([]);
  expect(looseDocstrings('/** File. */\n\nconst a = 1;\n\n/** Loose. */\n\nconst b = 2;\n')).toEqual([5]);
});

/** Entry files that users import, or whose declarations their editors show. */
const forUsers = [
  'client/src/index.ts',
  'client/src/typed/index.ts',
  'runtime/src/index.ts',
  'runtime/src/explain.ts',
  'cli/src/index.ts',
  'cli/src/config.ts',
  'introspect/src/config/index.ts',
  'create/src/index.ts',
].map((path) => join(root, 'packages', path));

test('every function, class and method for users has an example, which type-checks', { timeout: 600_000 }, () => {
  const program = publicProgram();
  const examples = examplesOf(forUsers, program);
  expect(examples.filter(({ text }) => text === '').map(({ place }) => place)).toEqual([]);
  const wrong = { place: 'wrong', text: 'await client.items(1).readAll();', entry: '', names: [] };
  expect(exampleErrors([...examples, wrong], program)).toEqual([expect.stringMatching(/^wrong: Argument of type/)]);
});
