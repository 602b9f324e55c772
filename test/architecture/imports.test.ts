import { dirname } from 'node:path/posix';
import { describe, expect, test } from 'vitest';
import { listFiles, readText } from './files.ts';
import { importViolations, type Layer, packagesImported, valuesImported } from './imports.ts';

const language = '@tablewright/runtime/language';
const operations = '@tablewright/runtime/operations';
const introspect = entriesOf('introspect');
const all = [...entriesOf('runtime'), ...introspect, ...entriesOf('compiler')];

const packages: readonly { readonly name: string; readonly ours: readonly string[]; readonly browsers?: true }[] = [
  { name: 'runtime', ours: [] },
  { name: 'introspect', ours: [language] },
  { name: 'compiler', ours: [language, operations, ...introspect] },
  { name: 'create', ours: [] },
  { name: 'cli', ours: [...all, 'create-tablewright'] },
  { name: 'client', ours: [], browsers: true },
];

/** What the tests of a package, and what they share in `testing/`, may import besides. */
const testing = [
  'vitest',
  'fast-check',
  'graphql',
  '@graphql-codegen/core',
  '@graphql-codegen/typescript',
  '@graphql-codegen/typescript-operations',
  '@graphql-codegen/typed-document-node',
  '@electric-sql/pglite',
  'typescript',
  'node:',
  '@apidevtools/swagger-parser',
  '@seriousme/openapi-schema-validator',
  'ajv',
  'ajv-formats',
  'openapi-typescript',
];

interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** What others may import of a package. */
function entriesOf(name: string): readonly string[] {
  const manifest: Manifest = JSON.parse(readText(`packages/${name}/package.json`));
  return Object.keys(manifest.exports).map((entry) => entry.replace('.', manifest.name));
}

function layerOf(name: string, ours: readonly string[], browsers = false): Layer {
  const manifest: Manifest = JSON.parse(readText(`packages/${name}/package.json`));
  const others = [
    ...Object.keys(manifest.dependencies ?? {}),
    ...Object.keys(manifest.peerDependencies ?? {}),
    ...Object.keys(manifest.optionalDependencies ?? {}),
    // What runs in browsers too has only what they have.
    ...(browsers ? [] : ['node:']),
  ];
  return { folder: `packages/${name}/src`, ours, others };
}

function violationsIn(layer: Layer): string[] {
  return listFiles(`${layer.folder}/**/*.ts`).flatMap((path) => {
    const isTest = path.endsWith('.test.ts') || path.includes('/testing/');
    const others = isTest ? [...layer.others, ...testing] : layer.others;
    return importViolations({ ...layer, others }, path, readText(path));
  });
}

test.each(packages)('packages/$name imports only what lies below it', ({ name, ours, browsers }) => {
  expect(violationsIn(layerOf(name, ours, browsers))).toEqual([]);
});

test.each(packages)('packages/$name imports every dependency that its package.json names', ({ name }) => {
  const { dependencies = {} }: Manifest = JSON.parse(readText(`packages/${name}/package.json`));
  const sources = listFiles(`packages/${name}/src/**/*.ts`).filter((path) => !path.endsWith('.test.ts'));
  const imported = new Set(sources.flatMap((path) => packagesImported(path, readText(path))));
  expect(Object.keys(dependencies).filter((dependency) => !imported.has(dependency))).toEqual([]);
});

