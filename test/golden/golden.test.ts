/**
 * One folder per case: a schema, perhaps extensions, and the files it compiles to, in `expected` as if a project had its
 * output there. `npm run golden` writes them anew; the diff is the review. OpenAPI documents have tests of their own and are left out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CompileOptions, compile } from '@tablewright/compiler';
import { describe, expect, test } from 'vitest';
import { declarationViolations } from '../architecture/declarations.ts';

const templates = new Map(
  filesBelow(join(import.meta.dirname, '../../templates')).flatMap(([path, read]) =>
    path.includes('/') ? [] : [[path, read()] as const],
  ),
);
const cases = readdirSync(import.meta.dirname, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && existsSync(join(import.meta.dirname, entry.name, 'schema.json')) ? [entry.name] : [],
);

describe.each(cases)('golden %s', (name) => {
  const folder = join(import.meta.dirname, name);
  const { files, diagnostics } = compile(JSON.parse(readFileSync(join(folder, 'schema.json'), 'utf8')), {
    templates,
    ...codeIn(folder),
    output: 'expected',
  });
  const reviewed = files.filter(({ path }) => !path.startsWith('openapi/'));

  test('compiles without a complaint', () => {
    expect(diagnostics).toEqual([]);
  });

  test.each(reviewed)('$path is what was reviewed', async ({ path, contents }) => {
    await expect(contents).toMatchFileSnapshot(join(folder, 'expected', path));
  });

  test('has no file left that is not made any more', () => {
    const paths = new Set(reviewed.map(({ path }) => path));
    const left = filesBelow(join(folder, 'expected')).filter(([path]) => !paths.has(path));
    expect(left.map(([path]) => path)).toEqual([]);
  });

  test('holds declarations and one-line calls only', () => {
    const sources = files.filter(({ path }) => /\.[jt]s$/.test(path));
    expect(sources.flatMap(({ path, contents }) => declarationViolations(path, contents))).toEqual([]);
  });
});

/** Extensions, and what they import. */
function codeIn(folder: string): Pick<CompileOptions, 'extensions' | 'modules'> {
  const path = join(folder, 'extensions');
  const files = existsSync(path) ? filesBelow(path) : [];
  const sources = files.map(([name, read]) => ({
    path: `extensions/${name}`,
    text: read(),
    from: `../extensions/${name}`,
  }));
  return {
    extensions: sources.filter((source) => !source.path.includes('/lib/')),
    modules: sources.filter((source) => source.path.includes('/lib/')),
  };
}

function filesBelow(folder: string): readonly (readonly [path: string, read: () => string])[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map(({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path.slice(folder.length + 1).replaceAll('\\', '/'), () => readFileSync(path, 'utf8')];
  });
}
