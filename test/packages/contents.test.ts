/** The packages as a registry gets them: complete, with nothing in them that a stranger should not have. */
import { readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { beforeAll, describe, expect, test } from 'vitest';
import { manifestIn } from '../../scripts/dependencies.ts';
import { packageFolders, packPackages, root, type Tarball } from './tarballs.ts';

const folders = packageFolders();
let packages: readonly Tarball[] = [];
beforeAll(() => {
  packages = packPackages();
}, 180_000);

/** Files that any package may hold. */
const common = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
/** Files made from sources: code, declarations, and maps of the code. */
const compiled = String.raw`dist/[\w./-]+\.(?:js(?:\.map)?|d\.ts)`;
/** Other files, by package. A file that matches neither is not published. */
const others: Readonly<Record<string, string>> = {
  tablewright: String.raw`bin/platform\.cjs|docs/[\w./-]+\.md|docs/pipelines/[\w.-]+|templates/\w[\w./-]*`,
  'create-tablewright': String.raw`bin/create-tablewright\.cjs|templates/\w[\w./-]*`,
  '@tablewright/runtime': String.raw`browser/[\w-]+\.(?:js|css)|data/[\w.-]+|graphiql/[\w.-]+|templates/(?:mail|pages)/[\w.-]+`,
};

test('all packages have one version', () => {
  expect(packages.length).toBeGreaterThanOrEqual(5);
  expect(new Set(packages.map(({ manifest }) => manifest.version)).size).toBe(1);
});

describe.each(folders)('packages/%s', (name) => {
  const packedOne = (): Tarball => {
    const found = packages.find(({ folder }) => folder.endsWith(`/${name}/package`));
    if (found === undefined) throw new Error(`packages/${name} was not packed.`);
    return found;
  };

  test('passes publint', async () => {
    const { messages } = await publint({ pkgDir: packedOne().folder, pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  test('has right types, for modules', async () => {
    const { path, manifest } = packedOne();
    const result = await checkPackage(createPackageFromTarballData(readFileSync(path)));
    if (manifest.exports === undefined) return expect(result.types).toBe(false);
    const problems = 'problems' in result ? result.problems : ['it has no types'];
    // The profile `esm-only`: neither the resolution of Node 10 nor `require` counts.
    const ignored = ['node10', 'node16-cjs'];
    const counts = (problem: (typeof problems)[number]): boolean =>
      typeof problem === 'string' || !('resolutionKind' in problem) || !ignored.includes(problem.resolutionKind);
    expect(problems.filter(counts)).toEqual([]);
  });

  test('holds expected files only', () => {
    const { name: published, files } = packedOne();
    const allowed = new RegExp(`^(?:${[compiled, others[published]].filter(Boolean).join('|')})$`);
    const isTest = /\.test\.|\/testing\/|tsbuildinfo/;
    const unexpected = files.filter((file) => !common.includes(file) && (!allowed.test(file) || isTest.test(file)));
    expect(unexpected).toEqual([]);
    expect(common.filter((file) => !files.includes(file))).toEqual([]);
  });

  test('describes itself', () => {
    const { manifest } = packedOne();
    expect(manifest).toMatchObject({
      type: 'module',
      license: 'MIT',
      description: expect.stringMatching(/\w{3}/),
      keywords: expect.arrayContaining([expect.any(String)]),
      engines: { node: expect.stringMatching(/^>=\d+(\.\d+)*$/) },
      publishConfig: { access: 'public', provenance: true },
    });
    expect(Object.keys(manifest.scripts ?? {})).toEqual([]);
  });

  test('depends on exact versions', () => {
    const { dependencies = {}, optionalDependencies = {}, version } = packedOne().manifest;
    const all = Object.entries({ ...dependencies, ...optionalDependencies });
    expect(all.filter(([, range]) => !/^\d+\.\d+\.\d+$/.test(range))).toEqual([]);
    expect(all.filter(([dependency, range]) => /^@?tablewright/.test(dependency) && range !== version)).toEqual([]);
  });

  test('has maps that hold their sources', () => {
    const { folder, files } = packedOne();
    const scripts = files.filter((file) => /^dist\/.*\.js$/.test(file));
    expect(scripts.filter((file) => !files.includes(`${file}.map`))).toEqual([]);
    const lost = scripts.filter((file) => {
      const { sources, sourcesContent = [] }: { sources: string[]; sourcesContent?: string[] } = JSON.parse(
        readFileSync(join(folder, `${file}.map`), 'utf8'),
      );
      return sources.length !== 1 || sourcesContent.length !== 1;
    });
    expect(lost).toEqual([]);
  });

  test('names no place and no secret of this machine', () => {
    const { folder, files } = packedOne();
    const places = [root, `${homedir()}/`, hostname()]
      .filter((place) => place.length > 4)
      .map((place) => String.raw`(?<![\w.-])${place.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);
    const traces = new RegExp([...places, ...secrets].join('|'));
    const found = files.flatMap((file) => traces.exec(readFileSync(join(folder, file), 'latin1'))?.[0] ?? []);
    expect(found).toEqual([]);
  });

  test('has a README with commands to install it and a licence of ours', () => {
    const { folder, name: published, manifest } = packedOne();
    const readme = readFileSync(join(folder, 'README.md'), 'utf8');
    expect(readme.startsWith(`# ${published}\n`)).toBe(true);
    expect(readme).toMatch(/```sh\n(?:npm (?:install|create)|npx) /);
    if (['introspect', 'compiler'].includes(name)) expect(readme).toContain('no stable API');
    expect(readFileSync(join(folder, 'LICENSE'), 'utf8')).toBe(readFileSync(join(root, 'LICENSE'), 'utf8'));
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(`## ${manifest.version}`);
  });
});

/** Forms of keys: private ones, of the registry, of forges and of clouds. */
const secrets = [
  '-----BEGIN [A-Z ]*PRIVATE KEY-----\\n',
  '_authToken\\s*=',
  'npm_[A-Za-z0-9]{36}',
  'gh[pousr]_[A-Za-z0-9]{36}',
  'AKIA[A-Z0-9]{16}',
];

test('the embedded database comes with the command only', () => {
  const withPglite = packages.filter(
    ({ manifest }) => '@electric-sql/pglite' in { ...manifest.dependencies, ...manifest.optionalDependencies },
  );
  expect(withPglite.map(({ name }) => name)).toEqual(['tablewright']);
  expect(manifestIn(join(root, 'packages/client')).dependencies).toBeUndefined();
});
