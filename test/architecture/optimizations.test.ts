/** Optimisations stand beside the engine, a folder each, and the engine asks for none. */
import { expect, test } from 'vitest';
import { optimizations } from '../../packages/runtime/src/environment/optimizations.ts';
import { listFiles, readText } from './files.ts';

const folder = 'packages/runtime/src/optimize';

test('each optimisation has a folder that tells when it applies, what it saves, and its switch', () => {
  const pages = listFiles(`${folder}/*/README.md`);
  expect(pages).toEqual([...optimizations].sort().map((name) => `${folder}/${name}/README.md`));
  for (const page of pages) {
    const text = readText(page);
    for (const part of ['When it applies', 'Figure', 'Switch', 'Tests']) expect(text).toContain(`**${part}.**`);
  }
});

test('nothing but `optimize/` and the start of servers asks which are on', () => {
  const asks = /\boptimizations\b|\bOptimizations\b|optimize\//;
  const paths = listFiles('packages/runtime/src/**/*.ts').filter((path) => !path.endsWith('.test.ts'));
  const asking = paths.filter((path) => !path.startsWith(folder) && asks.test(readText(path)));
  expect(asking).toEqual([
    'packages/runtime/src/environment.ts',
    'packages/runtime/src/environment/optimizations.ts',
    'packages/runtime/src/serve/parts.ts',
    'packages/runtime/src/serve/prepare-database.ts',
  ]);
});