test('commands load the modules that serve only where they serve', () => {
  const paths = listFiles('packages/cli/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  const serving = paths.filter((path) => valuesImported(path, readText(path), '@tablewright/runtime').length > 0);
  expect(serving).toEqual(['packages/cli/src/commands/serve-api.ts', 'packages/cli/src/recompile/link-model.ts']);
});

test('no start loads the client of HTTP and WebSockets, which an import of node:http brings', () => {
  const paths = listFiles('packages/*/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  const importing = paths.filter((path) => valuesImported(path, readText(path), 'node:http').length > 0);
  // Where a file is fetched from elsewhere, and no sooner.
  expect(importing).toEqual(['packages/runtime/src/files/fetch-file.ts']);
});

test('the language imports nothing but itself', () => {
  expect(violationsIn({ folder: 'packages/runtime/src/language', ours: [], others: [] })).toEqual([]);
});

const generated = listFiles('test/golden/*/expected');

test('generated code imports the public entry of runtime, its own files and extensions', () => {
  expect(generated).not.toEqual([]);
  const files = generated.flatMap((folder) => {
    const layer: Layer = {
      folder,
      beside: `${dirname(folder)}/extensions`,
      ours: ['@tablewright/runtime'],
      others: [],
    };
    const scripts = [...listFiles(`${folder}/**/*.js`), ...listFiles(`${folder}/**/*.d.ts`)];
    const paths = scripts.filter((path) => !path.startsWith(`${folder}/client/`));
    return paths.flatMap((path) => importViolations(layer, path, readText(path)));
  });
  expect(files).toEqual([]);
});

/**
 * All that generated servers call, of which nothing acts without a caller: facts of collections and their routes, which are
 * given one with every request, parts of rules, and what holds it all together. Source: security, case B20.
 */
const callable = [
  ...['collection', 'field', 'm2o', 'o2m', 'm2m', 'm2a', 'pair', 'unique', 'foreignKey', 'check', 'itemRoutes'],
  ...['accessClass', 'grant', 'compare', 'related', 'and', 'or', 'caller', 'now', 'always', 'never', 'extension'],
  ...['compiledApi', 'graphqlFiles', 'modelFiles', 'openapiFiles', 'serveProcess'],
];

test('generated servers call nothing of runtime that acts without a caller', () => {
  const paths = generated.flatMap((folder) =>
    listFiles(`${folder}/**/*.js`).filter((path) => !path.startsWith(`${folder}/client/`)),
  );
  const called = new Set(paths.flatMap((path) => valuesImported(path, readText(path), '@tablewright/runtime')));
  expect([...called].filter((name) => !callable.includes(name))).toEqual([]);
  expect(called.size).toBeGreaterThan(10);
});

test('generated clients import the client library and their own files', () => {
  const clients = generated.flatMap((folder) => listFiles(`${folder}/client/*`));
  expect(clients).not.toEqual([]);
  const layers = clients.map(
    (folder): Layer => ({ folder, ours: ['@tablewright/client', '@tablewright/client/typed'], others: [] }),
  );
  expect(layers.flatMap(violationsIn)).toEqual([]);
});

describe('the law itself', () => {
  test('tells values from types', () => {
    const text = `import { type A, b, c as d } from 'x'; import type { E } from 'x'; import * as f from 'x'; import g from 'x';
      import { h } from 'y'; export { i } from 'x'; export type { J } from 'x'; import('x'); import 'x';`;
    expect(valuesImported('file.ts', text, 'x')).toEqual(['b', 'c', '*', 'default', 'i', '*', '*']);
  });

  const layer: Layer = { folder: 'packages/a/src', ours: [language], others: ['pg', '@scope/x', 'node:'] };
  const check = (text: string): number => importViolations(layer, 'packages/a/src/deep/file.ts', text).length;

  test.each([
    `import './sibling.ts'`,
    `import { a } from '../b.ts'`,
    `export * from '${language}'`,
    `import pg from 'pg'`,
    `import x from '@scope/x/sub'`,
    `import fs from 'node:fs'`,
  ])('allows %s', (text) => expect(check(text)).toBe(0));

  test.each([
    `import { a } from '../../../b/src/index.ts'`,
    `import type { a } from '../../b.ts'`,
    `export { a } from '@tablewright/runtime'`,
    `export * from '@tablewright/runtime/src/index.ts'`,
    `const a = await import('tablewright')`,
    `type A = import('@tablewright/compiler').A`,
    `const a = import.meta.resolve('left-pad')`,
    `import x from 'left-pad'`,
  ])('refuses %s', (text) => expect(check(text)).toBe(1));
});
