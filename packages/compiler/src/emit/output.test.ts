import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Schema } from '@tablewright/introspect/schema';
import * as language from '@tablewright/runtime/language';
import { describe, expect, test } from 'vitest';
import type { Api } from '../api.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { blogSchema } from '../testing/blog.ts';
import { compileFixture } from '../testing/compile-fixture.ts';
import { hostileSchema } from '../testing/hostile.ts';
import { constantOf, literalsOf, membersOf, parseOutput, typeErrors } from '../testing/parse-output.ts';

const repository = join(import.meta.dirname, '../../../..');

/** Stands for the runtime's entry: generated files are checked against it without checking the runtime. */
const runtime = `
  export * from '${repository}/packages/runtime/src/language/index.ts';
  import type { CompiledApi } from '${repository}/packages/runtime/src/language/index.ts';
  export type * from '${repository}/packages/runtime/src/extensions/types.ts';
  import type { ExtensionTools } from '${repository}/packages/runtime/src/extensions/types.ts';
  import type { Extension } from '${repository}/packages/runtime/src/language/index.ts';
  export declare function extension<C>(register: (tools: ExtensionTools<C>) => void): Extension;
  export declare function compiledApi(api: CompiledApi): CompiledApi;
  export declare function graphqlDocuments(file: URL): NonNullable<CompiledApi['graphqlDocuments']>;
  export declare function graphqlFiles(folder: URL): NonNullable<CompiledApi['graphql']>;
  export declare function openapiFiles(folder: URL): CompiledApi['openapi'];
  export declare function modelFiles(folder: URL): CompiledApi['model'];
  export declare function serveProcess(api: CompiledApi): Promise<unknown>;
`;

/** What the calls of generated files do. */
const builders = new Map<string, unknown>(Object.entries(language));

const cases: readonly (readonly [string, Schema])[] = [
  ['blog', blogSchema()],
  ['hostile', { ...hostileSchema(), graphql: false }],
  ['nothing', { ...blogSchema(), collections: [], permissions: [], roles: [] }],
];

describe.each(cases)('the output for %s', (_, schema) => {
  const api: Api = resolveApi(schema);
  const result = compileFixture(schema);
  const files = new Map(result.files.map(({ path, contents }) => [path, contents]));
  const parsed = new Map<string, ReturnType<typeof parseOutput>>();
  const parse = (path: string) => language.findOrCreate(parsed, path, () => parseOutput(path, files.get(path) ?? ''));

  test('states every collection exactly', () => {
    for (const { names, descriptor } of api.collections) {
      expect(constantOf(parse(`routes/${names.file}.js`), names.constant, builders)).toStrictEqual(descriptor);
    }
  });

  test('states every route', () => {
    for (const { names, descriptor, operations } of api.collections) {
      if (operations.length === 0) continue;
      const stated = constantOf(parse(`routes/${names.file}.js`), names.routes, builders);
      const routes = operations.map(({ kind, method, path }) => {
        const operation = kind.replace(/Many$|Singleton$/, '');
        return { method, operation, byKey: path.endsWith('/:key'), collection: descriptor };
      });
      expect(stated).toEqual(routes);
    }
  });

  test('states every access class exactly', () => {
    const descriptors = api.collections.map(({ names, descriptor }) => [names.constant, descriptor] as const);
    const scope = new Map<string, unknown>([...builders, ...descriptors]);
    for (const { access, constant } of api.access) {
      expect(constantOf(parse(`access/${access.name}.js`), constant, scope)).toEqual(access);
    }
  });

  test('states the fingerprint exactly', () => {
    expect(constantOf(parse('fingerprint.js'), 'fingerprint')).toStrictEqual(api.fingerprint);
  });

  test('types every field and relation by its own name', () => {
    for (const { names, descriptor } of api.collections) {
      const expected = [...descriptor.fields, ...descriptor.relations].map(({ name }) => name);
      expect(membersOf(parse(`collections/${names.file}.d.ts`), names.item)).toEqual([...new Set(expected)]);
    }
  });

  test('lists the values of every field as they are', () => {
    for (const { names, fields } of api.collections) {
      for (const { values, valuesType, enumType } of fields) {
        if (values && valuesType) {
          expect(literalsOf(parse(enumType ? 'enums.d.ts' : `collections/${names.file}.d.ts`), valuesType)).toEqual(
            values,
          );
        }
      }
    }
  });

  test('has no two names that are one', () => {
    const unique = (values: readonly string[]): void => expect(new Set(values).size).toBe(values.length);
    unique(result.files.map(({ path }) => path.toLowerCase()));
    unique([
      ...api.collections.flatMap(({ names }) => [names.constant, names.routes]),
      ...api.access.map((a) => a.constant),
    ]);
    unique(api.collections.map(({ names }) => names.item));
  });

  test('parses as JSON where it is JSON', () => {
    for (const [path, text] of files) if (path.endsWith('.json')) expect(() => JSON.parse(text)).not.toThrow();
  });

  test('passes strict type checks', { timeout: 60_000 }, () => {
    const sources = [...files].filter(([path]) => /\.[jt]s$/.test(path) && !path.startsWith('client/'));
    expect(typeErrors(new Map(sources), runtime)).toEqual([]);
  });

  test('passes lint and format untouched', { timeout: 60_000 }, () => {
    // Documents have a layout of their own (`docs/decisions/documents-and-clients.md`).
    expect(lint(new Map([...files].filter(([path]) => !/^(?:graphql|openapi|model)\//.test(path))))).toBe('');
  });

  test('is the same however often it is made', () => {
    expect(compileFixture(structuredClone(schema))).toEqual(result);
  });
});

/** What Biome says about files under the configuration of this repository; empty when it is content. */
function lint(files: ReadonlyMap<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'platform-lint-'));
  try {
    const { vcs: _, ...rules } = JSON.parse(readFileSync(join(repository, 'biome.json'), 'utf8'));
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, 'generated', path)), { recursive: true });
      writeFileSync(join(folder, 'generated', path), text);
    }
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ ...rules, files: { maxSize: 20_000_000 } }));
    const biome = join(repository, 'node_modules/@biomejs/biome/bin/biome');
    execFileSync(process.execPath, [biome, 'check', '--error-on-warnings', 'generated'], {
      cwd: folder,
      stdio: 'pipe',
    });
    return '';
  } catch (error) {
    return error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
